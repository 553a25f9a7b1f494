// LockWatchdog: a process that runs a program under a lock, and ends all of it in time.
#include "lock/watchdog.h"

#include "base/process_setup.h"
#include "base/process_tree.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <memory_resource>
#include <mutex>
#include <new>
#include <poll.h>
#include <sched.h>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

// clone(2) by another name: ThreadSanitizer treats clone as a fork, which would not share memory.
extern "C" int clone_sharing(int (*function)(void*), void* stack, int flags, void* argument,
                             ...) noexcept __asm__("__clone");

namespace zksh {
namespace {

/// Maps anonymous, zeroed memory; `flags` is MAP_SHARED or MAP_PRIVATE. Throws std::system_error.
void* map_memory(std::size_t size, int flags) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return memory;
}

/// A time as a number that processes can share: nanoseconds of BootClock.
std::int64_t count_of(BootClock::time_point time) { return time.time_since_epoch().count(); }
BootClock::time_point time_of(std::int64_t count) {
  return BootClock::time_point(std::chrono::nanoseconds(count));
}

}  // namespace

/// The shared memory, mapped at the same address in both processes. The process that changes
/// something wakes the other through the socket.
struct WatchdogMemory {
  /// More than the kernel allows for arguments and environment (execve(2)).
  static constexpr std::size_t size = std::size_t{8} << 20;

  enum class State : int { Idle, Wanted, Running, Failed };

  // Written by zksh:
  std::atomic<std::int64_t> kill_at = count_of(BootClock::time_point::max());
  std::atomic<std::int64_t> start_until = count_of(BootClock::time_point::max());
  std::atomic<LockWatchdog::Ending> ending = LockWatchdog::Ending::None;
  std::atomic<bool> group_told = false;  ///< zksh has sent SIGTERM to the program's group
  std::atomic<bool> leave = false;       ///< the watchdog must end, whatever is left
  std::int64_t grace = 0;                ///< in nanoseconds; set before State::Wanted, as all below
  bool has_terminal = false;
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* shell_argv = nullptr;
  char* const* envp = nullptr;
  // Written by both:
  std::atomic<State> state = State::Idle;
  // Written by the watchdog:
  std::atomic<int> problem = 0;  ///< errno for State::Failed; ECANCELED: it was too late
  std::atomic<pid_t> program = 0;
  std::atomic<int> status = -1;  ///< -1: it runs
  std::atomic<int> stop_signal = 0;
  std::atomic<int> left = 0;
  std::atomic<bool> gone = false;
  std::atomic<bool> expired = false;  ///< it was killed at kill_at

