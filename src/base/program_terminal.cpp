// ProgramTerminal: lends zksh's terminal to a foreground program, as a shell does.
#include "base/program_terminal.h"

#include "base/number.h"
#include "base/process.h"
#include "base/process_tree.h"

#include <csignal>
#include <filesystem>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

/// The processes of a group that have not ended. Reads all of /proc, which takes milliseconds.
std::vector<pid_t> group_members(pid_t group) {
  std::vector<pid_t> members;
  std::error_code error;
  std::filesystem::directory_iterator directory("/proc", error);
  for (; directory != std::filesystem::directory_iterator(); directory.increment(error)) {
    const auto process = number_in<pid_t>(directory->path().filename().string());
    if (!process) continue;
    if (getpgid(*process) != group) continue;
    const char state = ProcessTree::stat(*process).state;
    if (state != 0 && state != 'Z' && state != 'X') members.push_back(*process);
  }
  return members;
}

}  // namespace

ProgramTerminal::ProgramTerminal(bool wanted) {
  if (!wanted) return;
  fd_ = Fd(open("/dev/tty", O_RDWR | O_CLOEXEC));
  termios modes{};
  if (fd_ && tcgetattr(fd_.get(), &modes) == 0) modes_ = modes;
}

bool ProgramTerminal::in_foreground() const { return fd_ && tcgetpgrp(fd_.get()) == getpgrp(); }

/// Works from the background too, where SIGTTOU would stop zksh if it were not blocked.
void ProgramTerminal::set_foreground(pid_t group) const {
  const SignalsBlocked blocked;
  tcsetpgrp(fd_.get(), group);
}

bool ProgramTerminal::lend(pid_t group) {
  if (!in_foreground()) return false;
  // The modes as the program left them: not every program sets them again when it is continued.
  if (borrowers_modes_) tcsetattr(fd_.get(), TCSADRAIN, &*borrowers_modes_);
  set_foreground(group);
  borrower_ = group;
  return true;
}

void ProgramTerminal::take_back(bool with_modes) {
  termios modes{};
  if (lent() && tcgetpgrp(fd_.get()) == borrower_) {
    if (tcgetattr(fd_.get(), &modes) == 0) borrowers_modes_ = modes;
    set_foreground(getpgrp());
  }
  borrower_ = 0;
  if (with_modes && modes_ && in_foreground()) tcsetattr(fd_.get(), TCSADRAIN, &*modes_);
}

bool ProgramTerminal::drawn_on() const {
  termios modes{};
  return lent() && tcgetattr(fd_.get(), &modes) == 0 && (modes.c_lflag & ICANON) == 0;
}

/// The first ancestor outside zksh's process group must be in its session. Otherwise the group is
/// orphaned, and nobody would continue it.
bool ProgramTerminal::is_job() {
  const pid_t group = getpgrp();
  pid_t ancestor = getppid();
  while (ancestor > 0 && getpgid(ancestor) == group) ancestor = ProcessTree::stat(ancestor).parent;
  return ancestor > 0 && getsid(ancestor) == getsid(0);
}

ProgramTerminal::Followed ProgramTerminal::follow_stop(pid_t group, int signal,
                                                       const std::function<void()>& before) {
  const bool wants = signal == SIGTTIN || signal == SIGTTOU;
  if (!wants && signal != SIGTSTP) return Followed::StaysStopped;  // somebody paused it on purpose
  if (wants && lend(group)) return Followed::Lent;
  take_back(true);
  if (before) before();
  const bool stops = is_job();
  if (!stops && wants) return Followed::StaysStopped;
  if (stops) {
    // The shell sees a job as stopped when all processes of the pipeline are. A signal to the whole
    // group would stop zksh too, but on another thread and slightly later.
    for (const pid_t member : group_members(getpgrp()))
      if (member != getpid()) kill(member, SIGTSTP);
    pthread_kill(pthread_self(), SIGSTOP);
  }
  lend(group);
  return Followed::Stopped;
}

}  // namespace zksh
