// TreeFile: a dump in a file or on standard input.
#pragma once

#include "base/line_reader.h"
#include "command/command.h"
#include "tree/tree_text.h"

#include <cstddef>
#include <optional>
#include <string>

namespace zksh {

class TreeFile {
 public:
  /// Opens the file and reads the header. "-" is standard input, which must be available. Throws
  /// ValueError if it cannot be read, or is not a dump.
  TreeFile(const Context& cx, const std::string& name);

  /// As TreeReader's.
  const std::string& top() const { return reader_.top(); }
  std::optional<TreeRecord> next() { return reader_.next(); }

 private:
  LineReader lines_;
  TreeReader reader_;
};

/// Checks that a dump is complete and free of errors; returns its number of nodes, or nullopt if it
/// can be read only once, such as a pipe. Blocks. Throws as TreeFile.
std::optional<std::size_t> checked_size(const Context& cx, const std::string& name);

}  // namespace zksh
