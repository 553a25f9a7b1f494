// Printer: writes the OutputQueue to the standard streams without blocking.
#pragma once

#include "command/output.h"

#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace zksh {

/// Used only by the main thread. A stream that accepts nothing (Ctrl-S, a pager that does not read)
/// holds back what follows, in order; signals and keys are still handled meanwhile.
class Printer {
 public:
  explicit Printer(OutputQueue& queue) : queue_(queue) {}

  /// Sets a function that is offered output for a terminal first. It prints that above the typed
  /// line and returns true, or returns false if no line is being typed.
  void print_through(std::function<bool(std::string_view)> above) { above_ = std::move(above); }

  /// Sets what keeps a line below all output: `hide` is called before output to a terminal, and
  /// `show` when there is no more, with whether the output ended its line; `show` returns a
  /// descriptor that must become writable first, or -1.
  void keep_below(std::function<void()> hide, std::function<int(bool)> show) {
    hide_ = std::move(hide);
    show_ = std::move(show);
  }

  /// Shows a line on standard error, a terminal, in place of the last one, until something else is
  /// printed; a terminal that cannot erase it keeps it, and gets no second one. Not shown while the
  /// terminal accepts no output, or the output has not ended its line.
  void show_notice(const std::string& text);
  /// Removes it.
  void end_notice();

  /// From now on, output that is refused is dropped, as in Java, and that is not a failure.
  void drop_refused() { drops_refused_ = true; }

  /// Takes the queued output and writes what the streams accept, but not for so long that signals
  /// and keys would have to wait.
  void pump();
  /// The descriptor that must become writable before pump can continue; -1: none.
  int blocked_on() const { return blocked_on_; }
  /// The errno of the first failed write to stdout; 0: none. After that, output to stdout is
  /// dropped.
  int out_failure() const { return out_failure_; }
  /// When something was last written.
  Clock::time_point printed_at() const { return printed_at_; }
  /// Whether what was last written to a terminal ended its line.
  bool ended_line() const { return ended_line_; }
  /// Writes the output that waits now. `wait` blocks until a descriptor accepts output; if it
  /// returns false, the rest is dropped.
  void flush(const std::function<bool(int fd)>& wait);

 private:
  bool write_front();

  OutputQueue& queue_;
  std::function<bool(std::string_view)> above_;
  std::function<void()> hide_;
  std::function<int(bool)> show_;
  std::deque<OutputQueue::Chunk> waiting_;
  std::size_t written_ = 0;  ///< bytes of the first chunk
  std::string notice_{};     ///< what is shown
  Clock::time_point printed_at_{};
  bool ended_line_ = true;
  bool drops_refused_ = false;
  int blocked_on_ = -1;
  int out_failure_ = 0;
};

}  // namespace zksh
