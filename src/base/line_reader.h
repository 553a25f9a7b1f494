// LineReader: reads lines from a descriptor; a stop ends the wait.
#pragma once

#include "base/fd.h"

#include <stop_token>
#include <string>

namespace zksh {

/// What ends a line.
enum class LineEnd {
  Newline,
  AsInJava,  ///< a newline, a carriage return, or both, as BufferedReader.readLine in zkCli
};

class LineReader {
 public:
  static constexpr std::size_t longest_line = 64U << 20U;

  /// `owned`: the destructor closes the descriptor. `name` is for messages.
  LineReader(int fd, bool owned, std::string name, const std::stop_token& stop,
             LineEnd line_end = LineEnd::Newline);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// A byte order mark at the beginning is not skipped, as in zkCli. Call it first.
  void keep_byte_order_mark() { at_begin_ = false; }

  /// Reads the next line, of any bytes, without its terminator, which the last line need not have.
  /// Returns false at the end of the input and after a stop. Blocks. Throws ValueError if the
  /// descriptor cannot be read or the line is longer than longest_line.
  bool next(std::string& line);
  /// Whether next() would return without blocking. Throws as next().
  bool ready();

 private:
  bool fill();
  void skip_byte_order_mark();
  std::size_t line_end();

  int fd_;
  Fd owned_;
  std::string name_;
  StopFd stop_;
  std::string buffer_;
  std::size_t taken_ = 0;     ///< bytes of the buffer that were returned
  std::size_t searched_ = 0;  ///< bytes known to contain no line end
  LineEnd line_end_;
  bool after_return_ = false;  ///< the returned line ended with \r; a \n here belongs to it
  bool at_begin_ = true;       ///< a byte order mark may stand or begin here
  bool ended_ = false;
};

}  // namespace zksh
