// Process: starts, feeds and ends child programs.
#pragma once

#include "base/error.h"
#include "base/monitor.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <thread>
#include <utility>
#include <vector>

namespace zksh {

/// Blocks all signals of the calling thread while it lives. Threads and children created meanwhile
/// start with all signals blocked.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// A program to run. It inherits nothing but what is listed here: all other descriptors are closed,
/// no signal is blocked, and only the signals that zksh was started to ignore (nohup) are ignored.
struct Program {
  enum class Group {
    Shared,   ///< zksh's own: Ctrl-C at the terminal reaches both
    Own,      ///< a group of its own
    Session,  ///< a session of its own: it has no terminal, and gets no SIGHUP from one
  };
  struct Redirection {
    int target;  ///< the child's descriptor
    int source;  ///< zksh's; stays open here
  };

  std::vector<std::string> words;  ///< the first is looked up in $PATH unless it has a slash
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to zksh's own
  std::string directory{};                                         ///< empty: zksh's own
  std::vector<Redirection> redirections{};  ///< applied at once: no target overwrites a source
  Group group = Group::Shared;
  /// With Group::Own: the terminal whose foreground group the child's group becomes. When the child
  /// has ended or stopped, the caller must take the terminal back (tcsetpgrp with SIGTTOU blocked).
  int terminal = -1;
  int death_signal = 0;  ///< sent to the child when the *thread* that started it ends
};

/// The file of a program, found as a shell does. Throws Error with status 127 if there is none, 126
/// if it cannot be executed.
std::string find_program(const std::string& name);
/// Whether there is such a file, even if it cannot be executed.
bool is_program(const std::string& name);
/// The words that run a text: $SHELL -c, or /bin/sh -c if that is not set.
std::vector<std::string> shell_words(const std::string& text);

/// What exec needs, prepared before the fork: in the child, another thread's malloc lock may be
/// held for ever, so it may only call async-signal-safe functions.
struct ProgramImage {
  /// `program` must outlive this. Throws Error as find_program.
  explicit ProgramImage(const Program& program);
  ProgramImage(const ProgramImage&) = delete;
  ProgramImage& operator=(const ProgramImage&) = delete;
  ~ProgramImage() = default;

  std::string path;
  std::vector<std::string> environment;
  // Each ends with a null pointer:
  std::vector<char*> argv;
  std::vector<char*> shell_argv;  ///< for a script without a #! line
  std::vector<char*> envp;
};

/// Records which of the signals that zksh ignores for itself its programs must ignore too, because
/// zksh was started to ignore them. Call it once, before zksh ignores any.
void remember_ignored_signals();

/// In a child: executes the program with no signal blocked, ignoring only the signals that zksh was
/// started to ignore. Returns errno if that fails. Async-signal-safe.
int become_program(const char* path, char* const* argv, char* const* shell_argv, char* const* envp);
/// To follow a message about a failed system call: the limit of this machine that was reached;
/// empty if the call failed for another reason.
const char* limit_reached(int number);
/// The Error for a program that was found but cannot be run: status 126, or 1 if this machine lacks
/// processes, descriptors or memory for it. `number` is the errno.
Error cannot_run(const Program& program, int number);

/// Calls `fork`, which returns as fork(2) does, and records the child as started by zksh. From any
/// thread.
pid_t start_child(const std::function<pid_t()>& fork);
/// Waits for such a child to end and reaps it. Blocks.
void reap_child(pid_t child);
/// Whether adopted_children may contain processes that do not descend from the one child that zksh
/// has. False if zksh has never had two children at a time and is not the first process of its PID
/// namespace. From any thread. Cheap, whereas adopted_children reads /proc: a process that has read
/// about itself there can delay those who wait for its end by milliseconds (Linux 6.18).
bool may_adopt_strangers();
/// The children that zksh did not start: orphans that it adopted as a subreaper, or children from
/// before its exec. From any thread.
std::vector<pid_t> adopted_children();

/// A child, running or ended. Members may be called from any thread. The child remains a zombie
/// until the Process is destroyed, so that its pid and process group id cannot be reused while they
/// can still be signalled.
class Process {
 public:
  /// How many programs have been started, which may have written to the terminal.
  static std::size_t started();

  /// Returns once the program runs. Throws Error with status 126 or 127 if it cannot be executed.
  Process(Monitor& monitor, const Program& program);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the child, or its group if it has one of its own, unless it has ended, and waits for
  /// that. Not under the Monitor.
  ~Process();

  pid_t pid() const { return pid_; }

  /// The exit status as a shell reports it (128 + n: ended by signal n); nullopt while it runs. A
  /// change wakes the Monitor's waiters.
  std::optional<int> status(const Monitor::Held& held) const { return state_(held).status; }
  std::optional<int> status() const;
  /// Whether the child is stopped (SIGSTOP, SIGTSTP, …).
  bool stopped(const Monitor::Held& held) const { return state_(held).stop_signal != 0; }
  /// The signal that stopped it; 0 if it is not stopped.
  int stop_signal(const Monitor::Held& held) const { return state_(held).stop_signal; }
  /// Blocks until the child has ended; returns its exit status. Throws Cancelled when `stop` is
  /// requested; the child keeps running.
  int wait(const std::stop_token& stop = {}) const;

  /// Sends a signal to the child, or to its group if it has one of its own. A child that has ended
  /// gets nothing, but the rest of its group does.
  void signal(int number) const;
  /// Passes on a signal that was meant for the child, and continues the child if it is stopped.
  void pass_on(const Monitor::Held& held, int number) const;
  /// Continues a child whose stop was handled, and waits, but not for long, until it runs:
  /// otherwise the stop would be handled twice. Not under the Monitor.
  void resume() const;
  /// Ends the child with SIGTERM, or SIGKILL after the grace period; blocks until it has ended. Not
  /// under the Monitor.
  void end(std::chrono::milliseconds grace) const;

 private:
  struct State {
    std::optional<int> status;
    int stop_signal = 0;
  };
  void watch();

  Monitor& monitor_;
  Guarded<State> state_;
  bool own_group_;
  pid_t pid_ = -1;
  std::thread watcher_;
};

struct PipedProgram {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to zksh's own
  std::string input{};
  /// Called on the caller's thread with pieces of the program's standard output and error.
  std::function<void(std::string_view)> out{};
  std::function<void(std::string_view)> err{};
};

/// Runs a program and returns its exit status (128 + n: ended by signal n). Blocks until it has
/// ended, but does not wait for processes that it leaves in the background. A stop sends it
/// SIGTERM, and SIGKILL two seconds later, and throws Cancelled. Throws Error if it cannot be
/// executed.
int run_piped(Monitor& monitor, const PipedProgram& program, const std::stop_token& stop);

}  // namespace zksh
