// LineReader: lines from a descriptor, with a wait that can be interrupted.
#pragma once

#include "base/fd.h"

#include <functional>
#include <stop_token>
#include <string>

namespace zksh {

/// What ends a line.
enum class LineEnd {
  Newline,
  AsInJava,  ///< a newline, a carriage return, or both: BufferedReader.readLine, as zkCli reads
};

class LineReader {
 public:
  static constexpr std::size_t longest_line = 64U << 20U;

  /// `owned`: the descriptor is closed at the end. `name` is for messages.
  LineReader(int fd, bool owned, std::string name, const std::stop_token& stop,
             LineEnd line_end = LineEnd::Newline);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  /// The next line without its end, any bytes, the last one with or without an end; false at the
  /// end and after a stop. Blocks. Throws Error when the descriptor cannot be read, or a line
  /// is longer than longest_line.
  bool next(std::string& line);
  /// Whether next would return at once. Throws as next.
  bool ready();

 private:
  bool fill();
  std::size_t line_end();

  int fd_;
  bool owned_;
  std::string name_;
  Fd stop_fd_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::string buffer_;
  std::size_t taken_ = 0;     ///< bytes of the buffer that were handed out
  std::size_t searched_ = 0;  ///< bytes that hold no end of a line
  LineEnd line_end_;
  bool after_return_ = false;  ///< a newline here would belong to the line that was handed out
  bool ended_ = false;
};

}  // namespace zksh
