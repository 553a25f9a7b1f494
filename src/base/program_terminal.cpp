// ProgramTerminal: lends zksh's terminal to a foreground program, as a shell does.
#include "base/program_terminal.h"

#include "base/number.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <pthread.h>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

struct Entry {
  char state = 0;
  pid_t parent = 0;
  pid_t group = 0;
};

/// Reads /proc/PID/stat (proc(5)).
std::optional<Entry> entry_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');  // the program's name may contain anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  Entry entry;
  fields >> entry.state >> entry.parent >> entry.group;
  return entry;
}

/// The processes of a group that have not ended. Reads all of /proc, which takes milliseconds.
std::vector<pid_t> group_members(pid_t group) {
  std::vector<pid_t> members;
  std::error_code error;
  std::filesystem::directory_iterator directory("/proc", error);
  for (; directory != std::filesystem::directory_iterator(); directory.increment(error)) {
    const auto process = number_in<pid_t>(directory->path().filename().string());
    if (!process) continue;
    const auto entry = entry_of(*process);
    const bool ended = !entry || entry->state == 'Z' || entry->state == 'X';
    if (!ended && entry->group == group) members.push_back(*process);
  }
  return members;
}

/// The parent of a process; 0 if there is no such process, or it is not visible.
pid_t parent_of(pid_t process) {
  const auto entry = entry_of(process);
  return entry ? entry->parent : 0;
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
  sigset_t ttou;
  sigset_t before;
  sigemptyset(&ttou);
  sigaddset(&ttou, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &ttou, &before);
  tcsetpgrp(fd_.get(), group);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool ProgramTerminal::lend(pid_t group) {
  if (!in_foreground()) return false;
  // The modes as the program left them: not every program sets them again when it is continued.
  if (borrowers_modes_) tcsetattr(fd_.get(), TCSADRAIN, &*borrowers_modes_);
  set_foreground(group);
  borrower_ = group;
  return true;
}

void ProgramTerminal::take_back() {
  termios modes{};
  if (lent() && tcgetpgrp(fd_.get()) == borrower_) {
    if (tcgetattr(fd_.get(), &modes) == 0) borrowers_modes_ = modes;
    set_foreground(getpgrp());
  }
  borrower_ = 0;
}

void ProgramTerminal::restore_modes() {
  if (modes_ && in_foreground()) tcsetattr(fd_.get(), TCSADRAIN, &*modes_);
}

bool ProgramTerminal::drawn_on() const {
  termios modes{};
  return lent() && tcgetattr(fd_.get(), &modes) == 0 && (modes.c_lflag & ICANON) == 0;
}

/// Whether a shell with job control is above zksh: the first ancestor outside its process group is
/// in its session. Otherwise the group is orphaned, and nobody would continue it.
bool ProgramTerminal::is_job() {
  const pid_t group = getpgrp();
  pid_t ancestor = getppid();
  while (ancestor > 0 && getpgid(ancestor) == group) ancestor = parent_of(ancestor);
  return ancestor > 0 && getsid(ancestor) == getsid(0);
}

bool ProgramTerminal::stop_group() {
  if (!is_job()) return false;
  // The shell sees a job as stopped when all processes of the pipeline are. A signal to the whole
  // group would stop zksh too, but on another thread and slightly later.
  for (const pid_t member : group_members(getpgrp()))
    if (member != getpid()) kill(member, SIGTSTP);
  pthread_kill(pthread_self(), SIGSTOP);
  return true;
}

ProgramTerminal::Followed ProgramTerminal::follow_stop(pid_t group, int signal,
                                                       const std::function<void()>& before) {
  const bool wants = signal == SIGTTIN || signal == SIGTTOU;
  if (!wants && signal != SIGTSTP) return Followed::StaysStopped;  // somebody paused it on purpose
  if (wants && lend(group)) return Followed::Lent;
  take_back();
  restore_modes();
  if (before) before();
  const bool stopped = stop_group();
  if (!stopped && wants) return Followed::StaysStopped;
  lend(group);
  return Followed::Stopped;
}

}  // namespace zksh
