// TreeFile: a dump in a file or on standard input.
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
  /// Opens the file and reads the header. "-" is standard input, which must be available. Throws
  /// ValueError if it cannot be read, or is no dump.
  TreeFile(const Context& cx, const std::string& name);

  TreeReader& reader() const { return *reader_; }

 private:
  std::unique_ptr<LineReader> lines_;
  std::unique_ptr<TreeReader> reader_;
};

/// Checks that a dump is complete and free of errors; returns its number of nodes, or nullopt if it
/// can be read only once, such as a pipe. Blocks. Throws as TreeFile.
std::optional<std::size_t> checked_size(const Context& cx, const std::string& name);

}  // namespace zksh
