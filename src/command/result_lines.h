// ResultLines: collects a command's results, to print many lines at once.
#pragma once

#include "base/monitor.h"
#include "command/output.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// For commands that print hundreds of thousands of lines: printing each alone costs more than
/// producing it. Used on the command's thread.
class ResultLines {
 public:
  explicit ResultLines(Output& out) : out_(out) {}

  /// Adds a line, without its newline. Prints what has been collected from time to time, at the
  /// latest with the first line added after a tenth of a second. Blocks and throws as Output::out.
  void add(std::string_view line) {
    text_ += line;
    text_ += '\n';
    if (text_.size() >= enough || Clock::now() - handed_over_ >= longest) flush();
  }
  void flush() {
    if (before_first_) std::exchange(before_first_, {})();
    out_.out(std::exchange(text_, {}));
    handed_over_ = Clock::now();
  }
  /// Sets a function that is called once, before the first lines are printed.
  void before_first(std::function<void()> call) { before_first_ = std::move(call); }
  /// Runs `work`, which adds lines, and prints the rest at the end, also if it throws.
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
  std::function<void()> before_first_{};
  Clock::time_point handed_over_{};
};

}  // namespace zksh
