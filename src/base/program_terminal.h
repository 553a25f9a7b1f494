// Program terminal: a program in the foreground, and the processes that share its terminal.
#pragma once

#include "base/fd.h"

#include <functional>
#include <optional>
#include <sys/types.h>
#include <termios.h>
#include <vector>

namespace zksh {

/// The processes of a process group that have not ended. Looks through all of /proc: milliseconds.
std::vector<pid_t> group_members(pid_t group);
/// The parent of a process; 0 when there is no such process, or none that we may see.
pid_t parent_of(pid_t process);

/// zksh's controlling terminal, as far as it has one, while a program runs in a process group of
/// its own. Used by one thread.
class ProgramTerminal {
 public:
  /// `wanted`: false for a program in the background: then there is nothing to lend.
  explicit ProgramTerminal(bool wanted);
  ProgramTerminal(const ProgramTerminal&) = delete;
  ProgramTerminal& operator=(const ProgramTerminal&) = delete;
  ~ProgramTerminal() { take_back(); }

  /// For Program::terminal: the terminal when zksh is in its foreground, else -1.
  int to_lend() const { return in_foreground() ? fd_.get() : -1; }
  /// Notes that the terminal was given to a program's group at its start.
  void was_lent(pid_t group) { borrower_ = group; }
  /// Makes a running program's group the foreground one, with the modes that it had when the
  /// terminal was taken back from it; false when zksh is in the background.
  bool lend(pid_t group);
  /// Makes zksh's own group the foreground one again, if the borrower still has the terminal: a
  /// shell may have taken it meanwhile.
  void take_back();
  /// The modes as they were before a program got the terminal: for one that could not put them
  /// back.
  void restore_modes();

  bool lent() const { return borrower_ > 0; }
  /// The program has the terminal, and draws on it: a line of ours would spoil its picture.
  bool drawn_on() const;

  enum class Followed {
    StaysStopped,  ///< the terminal did not stop it, or nobody will ever give it one
    Lent,          ///< it waited for the terminal, and has it now
    Stopped,       ///< zksh was stopped, too, and goes on; the program has the terminal again
  };
  /// Does what a shell's job does when a program in it is stopped by `signal`: one that waits for
  /// the terminal (SIGTTIN, SIGTTOU) gets it; else, and at Ctrl-Z, zksh calls `before`, and stops
  /// with its process group. The caller then sends SIGCONT to the program, unless it
  /// stays stopped.
  Followed follow_stop(pid_t group, int signal, const std::function<void()>& before = {});

  /// Stops zksh and its process group as the terminal does at Ctrl-Z; returns when they are
  /// continued. False, and nothing happens, when nobody could continue them: when zksh is not the
  /// job of a shell.
  static bool stop_group();
  /// Whether stop_group would stop anything.
  static bool is_job();

 private:
  bool in_foreground() const;
  void set_foreground(pid_t group) const;

  Fd fd_;
  std::optional<termios> modes_;
  std::optional<termios> borrowers_modes_;
  pid_t borrower_ = 0;
};

}  // namespace zksh
