// Printer: writes what waits in the OutputQueue to the standard streams, without ever blocking.
#pragma once

#include "command/output.h"

#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace zksh {

/// Used by the main thread alone. A stream that takes nothing (Ctrl-S, a pager that does not read)
/// holds back what follows, in order; signals and keys are still served meanwhile.
class Printer {
 public:
  explicit Printer(OutputQueue& queue) : queue_(queue) {}

  /// What goes to a terminal is offered to this first, which prints it above the typed line and
  /// returns true, or returns false when no line is typed.
  void print_through(std::function<bool(std::string_view)> above) { above_ = std::move(above); }

  /// A line on standard error, a terminal, for as long as nothing else is printed; one that cannot
  /// take it away again keeps it. Not shown while the terminal takes no output.
  void show_notice(const std::string& text);
  /// Takes it away.
  void end_notice();

  /// Takes what is queued and writes what the streams accept.
  void pump();
  /// The descriptor that must become writable before pump can go on; -1: nothing waits.
  int blocked_on() const { return blocked_on_; }
  /// errno of the first failed write to stdout; 0: none. From then on stdout is dropped.
  int out_failure() const { return out_failure_; }
  /// Writes all that waits. `wait` blocks until a descriptor takes output; false: the rest is given
  /// up.
  void flush(const std::function<bool(int fd)>& wait);

 private:
  bool write_front();

  OutputQueue& queue_;
  std::function<bool(std::string_view)> above_;
  std::deque<OutputQueue::Chunk> waiting_;
  std::size_t written_ = 0;  ///< of the first chunk
  bool notice_ = false;      ///< is shown
  int blocked_on_ = -1;
  int out_failure_ = 0;
};

}  // namespace zksh
