// Process: starts, feeds and ends child programs.
#include "base/process.h"

#include "base/fd.h"
#include "base/process_setup.h"
#include "base/process_tree.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/close_range.h>
#include <mutex>
#include <poll.h>
#include <set>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// The children that zksh has started and not yet reaped.
struct StartedChildren {
  std::mutex mutex;
  std::set<pid_t> pids;
  /// Whether a child was ever started beside another one, perhaps one from before zksh's exec.
  bool were_several = false;
};

StartedChildren& started_children() {
  static StartedChildren all;
  return all;
}

bool has_child() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

bool is_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// The files that a shell would try for this name, in order.
std::vector<std::string> candidates(const std::string& name) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return {name};
  const char* const path = std::getenv("PATH");
  std::vector<std::string> all;
  for (const auto directory : split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':'))
    all.push_back(std::filesystem::path(directory.empty() ? "." : directory) / name);
  return all;
}

/// All that the child needs, allocated before the fork.
struct Prepared {
  explicit Prepared(const Program& program)
      : image(program), moved_sources(program.redirections.size()) {}

  ProgramImage image;
  std::vector<int> moved_sources;  // duplicates of the sources, above every target
  pid_t parent = getpid();
};

std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::ranges::any_of(added, [&](const auto& pair) { return pair.first == name; });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

/// What zksh ignores for itself.
constexpr std::array ignored_by_zksh{SIGPIPE, SIGTTOU, SIGTTIN, SIGTSTP};
/// Which of these zksh was started to ignore. See remember_ignored_signals.
std::array<bool, NSIG> ignored_at_start{};

/// A program must not inherit what zksh ignores for itself, only what zksh was started to ignore
/// (nohup, trap ''). SIGCHLD is always reset: programs that wait for others need it. Handlers are
/// reset before signals are unblocked: they are zksh's code.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    const bool ours = number == SIGCHLD || (std::ranges::count(ignored_by_zksh, number) > 0 &&
                                            !ignored_at_start[static_cast<std::size_t>(number)]);
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && !ours)) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr);
  }
}

/// Discards signals from keys that were pressed before the child left zksh's process group: zksh
/// got them too. Ignoring a signal discards it if it is pending.
void forget_keys() {
  for (const int number : {SIGINT, SIGQUIT, SIGTSTP}) {
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN;
    sigaction(number, &ignore, &before);
    sigaction(number, &before, nullptr);
  }
}

bool redirect(const Program& program, Prepared& p, int above) {
  for (std::size_t i = 0; i < program.redirections.size(); ++i) {
    p.moved_sources[i] = fcntl(program.redirections[i].source, F_DUPFD_CLOEXEC, above);
    if (p.moved_sources[i] < 0) return false;
  }
  for (std::size_t i = 0; i < program.redirections.size(); ++i) {
    if (dup2(p.moved_sources[i], program.redirections[i].target) < 0) return false;
  }
  return true;
}

/// In the child: executes the program, or writes errno to the parent. Async-signal-safe.
[[noreturn]] void become(const Program& program, Prepared& p, int above, int errors) {
  const auto give_up = [errors] {
    const int number = errno;
    [[maybe_unused]] const auto written = write(errors, &number, sizeof number);
    _exit(status::program_not_found);
  };
  if (program.death_signal != 0) {
    if (prctl(PR_SET_PDEATHSIG, program.death_signal) != 0) give_up();
    if (getppid() != p.parent)
      _exit(status::failure);  // the parent died before the death signal was set
  }
  if (program.group == Program::Group::Session && setsid() < 0) give_up();
  if (program.group == Program::Group::Own && setpgid(0, 0) != 0) give_up();
  if (program.group != Program::Group::Shared) forget_keys();
  // SIGTTOU is blocked here; otherwise this would stop the child.
  const bool borrows = program.group == Program::Group::Own && program.terminal >= 0;
  if (borrows && tcsetpgrp(program.terminal, getpid()) != 0) give_up();
  if (!program.directory.empty() && chdir(program.directory.c_str()) != 0) give_up();
  // Not every library opens its descriptors with O_CLOEXEC. Must come before the redirections,
  // since dup2 clears the flag.
  close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  if (!redirect(program, p, above)) give_up();
  const auto& image = p.image;
  errno = become_program(image.path.c_str(), image.argv.data(), image.shell_argv.data(),
                         image.envp.data());
  give_up();
  _exit(status::program_not_found);
}

pid_t spawn(const Program& program) {
  Prepared p(program);
  int above = STDERR_FILENO + 1;
  for (const auto& redirection : program.redirections) {
    above = std::max(above, redirection.target + 1);
  }
  Pipe errors = make_pipe();
  Fd write_end(fcntl(errors.write_end.get(), F_DUPFD_CLOEXEC, above));
  if (!write_end) fail("dup");
  errors.write_end.close();

  const pid_t pid = start_child([] { return fork(); });
  if (pid < 0) fail("fork");
  if (pid == 0) become(program, p, above, write_end.get());
  write_end.close();

  int number = 0;
  const auto count = TEMP_FAILURE_RETRY(read(errors.read_end.get(), &number, sizeof number));
  if (count == sizeof number) {
    reap_child(pid);
    throw cannot_run(program, number);
  }
  return pid;
}

