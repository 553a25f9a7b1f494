// ResultLines: a command's results, line by line, on their way to its output many at a time.
#pragma once

#include "base/monitor.h"
#include "command/output.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// For a command that prints lines by the hundred thousand: handing over each alone costs more than
/// making it. Used on the command's thread.
class ResultLines {
 public:
  explicit ResultLines(Output& out) : out_(out) {}

  /// Takes a line without its newline. Hands over what there is from time to time, a tenth of a
  /// second after the line before at the latest. Blocks and throws as Output::out.
  void add(std::string_view line) {
    text_ += line;
    text_ += '\n';
    if (text_.size() >= enough || Clock::now() - handed_over_ >= longest) flush();
  }
  void flush() {
    out_.out(std::exchange(text_, {}));
    handed_over_ = Clock::now();
  }
  /// Runs `work`, which adds lines; they are handed over at the end, and also when it throws.
  template <class F>
  void during(F&& work) {
    try {
      std::forward<F>(work)();
    } catch (...) {
      flush();
      throw;
    }
    flush();
  }

 private:
  static constexpr std::size_t enough = 64U << 10U;
  static constexpr std::chrono::milliseconds longest{100};
  Output& out_;
  std::string text_;
  Clock::time_point handed_over_{};
};

}  // namespace zksh