  /// Copies what a program is started with to the memory after this. Returns false if it does not
  /// fit.
  bool take(const ProgramImage& image) {
    std::pmr::monotonic_buffer_resource room(this + 1, size - sizeof(WatchdogMemory),
                                             std::pmr::null_memory_resource());
    const auto text = [&](std::string_view from) {
      auto* const copy = static_cast<char*>(room.allocate(from.size() + 1, 1));
      copy[from.copy(copy, from.size())] = '\0';
      return copy;
    };
    const auto words = [&](const std::vector<char*>& from) {
      auto** const copy = static_cast<char**>(room.allocate(from.size() * sizeof(char*)));
      std::ranges::transform(from, copy,
                             [&](const char* word) { return word ? text(word) : nullptr; });
      return copy;
    };
    try {
      path = text(image.path);
      argv = words(image.argv);
      shell_argv = words(image.shell_argv);
      envp = words(image.envp);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
};

namespace {

using namespace std::chrono_literals;
using Ending = LockWatchdog::Ending;

constexpr auto no_timer = BootClock::time_point::max();
/// The largest possible pid on 64 bits (PID_MAX_LIMIT).
constexpr std::size_t most_pids = std::size_t{4} << 20;
constexpr std::size_t child_stack_size = std::size_t{256} << 10;
/// How often to look at processes that are to end.
constexpr auto poll_again_after = 5ms;

/// The descriptors of the socket and the program, and the inherited ones; all others are closed.
std::vector<int> descriptors_of(const Program& program, int socket) {
  auto all = inherited_descriptors();
  all.insert(all.end(), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, socket});
  for (const auto& redirection : program.redirections) all.push_back(redirection.source);
  std::ranges::sort(all);
  return all;
}

/// `kept` must be sorted.
void close_all_but(std::span<const int> kept) {
  unsigned first = 0;
  for (const int fd : kept) {
    const auto next = static_cast<unsigned>(fd);
    if (next > first) close_range(first, next - 1, 0);
    first = std::max(first, next + 1);
  }
  close_range(first, UINT_MAX, 0);
}

/// The calling process's share of the processor. Async-signal-safe.
class Priority {
 public:
  /// Puts it before all normal processes, where the machine allows that: on a busy one, a process
  /// that wakes up may wait for its turn longer than a short lease allows.
  void raise() {
    policy_ = sched_getscheduler(0);
    nice_ = getpriority(PRIO_PROCESS, 0);
    const bool normal = policy_ == SCHED_OTHER || policy_ == SCHED_BATCH || policy_ == SCHED_IDLE;
    if (!normal) return;  // chosen by zksh's parent
    const sched_param lowest{.sched_priority = 1};
    raised_ =
        sched_setscheduler(0, SCHED_RR, &lowest) == 0 || setpriority(PRIO_PROCESS, 0, -20) == 0;
  }
  /// Undoes `raise`, which may have been called in a parent process.
  void restore() const {
    if (!raised_) return;
    const sched_param none{};
    sched_setscheduler(0, policy_, &none);
    setpriority(PRIO_PROCESS, 0, nice_);
  }

 private:
  bool raised_ = false;
  int policy_ = SCHED_OTHER;
  int nice_ = 0;
};

/// The code of the forked process. Other threads may have held any lock during the fork, so only
/// async-signal-safe functions may be called. All signals are blocked; only SIGKILL and SIGSTOP
/// reach it.
class ProgramWatch {
 public:
  /// Called before the fork.
  ProgramWatch(WatchdogMemory& shared, const Program& program, int socket)
      : shared_(shared),
        program_words_(program),
        kept_(descriptors_of(program, socket)),
        socket_(socket),
        title_(fmt::format("watchdog {}", getpid())),
        report_(fmt::format("zksh (pid {}) was killed; its watchdog has ended {}\n", getpid(),
                            escape_for_terminal(program.words.front(), true))) {}
  ProgramWatch(const ProgramWatch&) = delete;
  ProgramWatch& operator=(const ProgramWatch&) = delete;
  ~ProgramWatch() {
    munmap(told_, most_pids / 8);
    munmap(stack_, child_stack_size);
  }

  [[noreturn]] void keep() {
    set_up();
    for (;;) {
      wait();
      observe();
      if (shared_.leave) leave();
      if (bereaved_ && (program_ == 0 || shared_.gone)) {
        if (ending_ != Ending::None) report_end();
        leave();
      }
      if (shared_.state == WatchdogMemory::State::Wanted) start();
      if (program_ != 0 && !shared_.gone) end_in_time();
      set_timer(shared_.gone ? no_timer : time_of(shared_.kill_at));
    }
  }

 private:
  using State = WatchdogMemory::State;

  void set_up() {
    self_ = getpid();
    close_all_but(kept_);
    for (const auto& redirection : program_words_.redirections)
      fcntl(redirection.source, F_SETFD, FD_CLOEXEC);
    setpgid(0, 0);
    // So that it is not hit when somebody kills all processes called zksh, or those with the lock's
    // path or the program's words in their command lines.
    prctl(PR_SET_NAME, "watchdog");
    replace_command_line(title_);
    priority_.raise();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    children_ = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    timer_ = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (children_ < 0 || timer_ < 0) _exit(status::failure);
  }

  void wait() {
    std::array<pollfd, 3> waiting{{{.fd = bereaved_ ? -1 : socket_, .events = POLLIN, .revents = 0},
                                   {.fd = children_, .events = POLLIN, .revents = 0},
                                   {.fd = timer_, .events = POLLIN, .revents = 0}}};
    const bool ends = ending_ != Ending::None && !shared_.gone;
    poll(waiting.data(), waiting.size(), ends ? static_cast<int>(poll_again_after.count()) : -1);
    std::array<std::byte, 512> read_in{};
    for (std::size_t i = 1; i < waiting.size(); ++i)
      if (waiting[i].revents != 0) {
        [[maybe_unused]] const auto count = read(waiting[i].fd, read_in.data(), read_in.size());
      }
    if (waiting[0].revents == 0) return;
    const auto count = recv(socket_, read_in.data(), read_in.size(), MSG_DONTWAIT);
    if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) return;
    bereaved_ = true;
    bereaved_at_ = BootClock::now();
  }

  void set_timer(BootClock::time_point time) {
    if (time == std::exchange(timer_time_, time)) return;
    const auto since_boot = time.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    itimerspec when{};  // zero: never
    if (time != no_timer) {
      when.it_value.tv_sec = seconds.count();
      when.it_value.tv_nsec = std::max<std::int64_t>((since_boot - seconds).count(), 1);
    }
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
  }

  /// Notifies zksh. Need not block: if the socket is full, zksh has not yet read the last
  /// notification.
  void tell() const {
    if (bereaved_) return;
    const char word = 0;
    send(socket_, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  bool too_late() const { return BootClock::now() >= time_of(shared_.start_until); }

  void start() {
    if (too_late()) return fail(ECANCELED);
    // As with vfork(2), the child shares this memory until it executes the program: nothing is
    // copied, and its errno is known when this returns.
    const pid_t child =
        clone_sharing([](void* self) { return static_cast<ProgramWatch*>(self)->become(); },
                      stack_ + child_stack_size, CLONE_VM | CLONE_VFORK | SIGCHLD, this);
    if (child < 0) return fail(errno);
    if (shared_.problem != 0) {
      waitpid(child, nullptr, 0);
      return fail(shared_.problem);
    }
    program_ = child;
    shared_.state = State::Running;
    // It must not keep connections or pipes open. While it has stderr, so does zksh or the program.
    std::array<int, 4> own{STDERR_FILENO, socket_, children_, timer_};
    std::ranges::sort(own);
    close_all_but(own);
    tell();
  }
  void fail(int problem) {
    shared_.problem = problem;
    shared_.state = State::Failed;
    tell();
  }

  /// In the child; returns only on failure.
  int become() {
    shared_.problem = prepare();
    if (shared_.problem == 0) {
      // Set here: if the watchdog is killed before it runs again, zksh must know of the program.
      shared_.program = getpid();
      shared_.problem =
          become_program(shared_.path, shared_.argv, shared_.shell_argv, shared_.envp);
      shared_.program = 0;
    }
    return status::program_not_found;
  }
  int prepare() const {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || setpgid(0, 0) != 0) return errno;
    if (getppid() != self_) return ECANCELED;  // the watchdog was killed before that call
    if (shared_.has_terminal) {
      // SIGTTOU is blocked here; otherwise this would stop the child.
      const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
      if (terminal < 0 || tcsetpgrp(terminal, getpid()) != 0) return errno;
    }
    for (const auto& redirection : program_words_.redirections)
      if (dup2(redirection.source, redirection.target) < 0) return errno;
    priority_.restore();
    return too_late() ? ECANCELED : 0;
  }

  /// Looks for processes that have ended or stopped, and notifies zksh.
  void observe() {
    if (program_ == 0 || shared_.gone) return;
    const bool changed = observe_program();
    const int left_before = shared_.left;
    bool others = false;
    const auto children = tree_.children(self_);
    const bool alone = children.size() == 1;
    for (const pid_t child : children)
      if (child != program_ && waitpid(child, nullptr, WNOHANG) != child) others = true;
    if (shared_.status < 0) {
      if (changed) tell();
      return;
    }
    // The program itself remains a zombie, so that its pid and process group id cannot be reused.
    shared_.left = others ? count_living() : 0;
    shared_.gone = alone || (!others && only_program_left());
    if (changed || shared_.gone || shared_.left != left_before) tell();
  }

  bool observe_program() {
    if (shared_.status >= 0) return false;
    bool changed = false;
    for (;;) {
      siginfo_t info{};
      constexpr int all = WEXITED | WSTOPPED | WCONTINUED;
      const auto id = static_cast<id_t>(program_);
      if (waitid(P_PID, id, &info, all | WNOWAIT | WNOHANG) != 0 || info.si_pid == 0)
        return changed;
      changed = true;
      if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) {
        const int base = info.si_code == CLD_EXITED ? 0 : status::signal_base;
        shared_.stop_signal = 0;
        shared_.status = base + info.si_status;
        return changed;
      }
      // Consumes what WNOWAIT left, which may be a later change by now.
      info = {};
      waitid(P_PID, id, &info, WSTOPPED | WCONTINUED | WNOHANG);
      if (info.si_pid != 0)
        shared_.stop_signal = info.si_code != CLD_CONTINUED ? info.si_status : 0;
    }
  }

  int count_living() {
    int living = 0;
    for (const pid_t process : tree_.descendants(self_)) {
      const char state = ProcessTree::stat(process).state;
      if (state != 0 && state != 'Z' && state != 'X') ++living;
    }
    return living;
  }
  bool only_program_left() {
    const auto children = tree_.children(self_);
    return children.size() == 1 && children.front() == program_;
  }

  /// Ends the program if zksh says so, its time has come, or zksh is dead.
  void end_in_time() {
    const auto now = BootClock::now();
    const auto grace = std::chrono::nanoseconds(shared_.grace);
    auto due = shared_.ending.load();
    if (bereaved_)
      due = std::max(due, now < bereaved_at_ + grace ? Ending::Terminate : Ending::Kill);
    if (now >= time_of(shared_.kill_at) && due != Ending::Kill && ending_ != Ending::Kill)
      shared_.expired = true;
    if (ending_ == Ending::Kill || shared_.expired) due = Ending::Kill;
    if (due == Ending::Terminate && ending_ != due) terminate_group(now);
    if (due == Ending::None && ending_ != due) forget_told();
    ending_ = due;
    if (ending_ == Ending::Terminate) terminate(now >= terminated_at_ + grace / 2);
    if (ending_ == Ending::Kill) kill_all();
    if (ending_ != Ending::None) observe();
  }

  void terminate_group(BootClock::time_point now) {
    terminated_at_ = now;
    for (const pid_t process : tree_.descendants(self_))
      if (getpgid(process) == program_) note_told(process);
    if (!shared_.group_told.exchange(true)) kill(-program_, SIGTERM);
    // A stopped process cannot end.
    kill(-program_, SIGCONT);
  }
  /// Each gets only one SIGTERM: for some programs a second one means to end without cleaning up.
  void terminate(bool all) {
    for (const pid_t process : all ? tree_.descendants(self_) : tree_.children(self_)) {
      if (note_told(process)) continue;
      kill(process, SIGTERM);
      kill(process, SIGCONT);
    }
  }
  void kill_all() {
    kill(-program_, SIGKILL);
    for (const pid_t process : tree_.descendants(self_)) kill(process, SIGKILL);
  }
  /// Whether it had been told before.
  bool note_told(pid_t process) {
    const auto number = static_cast<std::size_t>(process);
    if (number >= most_pids) return true;
    auto& byte = told_[number / 8];
    const auto bit = static_cast<std::uint8_t>(1U << (number % 8));
    const bool before = (byte & bit) != 0;
    byte = static_cast<std::uint8_t>(byte | bit);
    return before;
  }

  void forget_told() {
    std::memset(told_, 0, most_pids / 8);
    shared_.group_told = false;
  }

  /// Says that it has ended the program, since zksh cannot. Does not block: a stopped terminal
  /// would keep it for ever.
  void report_end() const {
    pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return;
    [[maybe_unused]] const auto count = write(STDERR_FILENO, report_.data(), report_.size());
  }

  [[noreturn]] void leave() const {
    // zksh, which releases the lock now, must not wait for the processor until this has ended.
    priority_.restore();
    // What was left running must survive; the death signal only affects the program itself.
    if (program_ != 0) waitpid(program_, nullptr, WNOHANG);
    _exit(status::ok);
  }

  WatchdogMemory& shared_;
  const Program& program_words_;
  std::vector<int> kept_;
  int socket_;
  std::string title_;
  std::string report_;  ///< if it has to end the program alone
  Priority priority_;
  pid_t self_ = 0;
  int children_ = -1;
  int timer_ = -1;
  BootClock::time_point timer_time_ = no_timer;
  pid_t program_ = 0;
  bool bereaved_ = false;  ///< zksh is dead
  BootClock::time_point bereaved_at_;
  Ending ending_ = Ending::None;
  BootClock::time_point terminated_at_;
  ProcessTree tree_;
  std::uint8_t* told_ = static_cast<std::uint8_t*>(map_memory(most_pids / 8, MAP_PRIVATE));
  std::byte* stack_ =
      static_cast<std::byte*>(map_memory(child_stack_size, MAP_PRIVATE | MAP_STACK));
};

/// How long a watchdog may take for what should take a millisecond.
constexpr auto patience = 1s;

/// Changes the number of instances; zksh is a subreaper while there are any.
void count_instances(int change) {
  static std::mutex mutex;
  static int instances = 0;
  const std::lock_guard lock(mutex);
  instances += change;
  prctl(PR_SET_CHILD_SUBREAPER, instances > 0 ? 1 : 0, 0, 0, 0);
}

}  // namespace