using namespace std::chrono_literals;

constexpr auto patience = 2s;

/// An anonymous file: a pipe would have to be fed while the program runs.
Fd file_with(std::string_view bytes) {
  Fd file(memfd_create("zksh-input", MFD_CLOEXEC));
  if (!file) fail("memfd_create");
  const int problem = FdWriter(file.get(), {}).write(bytes);
  if (problem != 0) throw std::system_error(problem, std::generic_category(), "write");
  if (lseek(file.get(), 0, SEEK_SET) != 0) fail("lseek");
  return file;
}

Pipe reading_pipe() {
  auto pipe = make_pipe();
  if (fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
  return pipe;
}

/// Passes on what can be read now; closes `from` at its end.
void pass_on(Fd& from, const std::function<void(std::string_view)>& take) {
  std::array<char, 16384> buffer{};
  while (from) {
    const auto count = TEMP_FAILURE_RETRY(read(from.get(), buffer.data(), buffer.size()));
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      from.close();
      return;
    }
    if (take) take({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace

std::string find_program(const std::string& name) {
  std::string refused;  // found, but not executable
  for (const std::string& candidate : candidates(name)) {
    const bool file = is_file(candidate);
    if (file && access(candidate.c_str(), X_OK) == 0) return candidate;
    // Skips directories that happen to have the name.
    const bool named = file || candidate == name;
    if (refused.empty() && named && access(candidate.c_str(), F_OK) == 0) refused = candidate;
  }
  if (refused.empty())
    throw Error(fmt::format("{}: program not found", name), status::program_not_found);
  const char* const reason = is_file(refused) ? "permission denied" : "not a regular file";
  throw Error(fmt::format("cannot run {}: {}", refused, reason), status::cannot_run);
}

bool is_program(const std::string& name) {
  try {
    find_program(name);
    return true;
  } catch (const Error& error) {
    return error.exit_status() != status::program_not_found;
  }
}

std::vector<std::string> shell_words(const std::string& text) {
  return {environment("SHELL", "/bin/sh"), "-c", text};
}

ProgramImage::ProgramImage(const Program& program)
    : path(find_program(program.words.at(0))),
      environment(merged_environment(program.environment)) {
  static std::string shell = "sh";
  if (!program.directory.empty()) path = std::filesystem::absolute(path);
  for (const std::string& word : program.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  shell_argv = {shell.data(), path.data()};
  shell_argv.insert(shell_argv.end(), argv.begin() + 1, argv.end());
  for (std::string& entry : environment) envp.push_back(entry.data());
  envp.push_back(nullptr);
}

void remember_ignored_signals() {
  for (const int number : ignored_by_zksh) {
    struct sigaction action {};
    ignored_at_start[static_cast<std::size_t>(number)] =
        sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }
}

int become_program(const char* path, char* const* argv, char* const* shell_argv,
                   char* const* envp) {
  reset_signals();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(path, argv, envp);
  if (errno == ENOEXEC) execve("/bin/sh", shell_argv, envp);
  return errno;
}

const char* limit_reached(int number) {
  switch (number) {
    case EMFILE:
      return "; `ulimit -n` in the shell that starts zksh sets how many files it may have open";
    case ENFILE:
      return "; `sysctl fs.file-max` sets how many files this machine may have open";
    case EAGAIN:
      return "; `ulimit -u` in the shell that starts zksh sets how many processes its user may "
             "have, `ulimit -v` how much memory each may use";
    case ENOMEM:
      return "; `ulimit -v` in the shell that starts zksh sets how much memory it may use";
    default:
      return "";
  }
}

Error cannot_run(const Program& program, int number) {
  const std::string& name = program.words.front();
  const std::string& directory = program.directory;
  if (!directory.empty() && access(directory.c_str(), X_OK) != 0)
    return Error(fmt::format("cannot run {} in {}: {}", name, directory, strerror(number)),
                 status::cannot_run);
  // find_program has seen the file, so ENOENT is about the interpreter in its #! line.
  const char* const reason = number == ENOENT ? "its interpreter is missing" : strerror(number);
  const std::string limit = limit_reached(number);
  return Error(fmt::format("cannot run {}: {}{}", name, reason, limit),
               limit.empty() ? status::cannot_run : status::failure);
}

pid_t start_child(const std::function<pid_t()>& fork) {
  auto& started = started_children();
  // The child never uses it, so it need not be unlocked there.
  started.mutex.lock();
  if (has_child()) started.were_several = true;
  const pid_t child = fork();
  const int problem = errno;
  if (child == 0) return 0;
  if (child > 0) started.pids.insert(child);
  started.mutex.unlock();
  errno = problem;
  return child;
}

void reap_child(pid_t child) {
  siginfo_t info{};
  TEMP_FAILURE_RETRY(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT));
  // Under the lock: once reaped, the pid may be reused.
  auto& started = started_children();
  const std::lock_guard lock(started.mutex);
  waitpid(child, nullptr, 0);
  started.pids.erase(child);
}

bool may_adopt_strangers() {
  if (getpid() == 1) return true;
  auto& started = started_children();
  const std::lock_guard lock(started.mutex);
  return started.were_several;
}

std::vector<pid_t> adopted_children() {
  ProcessTree tree;
  auto& started = started_children();
  const std::lock_guard lock(started.mutex);
  std::vector<pid_t> adopted;
  for (const pid_t child : tree.children(getpid()))
    if (!started.pids.contains(child)) adopted.push_back(child);
  return adopted;
}

namespace {
std::atomic<std::size_t> programs_started{0};
}  // namespace

std::size_t Process::started() { return programs_started; }

Process::Process(Monitor& monitor, const Program& program)
    : monitor_(monitor), own_group_(program.group != Program::Group::Shared) {
  // The watcher must not receive signals: another thread reads them all.
  const SignalsBlocked blocked;
  pid_ = spawn(program);
  ++programs_started;
  watcher_ = std::thread([this] { watch(); });
}

Process::~Process() {
  if (!status()) signal(SIGKILL);
  watcher_.join();
  reap_child(pid_);
}

std::optional<int> Process::status() const {
  return monitor_.with_lock([this](const Monitor::Held& held) { return status(held); });
}

int Process::wait(const std::stop_token& stop) const {
  std::optional<int> result;
  const bool ended = monitor_.wait(
      stop, [&](const Monitor::Held& held) { return (result = status(held)).has_value(); });
  if (!ended) throw Cancelled();
  return *result;
}

void Process::signal(int number) const { kill(own_group_ ? -pid_ : pid_, number); }

void Process::pass_on(const Monitor::Held& held, int number) const {
  signal(number);
  if (stopped(held)) signal(SIGCONT);
}

void Process::resume() const {
  signal(SIGCONT);
  monitor_.wait_until({}, Clock::now() + 1s,
                      [this](const Monitor::Held& held) { return !stopped(held); });
}

void Process::end(std::chrono::milliseconds grace) const {
  const auto has_ended = [this](const Monitor::Held& held) { return status(held).has_value(); };
  signal(SIGTERM);
  signal(SIGCONT);  // a stopped process cannot end
  if (!monitor_.wait_until({}, Clock::now() + grace, has_ended)) signal(SIGKILL);
  wait();
}

void Process::watch() {
  const auto set = [this](std::optional<int> status, int stop_signal) {
    monitor_.change([&](const Monitor::Held& held) { state_(held) = {status, stop_signal}; });
  };
  const auto id = static_cast<id_t>(pid_);
  for (;;) {
    siginfo_t info{};
    if (TEMP_FAILURE_RETRY(waitid(P_PID, id, &info, WEXITED | WSTOPPED | WCONTINUED | WNOWAIT)) !=
        0)
      return set(status::failure, 0);  // somebody else has reaped it
    if (info.si_code == CLD_EXITED) return set(info.si_status, 0);
    if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
      return set(status::signal_base + info.si_status, 0);
    // Consumes what WNOWAIT left, which may be a later change by now, and uses that. Never an end:
    // the destructor reaps the child.
    info = {};
    waitid(P_PID, id, &info, WSTOPPED | WCONTINUED | WNOHANG);
    if (info.si_pid != 0) set({}, info.si_code != CLD_CONTINUED ? info.si_status : 0);
  }
}

int run_piped(Monitor& monitor, const PipedProgram& program, const std::stop_token& stop) {
  const Fd input = file_with(program.input);
  Pipe out = reading_pipe();
  Pipe err = reading_pipe();
  // Not in zksh's group: Ctrl-C at the terminal cancels the command, which ends the program.
  const Process process(monitor, {.words = program.words,
                                  .environment = program.environment,
                                  .redirections = {{STDIN_FILENO, input.get()},
                                                   {STDOUT_FILENO, out.write_end.get()},
                                                   {STDERR_FILENO, err.write_end.get()}},
                                  .group = Program::Group::Own,
                                  .death_signal = SIGTERM});
  out.write_end.close();
  err.write_end.close();
  const auto hand_on = [&] {
    pass_on(out.read_end, program.out);
    pass_on(err.read_end, program.err);
  };
  {
    const Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake) fail("eventfd");
    const std::stop_callback stopped(stop, [&wake] { eventfd_write(wake.get(), 1); });
    const Monitor::Listener ended(monitor, [&](const Monitor::Held& held, const void* /*subject*/) {
      if (process.status(held)) eventfd_write(wake.get(), 1);
    });
    while (!process.status() && !stop.stop_requested()) {
      std::array<pollfd, 3> waits{pollfd{out.read_end.get(), POLLIN, 0},
                                  pollfd{err.read_end.get(), POLLIN, 0},
                                  pollfd{wake.get(), POLLIN, 0}};
      if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) fail("poll");
      hand_on();
    }
  }
  if (stop.stop_requested()) {
    process.end(patience);
    throw Cancelled();
  }
  hand_on();
  return process.status().value_or(status::failure);
}

}  // namespace zksh
