// OutputFile: a file that takes a command's results in place of standard output.
#pragma once

#include "base/fd.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace zksh {

/// Used by the command's thread alone.
class OutputFile {
 public:
  /// Opens the file, which is made where there is none; what it holds stays until `begin`. Waits
  /// for a reader of a named pipe. Throws Error naming the file, Cancelled on a stop.
  OutputFile(std::string name, bool append, const std::stop_token& stop);

  /// For a program that is to write to the file itself.
  int fd();
  /// Throws Error naming the file when it cannot be written, Cancelled on a stop.
  void write(std::string_view bytes);
  /// The command has ended with this status; returns the status of both. A command that never
  /// understood its words leaves what the file held. Throws Error when the file refuses what was
  /// written.
  int finish(int result);

 private:
  void begin();
  [[noreturn]] void fail(int error) const;

  std::string name_;
  bool begun_;  ///< what it held is gone, or is to stay
  Fd fd_;
  std::optional<FdWriter> writer_;
};

}  // namespace zksh
