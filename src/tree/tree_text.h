// TreeText: the format of `dump`: a subtree as lines of text or JSON. zksh-tree(5) describes it.
#pragma once

#include "command/command.h"
#include "tree/tree_record.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

enum class TreeFormat { Text, JsonLines };

/// Lines, with their newlines. `top` is an absolute path.
std::string tree_header(TreeFormat format, const std::string& top);
std::string tree_line(TreeFormat format, const TreeRecord& record);
/// Mentions ephemerals only if there were some, so that a tree without them and its restored copy
/// have the same text.
std::string tree_end(TreeFormat format, std::size_t ephemerals);

/// An ACL as a field of a line, and for people: "world:anyone:cdrwa,digest:ann:HASH:r".
std::string acl_field(const Acl& acl);
/// Data as a field of a line.
std::string data_field(const Data& data);
/// A path or another text as a field of a line.
std::string escaped_field(std::string_view text);

/// Reads a dump in either format, using memory for two lines. The text is not trusted: any error
/// throws ValueError "NAME:LINE: …". A record is returned only after the next line has been read,
/// so never a truncated one.
class TreeReader {
 public:
  static constexpr std::size_t longest_line = 32U << 20U;
  /// Reads the next line, without its newline; false at the end.
  using NextLine = std::function<bool(std::string&)>;

  /// Reads the header. `name` is for messages.
  TreeReader(NextLine next_line, std::string name);

  /// The path that was dumped; valid.
  const std::string& top() const { return top_; }
  /// The next record, as a RecordStream.
  std::optional<TreeRecord> next();

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

// These throw ValueError with what is wrong, but without the place.

/// Replaces the escapes in a text.
std::string unescaped(std::string_view text);
Acl parse_acl_field(std::string_view text);
Data parse_data_field(std::string_view text);
QuotaLimits parse_limits(std::string_view text);

std::string tree_json_line(const TreeRecord& record);

/// A parsed line; the last one of a dump has neither.
struct TreeJsonLine {
  std::optional<std::string> top{};  ///< of the first line; unchecked
  std::optional<TreeRecord> record{};
};
/// Throws ValueError, without the place. Unknown fields are ignored.
TreeJsonLine parse_tree_json(std::string_view line);

/// Opens a file and reads the header. "-" is standard input, which must be available. Throws
/// ValueError if it cannot be read, or is not a dump.
TreeReader open_tree(const Context& cx, const std::string& name);

/// Checks that a dump is complete and free of errors; returns its number of nodes, or nullopt if it
/// can be read only once, such as a pipe. Blocks. Throws as open_tree.
std::optional<std::size_t> checked_size(const Context& cx, const std::string& name);

}  // namespace zksh
