// TreeFile: a file, or standard input, that holds the text of a subtree.
#pragma once

#include "base/line_reader.h"
#include "command/command.h"
#include "tree/tree_text.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace zksh {

class TreeFile {
 public:
  /// Opens it and reads its beginning; "-" is standard input, which must be free for it. Throws
  /// ValueError when it cannot be read, or holds something else.
  TreeFile(const Context& cx, const std::string& name);

  TreeReader& reader() const { return *reader_; }

 private:
  std::unique_ptr<LineReader> lines_;
  std::unique_ptr<TreeReader> reader_;
};

/// Reads all of a file to see that it is whole and without mistakes; returns its number of nodes,
/// or nothing when it can be read only once, as a pipe. Blocks. Throws as TreeFile.
std::optional<std::size_t> checked_size(const Context& cx, const std::string& name);

}  // namespace zksh
