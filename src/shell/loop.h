// Loop: the main thread's wait for keys, signals, finished jobs and output to print.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "shell/printer.h"

#include <atomic>
#include <deque>
#include <functional>
#include <optional>

namespace zksh {

/// What the owner of a Loop does when something happens; all called on the main thread.
struct LoopEvents {
  std::function<bool()> reads_input{};          ///< whether standard input is watched now
  std::function<bool()> input_waits{};          ///< whether input was read that is still to be used
  std::function<void()> input{};                ///< standard input is readable, or input waits
  std::function<void()> interrupt{};            ///< SIGINT
  std::function<void(int signal)> end{};        ///< SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2
  std::function<void()> resize{};               ///< SIGWINCH
  std::function<void()> suspend{};              ///< SIGTSTP
  std::function<void()> resume{};               ///< SIGCONT
  std::function<void(int error)> out_failed{};  ///< stdout cannot be written; told once
  /// When `done` is to be asked again though nothing has happened; nothing: not before something
  /// does. Asked after `done`.
  std::function<std::optional<Clock::time_point>()> look_again{};
};

/// Owns the descriptors that wake the main thread.
class Loop {
 public:
  /// Blocks the signals that it reads through a signalfd: to be made before any thread is started.
  /// Those that zksh was started to ignore (nohup, a script's background) are left ignored.
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// An eventfd; writing it from any thread wakes the loop.
  int wake_fd() const { return wake_fd_.get(); }

  /// Serves events until `done()` is true; looked at after every event.
  void run(Printer& printer, const LoopEvents& events, const std::function<bool()>& done);

  /// Blocks until `fd` takes output. False when a signal of LoopEvents::end has come, or leave()
  /// was called, and it takes none: whoever stops the terminal must not keep the process.
  bool await_writable(int fd);
  /// The process is to end: output that nobody takes is not waited for, and if it still runs after
  /// five seconds, because something does not end, it exits with `status` there and then. The
  /// seconds count only while `programs` is 0: a program under a lock may take its time to end.
  /// `programs` must outlive the Loop. Only the first call counts.
  void leave(int status, const std::atomic<int>& programs);
  /// Stops the process as Ctrl-Z does; returns when it is continued, or at once where nobody could
  /// continue it (an orphaned process group).
  static void stop_process();

 private:
  void collect_signals();
  void serve_signals(const LoopEvents& events);

  Fd wake_fd_;
  Fd signal_fd_;
  std::deque<int> signals_;  ///< that came and are still to be served
  bool leaving_ = false;
};

}  // namespace zksh