LockWatchdog::LockWatchdog(Monitor& monitor, Program program)
    : monitor_(monitor),
      program_words_(std::move(program)),
      shared_(new (map_memory(WatchdogMemory::size, MAP_SHARED)) WatchdogMemory,
              [](WatchdogMemory* shared) { munmap(shared, WatchdogMemory::size); }) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  socket_ = Fd(ends[0]);
  Fd theirs(ends[1]);
  const SignalsBlocked blocked;
  count_instances(+1);
  try {
    ProgramWatch watch(*shared_, program_words_, theirs.get());
    pid_ = start_child([] { return fork(); });
    if (pid_ == 0) watch.keep();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    theirs.close();
    watcher_ = std::thread([this] { listen(); });
    maintain();
  } catch (...) {
    if (pid_ > 0) {  // the destructor, which would end it, will not run
      give_up();
      if (watcher_.joinable()) watcher_.join();
      reap_child(pid_);
    }
    count_instances(-1);
    throw;
  }
}

LockWatchdog::~LockWatchdog() {
  const bool started = shared_->program > 0;
  if (started && !dismissed_) {
    end(Ending::Kill);
    monitor_.wait_until({}, Clock::now() + patience, [this](const Monitor::Held& held) {
      return view_(held).killed || view_(held).gone;
    });
  }
  shared_->leave = true;
  wake();
  const bool left =
      monitor_.wait_until({}, Clock::now() + patience,
                          [this](const Monitor::Held& held) { return view_(held).killed; });
  if (!left) give_up();
  watcher_.join();
  if (started && !dismissed_ && !view().gone) end_orphans();
  reap_child(pid_);
  count_instances(-1);
}

