// TreeText: the format of `dump`: a subtree as lines of text, or as lines of JSON.
//
// Text. The fields of a line are separated by tabs. In every field \n, \t, \\ and \xHH stand for
// bytes; all that a terminal would obey, or not show, is written so.
//
//     zksh-tree  1  /app                                        format, its version, the top
//     /          persistent  world:anyone:cdrwa  "text"         the top, then a line for each node
//     /a         container   digest:ann:HASH:r   null
//     /a/b       ttl=60000   world:anyone:r,ip:10.0.0.1:cdrwa   base64:AP8=
//     /c         persistent  world:anyone:cdrwa  ""             quota:count=10,byteHardLimit=500
//     # 2 ephemeral nodes were left out
//     end
//
// Paths are relative to the top. A node stands before its children, and siblings stand in the
// order of their bytes, each with its whole subtree, so that one tree has one text. The data are
// null, a text in quotes where they are UTF-8 (with \" for a quote), else base64. In an ACL the
// comma, and the colon in a scheme, are escaped in the same way. Empty lines and those that begin
// with # count for nothing. A text without its last line was cut off.
//
// JSON. {"format": "zksh-tree", "version": 1, "path": "/app"}, then for each node {"path": "/a",
// "kind": "persistent", "container" or "ttl", "ttl": milliseconds (of ttl alone), "acl":
// [{"scheme": …, "id": …, "perms": "cdrwa"}], "data": null, a text or {"base64": …}, "quota":
// {"count": 10} (where there is one)}, then {"end": true, "ephemeralsLeftOut": 2}.
#pragma once

#include "tree/tree_record.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

inline constexpr std::string_view tree_format = "zksh-tree";
inline constexpr int tree_version = 1;

enum class TreeFormat { Text, JsonLines };

/// Lines with their newlines. `top`: an absolute path.
std::string tree_header(TreeFormat format, const std::string& top);
std::string tree_line(TreeFormat format, const TreeRecord& record);
/// A comment on the ephemerals only where there were some: a tree without them, and the tree that
/// was made from another's text, have the same text.
std::string tree_end(TreeFormat format, std::size_t ephemerals);

/// An ACL as a field of a line, and for people: "world:anyone:cdrwa,digest:ann:HASH:r".
std::string acl_field(const Acl& acl);
/// Data as a field of a line.
std::string data_field(const Data& data);
/// A path or another text as a field of a line.
std::string escaped_field(std::string_view text);

/// Reads the records of a text, of either format, with memory for two lines. The text is not
/// trusted: each mistake is a ValueError "NAME:LINE: …", and a record is only given once the line
/// behind it has been seen, so that none that was cut off is.
class TreeReader {
 public:
  static constexpr std::size_t longest_line = 32U << 20U;
  /// Gives the next line without its newline; false at the end.
  using NextLine = std::function<bool(std::string&)>;

  /// Reads the header. `name` is for messages.
  TreeReader(NextLine next_line, std::string name);

  /// The path that was dumped; valid.
  const std::string& top() const { return top_; }
  /// In the order of stands_before, the top first; each one's parent has been given. nullopt at
  /// the end.
  std::optional<TreeRecord> next();
  /// The path of the record that `next` will give, or null.
  const std::string* peek() const { return ahead_ ? &ahead_->path : nullptr; }

 private:
  bool read_line();
  void read_header();
  void read_ahead();
  std::optional<TreeRecord> read_record();
  void check_order(const std::string& path);
  template <class Body>
  void placed(Body&& body);
  [[noreturn]] void refuse(const std::string& flaw) const;

  NextLine next_line_;
  std::string name_;
  std::string line_{};
  std::size_t number_ = 0;
  TreeFormat format_ = TreeFormat::Text;
  std::string top_{};
  std::string last_path_{};
  bool any_ = false;
  bool ended_ = false;
  std::optional<TreeRecord> ahead_{};
};

}  // namespace zksh
