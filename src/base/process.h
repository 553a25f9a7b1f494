// Process: child programs, how they are started, fed and ended.
#pragma once

#include "base/error.h"
#include "base/monitor.h"

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

/// No signal reaches the calling thread while it lives; threads and children made meanwhile begin
/// with all of them blocked.
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

/// A program to run, and what it is given. Nothing else of zksh reaches it: every other descriptor
/// is closed, no signal is blocked, and only what zksh itself was told to ignore (nohup) is
/// ignored.
struct Program {
  enum class Group {
    Shared,   ///< zksh's own: Ctrl-C at the terminal reaches both
    Own,      ///< a group of its own
    Session,  ///< a session of its own: no terminal, and no hang-up from one
  };
  struct Redirection {
    int target;  ///< the child's descriptor
    int source;  ///< zksh's; stays open here
  };

  std::vector<std::string> words;  ///< a first word without a slash is looked up in $PATH
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to zksh's own
  std::string directory{};                                         ///< empty: zksh's own
  std::vector<Redirection> redirections{};  ///< done all at once: sources are never overwritten
  Group group = Group::Shared;
  /// With Group::Own: the child's group becomes the foreground of this terminal. Taking it back
  /// (tcsetpgrp with SIGTTOU blocked) when the child has ended or stopped is up to the caller.
  int terminal = -1;
  int death_signal = 0;  ///< sent to the child when the *thread* that started it ends
};

/// The file that a program's name stands for, as a shell finds it. Throws Error: 127 when there is
/// none, 126 when it cannot be run.
std::string find_program(const std::string& name);

/// What a program's start needs, made before the fork: after it, another thread's malloc lock may
/// be held for ever, so that the child may call async-signal-safe functions only.
struct ProgramImage {
  /// Throws Error as find_program. Refers to the words of `program`.
  explicit ProgramImage(const Program& program);
  ProgramImage(const ProgramImage&) = delete;
  ProgramImage& operator=(const ProgramImage&) = delete;
  ~ProgramImage() = default;

  std::string path;
  std::vector<std::string> environment;
  // Each ends with a null pointer:
  std::vector<char*> argv;
  std::vector<char*> shell_argv;  ///< for a script without a first line that names its interpreter
  std::vector<char*> envp;
};

/// In a child: becomes the program, with no signal blocked, and only that ignored which zksh was
/// started to ignore; returns errno when that fails. Async-signal-safe.
int become_program(const char* path, char* const* argv, char* const* shell_argv, char* const* envp);
/// That a program which was found cannot be run, with status 126; `number`: what become_program
/// returned.
Error cannot_run(const Program& program, int number);

/// Forks, and notes the child as one that zksh has started; `fork` returns as fork(2) does. From
/// any thread.
pid_t start_child(const std::function<pid_t()>& fork);
/// Takes note of the end of such a child; blocks until it has ended.
void reap_child(pid_t child);
/// The children that zksh has not started: what others left behind, while it is their subreaper, or
/// its own from before its exec. From any thread.
std::vector<pid_t> adopted_children();

/// A running or ended child. Members may be called from any thread.
/// The child stays a zombie until the Process is destroyed, so that its pid and its group's id
/// cannot become somebody else's while they can still be signalled.
class Process {
 public:
  /// Returns when the program runs. Throws Error with status 126 or 127 when it cannot be run.
  Process(Monitor& monitor, const Program& program);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the child (with a group of its own: the group) unless it has ended, and waits for that.
  /// Not under the Monitor.
  ~Process();

  pid_t pid() const { return pid_; }

  /// The exit status as a shell gives it (128 + n: ended by signal n); nothing while it runs.
  /// The Monitor's waiters are woken when it changes.
  std::optional<int> status(const Monitor::Held& held) const { return state_(held).status; }
  std::optional<int> status() const;
  /// Stopped by SIGSTOP, SIGTSTP, …, and not continued.
  bool stopped(const Monitor::Held& held) const { return state_(held).stop_signal != 0; }
  bool stopped() const;
  /// The signal that stopped it; 0 while it is not stopped.
  int stop_signal(const Monitor::Held& held) const { return state_(held).stop_signal; }
  /// Blocks until the child has ended. Throws Cancelled when `stop` is requested; the child runs
  /// on.
  int wait(const std::stop_token& stop = {}) const;

  /// Sends a signal to the child, or to its whole group if it has one of its own. To a child that
  /// has ended: nothing, but what is left of its group gets it.
  void signal(int number) const;

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
  /// Get what it writes to its standard output and error, in pieces, on the caller's thread.
  std::function<void(std::string_view)> out{};
  std::function<void(std::string_view)> err{};
};

/// Returns the program's exit status (128 + n: ended by signal n). Blocks until it has ended; what
/// it leaves behind in the background is not waited for. A stop ends it with SIGTERM, after two
/// seconds with SIGKILL, and throws Cancelled. Throws Error when it cannot be run.
int run_piped(Monitor& monitor, const PipedProgram& program, const std::stop_token& stop);

}  // namespace zksh