bool LockWatchdog::start(const Start& start,
                         const std::function<bool(const Monitor::Held&)>& unwanted) {
  program_words_.environment = start.environment;
  kill(pid_, SIGCONT);  // it may have been stopped during a long wait
  shared_->grace = std::chrono::nanoseconds(start.grace).count();
  shared_->has_terminal = start.has_terminal;
  shared_->start_until = count_of(start.until);
  if (!shared_->take(ProgramImage(program_words_))) throw cannot_run(program_words_, E2BIG);
  shared_->problem = 0;
  monitor_.with_lock([this](const Monitor::Held& held) { settled_(held) = false; });
  shared_->state = WatchdogMemory::State::Wanted;
  wake();
  const auto settled = [this](const Monitor::Held& held) {
    return view_(held).killed || settled_(held);
  };
  monitor_.wait_until({}, Clock::time_point::max(),
                      [&](const Monitor::Held& held) { return settled(held) || unwanted(held); });
  if (!monitor_.with_lock(settled)) {
    // It may be too late to prevent the start; the owner ends the program then.
    shared_->start_until = 0;
    kill(pid_, SIGCONT);
    monitor_.wait_until({}, Clock::now() + patience, settled);
  }
  program_ = shared_->program;
  if (program_ > 0) return true;
  const int problem = shared_->problem;
  if (problem == ECANCELED) return false;
  if (problem != 0) throw cannot_run(program_words_, problem);
  throw Error("the program was not started: its watchdog was killed or does not respond");
}

