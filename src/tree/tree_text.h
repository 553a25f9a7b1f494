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

// Each throws ValueError with what is wrong, without the place.

/// The bytes that an escaped text stands for.
std::string unescaped(std::string_view text);
NodeLife parse_life(std::string_view text);
/// The letters of a permission mask, or a number for one that they cannot write.
int parse_perms(std::string_view text);
Acl parse_acl_field(std::string_view text);
Data parse_data_field(std::string_view text);
QuotaLimits parse_limits(std::string_view text);
/// A record's path: "" for "/", else as it is when it is a valid one.
std::string parse_relative(std::string path);
/// A line of a node in the text format.
TreeRecord parse_tree_line(std::string_view line);

/// Perms as they are written: "cdrwa", or a number.
std::string perms_field(int perms);

std::string tree_json_header(const std::string& top);
std::string tree_json_line(const TreeRecord& record);
std::string tree_json_end(std::size_t ephemerals);

/// What a line holds.
struct TreeJsonLine {
  bool header = false;
  std::string top{};  ///< of a header, as it stands there
  bool end = false;
  std::optional<TreeRecord> record{};  ///< when it is neither
};
/// Throws ValueError, without the place. Fields that it does not know count for nothing.
TreeJsonLine parse_tree_json(std::string_view line);

}  // namespace zksh
