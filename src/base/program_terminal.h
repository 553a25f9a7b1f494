// ProgramTerminal: lends zksh's terminal to a foreground program, as a shell does.
#pragma once

#include "base/fd.h"

#include <atomic>
#include <functional>
#include <optional>
#include <sys/types.h>
#include <termios.h>

namespace zksh {

/// zksh's controlling terminal, if it has one, while a program runs in a process group of its own.
/// Used by one thread, except `lent` and `drawn_on`.
class ProgramTerminal {
 public:
  /// `wanted` is false for a program in the background, which is lent nothing.
  explicit ProgramTerminal(bool wanted);
  ProgramTerminal(const ProgramTerminal&) = delete;
  ProgramTerminal& operator=(const ProgramTerminal&) = delete;
  ~ProgramTerminal() { take_back(false); }

  /// For Program::terminal: the terminal's descriptor if zksh is in the foreground, else -1.
  int to_lend() const { return in_foreground() ? fd_.get() : -1; }
  /// Records that a program's group got the terminal when it started.
  void was_lent(pid_t group) { borrower_ = group; }
  /// Makes a running program's group the foreground group, with the terminal modes it had when the
  /// terminal was taken back. Returns false if zksh is in the background.
  bool lend(pid_t group);
  /// Makes zksh's group the foreground group again, unless somebody else, such as a shell, has
  /// taken the terminal from the program. `with_modes` restores the modes from before a program got
  /// the terminal, for a program that could not do so itself.
  void take_back(bool with_modes);

  bool lent() const { return borrower_ > 0; }
  /// Whether the program has the terminal and draws on the whole screen, which a line from zksh
  /// would spoil.
  bool drawn_on() const;

  enum class Followed {
    StaysStopped,  ///< not stopped by the terminal, or nobody will ever give it one
    Lent,          ///< it needed the terminal, and has it now
    Stopped,  ///< zksh was stopped too and has been continued; the program has the terminal again
  };
  /// Handles a program that `signal` has stopped as a shell's job would. If it needs the terminal
  /// (SIGTTIN, SIGTTOU), it gets it. If that is impossible, or after Ctrl-Z, calls `before` and
  /// stops zksh with its process group. The caller then sends SIGCONT to the program, unless it
  /// stays stopped.
  Followed follow_stop(pid_t group, int signal, const std::function<void()>& before = {});

  /// Whether zksh is a job of a shell, which would continue it once stopped.
  static bool is_job();

 private:
  bool in_foreground() const;
  void set_foreground(pid_t group) const;

  Fd fd_;
  std::optional<termios> modes_;
  std::optional<termios> borrowers_modes_;
  std::atomic<pid_t> borrower_ = 0;
};

}  // namespace zksh
