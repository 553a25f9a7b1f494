// Loop: the main thread's event loop for keys, signals, finished jobs and output; and the jobs.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "shell/printer.h"

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace zksh {

class Job {
 public:
  /// Starts `body`, which returns an exit status and must not throw. Writes `wake_fd` (an eventfd,
  /// not owned) when it has ended.
  Job(Monitor& monitor, int wake_fd, std::function<int(std::stop_token)> body);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /// Asks the body to stop and waits until it has ended.
  ~Job() = default;

  /// Asks the body to stop; returns at once.
  void stop() { thread_.request_stop(); }
  /// The exit status, once the body has ended.
  std::optional<int> status();

 private:
  Monitor& monitor_;
  Guarded<std::optional<int>> status_;
  std::jthread thread_;
};

/// The callbacks of a Loop, all called on the main thread. Those without a default must be set.
struct LoopEvents {
  std::function<bool()> reads_input = [] { return false; };  ///< whether to poll standard input now
  std::function<bool()> input_waits = [] { return false; };  ///< whether buffered input remains
  std::function<void()> input{};              ///< standard input is readable, or input is buffered
  std::function<void()> interrupt;            ///< SIGINT
  std::function<void(int signal)> end;        ///< SIGTERM and all others that end a process
  std::function<void()> resize = [] {};       ///< SIGWINCH
  std::function<void()> suspend;              ///< SIGTSTP
  std::function<void()> resume = [] {};       ///< SIGCONT, except after stop_process
  std::function<void(int error)> out_failed;  ///< stdout cannot be written; called once
  /// When to call `done` again even if nothing happens; nullopt: only after an event. Called after
  /// `done`.
  std::function<std::optional<Clock::time_point>()> look_again = [] { return std::nullopt; };
};

/// Owns the descriptors that wake the main thread.
class Loop {
 public:
  /// Blocks the signals that it reads through a signalfd, so construct it before starting threads.
  /// Signals that zksh was started to ignore (nohup, a script's background) remain ignored.
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// An eventfd; writing it from any thread wakes the loop.
  int wake_fd() const { return wake_fd_.get(); }

  /// Handles events until `done()` returns true, which is called after every event.
  void run(Printer& printer, const LoopEvents& events, const std::function<bool()>& done);

  /// Blocks until `fd` accepts output. Returns false if it accepts none and a signal of
  /// LoopEvents::end has arrived, or leave() was called: a stalled terminal must not keep the
  /// process.
  bool await_writable(int fd);
  /// The process must end: output that nobody reads is not waited for, and if it still runs after
  /// five seconds, it exits with `status` at once. The seconds count only while `programs` is 0: a
  /// program under a lock may take its time to end. `programs` must outlive the Loop. Only the
  /// first call counts.
  void leave(int status, const std::atomic<int>& programs);
  /// Stops the process as Ctrl-Z does; returns when it is continued, or at once if nobody could
  /// continue it (an orphaned process group).
  static void stop_process();

 private:
  void collect_signals();
  void serve_signals(const LoopEvents& events);

  Fd wake_fd_;
  Fd signal_fd_;
  std::deque<int> signals_;  ///< received, not handled yet
  bool leaving_ = false;
};

}  // namespace zksh