LockWatchdog::View LockWatchdog::view() const {
  return monitor_.with_lock([this](const Monitor::Held& held) { return view_(held); });
}

/// Runs on its own thread.
void LockWatchdog::listen() {
  const auto note = [this](bool killed) {
    const int status = shared_->status;
    View now{.status = status < 0 ? std::nullopt : std::optional(status),
             .stop_signal = shared_->stop_signal,
             .left = shared_->left,
             .gone = shared_->gone,
             .expired = shared_->expired,
             .killed = killed};
    const auto state = shared_->state.load();
    monitor_.change([&](const Monitor::Held& held) {
      view_(held) = now;
      settled_(held) =
          state == WatchdogMemory::State::Running || state == WatchdogMemory::State::Failed;
    });
  };
  std::array<std::byte, 512> words{};
  for (;;) {
    const auto count = TEMP_FAILURE_RETRY(recv(socket_.get(), words.data(), words.size(), 0));
    if (count <= 0) return note(true);
    note(false);
  }
}

void LockWatchdog::wake() const {
  const char word = 0;
  send(socket_.get(), &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void LockWatchdog::resume(Clock::time_point until) {
  signal(SIGCONT);
  monitor_.wait_until({}, std::min(Clock::now() + patience, until), [this](const auto& held) {
    const auto& view = view_(held);
    return view.stop_signal == 0 || view.status || view.killed;
  });
}

void LockWatchdog::signal(int number) {
  if (number == SIGTERM) shared_->group_told = true;
  if (program_ > 0) kill(-program_, number);
}

void LockWatchdog::end(Ending how) {
  auto before = shared_->ending.load();
  while (before != Ending::Kill && !shared_->ending.compare_exchange_weak(before, how)) {
  }
  wake();
  kill(pid_, SIGCONT);
}

void LockWatchdog::kill_at(BootClock::time_point time) {
  // A later time needs no wake-up: it is seen when the earlier one has come. Nor does the first,
  // which is seen when the program is started.
  const bool earlier = count_of(time) < shared_->kill_at.exchange(count_of(time));
  if (earlier && shared_->state != WatchdogMemory::State::Idle) wake();
}

void LockWatchdog::maintain() {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 && info.si_pid != 0)
    kill(pid_, SIGCONT);
  if (!may_adopt_strangers()) return;
  auto adopted = adopted_children();
  // The watchdog's children become zksh's only after it has ended: none is among these if it lives.
  if (!is_alive()) return;
  std::erase_if(adopted, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) == child; });
  others_ = std::set<pid_t>(adopted.begin(), adopted.end());
}

bool LockWatchdog::is_alive() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

void LockWatchdog::give_up() const { kill(pid_, SIGKILL); }

void LockWatchdog::end_orphans() {
  // The watchdog's socket is closed before its children are reparented to zksh.
  siginfo_t info{};
  TEMP_FAILURE_RETRY(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT));
  ProcessTree tree;
  // A process that is about to become a child during the first pass is one in the second.
  for (int looks_in_vain = 0; looks_in_vain < 2;) {
    ++looks_in_vain;
    for (const pid_t child : adopted_children()) {
      if (others_.contains(child)) continue;
      looks_in_vain = 0;
      for (const pid_t process : tree.descendants(child)) kill(process, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, nullptr, WNOHANG);
    }
    if (looks_in_vain == 0) monitor_.sleep_until({}, Clock::now() + poll_again_after);
  }
  monitor_.change([&](const Monitor::Held& held) {
    auto& view = view_(held);
    if (!view.status) view.status = status::signal_base + SIGKILL;
    view.gone = true;
  });
}

void LockWatchdog::dismiss() {
  dismissed_ = true;
  shared_->leave = true;
  wake();
  kill(pid_, SIGCONT);
}

}  // namespace zksh
