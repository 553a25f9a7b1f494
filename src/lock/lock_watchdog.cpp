// LockWatchdog: a process beside zksh that runs a program under a lock, and ends all of it in time.
#include "lock/lock_watchdog.h"

#include "base/process.h"
#include "base/process_tree.h"
#include "lock/watchdog_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// How often what is killed is looked at again.
constexpr auto look_again_after = 5ms;
/// How long a watchdog may take for what takes it a millisecond.
constexpr auto patience = 1s;

/// zksh is a subreaper while there is any of these.
class Subreaper {
 public:
  static void need(int change) {
    static std::mutex mutex;
    static int needed = 0;
    const std::lock_guard lock(mutex);
    needed += change;
    prctl(PR_SET_CHILD_SUBREAPER, needed > 0 ? 1 : 0, 0, 0, 0);
  }
};

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
  Subreaper::need(+1);
  try {
    pid_ = fork_watchdog(*shared_, program_words_, theirs.get());
    theirs.close();
    watcher_ = std::thread([this] { listen(); });
    look_after();
  } catch (...) {
    if (pid_ > 0) {  // nobody is left to tell it anything
      give_up();
      if (watcher_.joinable()) watcher_.join();
      reap_child(pid_);
    }
    Subreaper::need(-1);
    throw;
  }
}

LockWatchdog::~LockWatchdog() {
  const auto is = [this](auto what) {
    return [this, what](const Monitor::Held& held) { return view_(held).killed || what(held); };
  };
  const bool started = shared_->program > 0;
  if (started && !dismissed_) {
    end(Ending::Kill);
    monitor_.wait_until({}, Clock::now() + patience,
                        is([this](const Monitor::Held& held) { return view_(held).gone; }));
  }
  shared_->leave = true;
  wake();
  const bool left = monitor_.wait_until({}, Clock::now() + patience,
                                        is([](const Monitor::Held&) { return false; }));
  if (!left) give_up();
  watcher_.join();
  if (started && !dismissed_ && !view().gone) end_orphans();
  reap_child(pid_);
  Subreaper::need(-1);
}

bool LockWatchdog::start(const Start& start,
                         const std::function<bool(const Monitor::Held&)>& unwanted) {
  program_words_.environment = start.environment;
  kill(pid_, SIGCONT);  // who knows how long it has waited
  shared_->grace = std::chrono::nanoseconds(start.grace).count();
  shared_->has_terminal = start.has_terminal;
  shared_->start_until = count_of(start.until);
  if (!shared_->take(ProgramImage(program_words_))) throw cannot_run(program_words_, E2BIG);
  shared_->state = WatchdogMemory::State::Wanted;
  wake();
  const auto settled = [this](const Monitor::Held& held) {
    return view_(held).killed || settled_(held);
  };
  monitor_.wait_until({}, Clock::time_point::max(),
                      [&](const Monitor::Held& held) { return settled(held) || unwanted(held); });
  if (!monitor_.with_lock(settled)) {
    // It may be too late for that; its owner ends it then.
    shared_->start_until = 0;
    kill(pid_, SIGCONT);
    monitor_.wait_until({}, Clock::now() + patience, settled);
  }
  program_ = shared_->program;
  if (program_ > 0) return true;
  const int problem = shared_->problem;
  if (problem == ECANCELED) return false;
  if (problem != 0) throw cannot_run(program_words_, problem);
  throw Error("the program was not started: its watchdog was killed, or does not answer");
}

LockWatchdog::View LockWatchdog::view() const {
  return monitor_.with_lock([this](const Monitor::Held& held) { return view_(held); });
}

/// On a thread of its own.
void LockWatchdog::listen() {
  const auto note = [this](bool killed) {
    const int status = shared_->status;
    View now{.status = status < 0 ? std::nullopt : std::optional(status),
             .stop_signal = shared_->stop_signal,
             .left = shared_->left,
             .gone = shared_->gone,
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
    const auto count = recv(socket_.get(), words.data(), words.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return note(true);
    note(false);
  }
}

void LockWatchdog::wake() const {
  const char word = 0;
  send(socket_.get(), &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
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
  // A later time is found when the earlier one has come.
  if (count_of(time) < shared_->kill_at.exchange(count_of(time))) wake();
}

void LockWatchdog::look_after() {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 && info.si_pid != 0)
    kill(pid_, SIGCONT);
  auto adopted = adopted_children();
  // Its own children are zksh's only when it has ended, and so at none of these times.
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
  // Its socket is closed before its children are given to us.
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  ProcessTree tree;
  // What was about to become a child at the first look is one at the second.
  for (int looks_in_vain = 0; looks_in_vain < 2;) {
    ++looks_in_vain;
    for (const pid_t child : adopted_children()) {
      if (others_.contains(child)) continue;
      looks_in_vain = 0;
      for (const pid_t process : tree.descendants(child)) kill(process, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, nullptr, WNOHANG);
    }
    if (looks_in_vain == 0)
      monitor_.wait_until({}, Clock::now() + look_again_after,
                          [](const Monitor::Held&) { return false; });
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
