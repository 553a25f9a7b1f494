// LockManager: the locks that this process holds or waits for, each managed by a task.
#include "lock/manager.h"

#include "base/time.h"
#include "client/client.h"
#include "client/guarded_client.h"
#include "command/job_table.h"
#include "command/questions.h"
#include "command/transaction.h"
#include "config/settings.h"
#include "lock/text.h"
#include "lock/wait_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// Most waits end sooner.
constexpr auto first_pause = 1s;
/// A deadlock may arise later, elsewhere.
constexpr Clock::duration longest_pause = 10s;

}  // namespace

/// Looks for deadlocks while a lock of this shell waits and the shell has another that others may
/// wait for: a second after the lock has started to wait or another contender has come to be before
/// it, or after another of the shell's locks has come or gone; then repeatedly, less and less
/// often. Reports a deadlock once, and sets LockStatus::deadlock, which it clears as soon as the
/// lock that closed the circle is gone. Sends a few dozen requests (NearbyLocks), which delay no
/// handoff.
class DeadlockWatch {
 public:
  /// All references must outlive it.
  DeadlockWatch(Client& client, Guarded<OwnLocks>& locks, const LockConsole& reporter)
      : client_(client),
        monitor_(client.monitor()),
        locks_(locks),
        reporter_(reporter),
        fiber_(monitor_),
        nearby_(client, fiber_) {
    fiber_.begin(run());
  }

  /// The fiber of its task, which does not end; driven with those of the locks.
  Fiber& fiber() { return fiber_; }

 private:
  Task<> run() {
    for (;;) {
      co_await fiber_.until([&](const Monitor::Held& held) { return may_deadlock(held); });
      Clock::duration pause = first_pause;
      std::string looked_at;
      for (;;) {
        auto now =
            monitor_.with_lock([&](const Monitor::Held& held) { return after_clearing(held); });
        if (now.empty()) break;
        pause = now == looked_at ? std::min(2 * pause, longest_pause) : first_pause;
        looked_at = std::move(now);
        const auto due = Clock::now() + pause;
        const bool changed = co_await fiber_.until(
            [&](const Monitor::Held& held) { return waits(held) != looked_at; }, due);
        if (changed || client_.current_state() != SessionState::Connected) continue;
        co_await look();
      }
    }
  }

  Task<> look() {
    auto paths = paths_of(locks());
    const auto views = co_await nearby_.read(std::move(paths));
    const WaitGraph graph(views, occupied_nodes(locks()));
    const auto session = client_.session_id();
    for (const auto& lock : locks()) {
      std::optional<Deadlock> deadlock;
      for (const auto& path : lock->paths())
        if (!deadlock) deadlock = graph.deadlock(session, path);
      const bool another = monitor_.with_lock([&](const Monitor::Held& held) {
        auto& status = lock->status_(held);
        if (deadlock && (status.stage != LockStatus::Stage::Waiting || !is_closed(held, *deadlock)))
          deadlock.reset();
        return std::exchange(status.deadlock, deadlock) != deadlock;
      });
      if (another && deadlock) tell(*lock, *deadlock);
    }
  }

  /// Whether one lock waits and there is another that somebody may wait for. Called at every
  /// change.
  bool may_deadlock(const Monitor::Held& held) const {
    std::size_t paths = 0;
    bool waits = false;
    for (const auto& lock : locks_(held)) {
      const auto& status = lock->status(held);
      if (status.is_gone()) continue;
      paths += lock->paths().size();
      waits = waits || status.stage == LockStatus::Stage::Waiting;
    }
    return waits && paths > 1;
  }

  /// Whether this shell still has the lock for which the circle's last session waits.
  bool is_closed(const Monitor::Held& held, const Deadlock& deadlock) const {
    return std::ranges::any_of(locks_(held), [&](const auto& lock) {
      return !lock->is_gone(held) && lock->is_at(deadlock.links.back().path);
    });
  }

  /// Describes the locks, and who waits behind whom; empty if no deadlock is possible.
  std::string waits(const Monitor::Held& held) const {
    std::string text;
    if (!may_deadlock(held)) return text;
    for (const auto& lock : locks_(held)) {
      const auto& status = lock->status(held);
      if (status.is_gone()) continue;
      const bool waits = status.stage == LockStatus::Stage::Waiting;
      text += fmt::format("{} {}\n", lock->name(), waits ? status.place.predecessor_node : "");
    }
    return text;
  }

  /// Clears the deadlocks whose circles have opened since. Returns `waits`.
  std::string after_clearing(const Monitor::Held& held) {
    for (const auto& lock : locks_(held))
      if (auto& deadlock = lock->status_(held).deadlock; deadlock && !is_closed(held, *deadlock))
        deadlock.reset();
    return waits(held);
  }

  OwnLocks locks() const {
    return monitor_.with_lock([&](const Monitor::Held& held) { return locks_(held); });
  }

  void tell(Lock& lock, const Deadlock& deadlock) const {
    if (lock.options().quiet) return;
    const auto leave = lock.plan().in_background() ? "unlock " + lock.name() : "Ctrl-C";
    std::string give_back;
    for (const auto& other : locks())
      if (other.get() != &lock && other->is_at(deadlock.links.back().path))
        give_back = ", or unlock " + other->name();
    reporter_.say(fmt::format("waiting {}: {}; to give up: {}{}", deadlock.links.front().path,
                              own_deadlock_text(deadlock), leave, give_back));
  }

  Client& client_;
  Monitor& monitor_;
  Guarded<OwnLocks>& locks_;
  const LockConsole& reporter_;
  Fiber fiber_;
  NearbyLocks nearby_;
};

LockManager::LockManager(Client& client, LockConsole reporter)
    : monitor_(client.monitor()),
      client_(client),
      reporter_(std::move(reporter)),
      checks_(client),
      deadlocks_(std::make_unique<DeadlockWatch>(client, locks_, reporter_)) {}

LockManager::~LockManager() {
  close(std::chrono::milliseconds(0));
  thread_ = std::jthread();  // while the client still exists
}

namespace {

/// Gone and reported; the manager's thread just has not removed it yet.
bool is_gone_and_reported(const LockStatus& status) {
  return status.is_gone() && (status.stage != LockStatus::Stage::Lost || status.forgotten);
}

std::string already(const Lock& lock, const LockStatus& status, const std::string& path) {
  switch (status.stage) {
    case LockStatus::Stage::Asking:
    case LockStatus::Stage::Waiting:
      return path + ": this shell is already in the queue";
    case LockStatus::Stage::Suspended:
      return path + ": held by this shell, but no server answers at the moment";
    case LockStatus::Stage::Releasing:
      return path + ": this shell is releasing it";
    case LockStatus::Stage::Lost:
      return path + ": this shell's lock was lost; `unlock " + lock.name() + "` confirms that";
    default:
      break;
  }
  const bool counts = !lock.options().is_awaited() && lock.paths().size() == 1;
  return fmt::format("{}: already held by this shell for {}{}", path,
                     short_time(Clock::now() - status.held),
                     counts ? " (use --nest to hold it once more)" : "");
}

}  // namespace

std::shared_ptr<Lock> LockManager::ask(Lock::Plan plan) {
  auto lock = std::make_shared<Lock>(monitor_, std::move(plan), reporter_);
  lock->fiber_.begin(lock->keep(client_, checks_));
  std::string problem;
  monitor_.change([&](const Monitor::Held& held) {
    for (const auto& other : locks_(held)) {
      if (is_gone_and_reported(other->status(held))) continue;
      for (const auto& path : lock->paths())
        if (other->is_at(path)) problem = already(*other, other->status(held), path);
    }
    if (!problem.empty()) return;
    lock->status_(held).asked = Clock::now();
    start(held);  // first, since without a thread there is no lock
    locks_(held).push_back(lock);
  });
  if (!problem.empty()) throw ValueError(problem);
  return lock;
}

void LockManager::prepare() {
  monitor_.with_lock([this](const Monitor::Held& held) { start(held); });
}

void LockManager::start(const Monitor::Held& /*held*/) {
  if (thread_.joinable()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

bool LockManager::await_held(const Lock& lock, Clock::time_point deadline,
                             const std::stop_token& stop) {
  const bool decided = monitor_.wait_until(stop, deadline, [&](const Monitor::Held& held) {
    return lock.status(held).stage >= LockStatus::Stage::Held;
  });
  if (stop.stop_requested() && !decided) throw Cancelled();
  return decided;
}

bool LockManager::await_gone(const Lock& lock, Clock::time_point deadline,
                             const std::stop_token& stop) {
  return monitor_.wait_until(stop, deadline,
                             [&](const Monitor::Held& held) { return lock.is_gone(held); });
}

std::vector<std::shared_ptr<Lock>> LockManager::locks() const {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    auto all = locks_(held);
    std::erase_if(all, [&](const auto& lock) { return is_gone_and_reported(lock->status(held)); });
    return all;
  });
}

std::shared_ptr<Lock> LockManager::find(const std::string& path) const {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::shared_ptr<Lock> {
    for (const auto& lock : locks_(held)) {
      if (is_gone_and_reported(lock->status(held))) continue;
      const auto& nodes = lock->status(held).holding.nodes;
      if (lock->is_at(path) || std::ranges::find(nodes, path) != nodes.end()) return lock;
    }
    return nullptr;
  });
}

std::shared_ptr<Lock> LockManager::lost_lock() const {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::shared_ptr<Lock> {
    for (const auto& lock : locks_(held)) {
      const auto& status = lock->status(held);
      const bool awaited = lock->options().is_awaited();  // its own command returns it
      if (status.stage == LockStatus::Stage::Lost && !status.forgotten && !status.closed_here &&
          !awaited)
        return lock;
    }
    return nullptr;
  });
}

std::vector<WriteGuard> LockManager::guards(const Monitor::Held& held) const {
  std::vector<WriteGuard> all;
  for (const auto& lock : locks_(held)) {
    const auto& status = lock->status(held);
    const bool guards = status.stage >= LockStatus::Stage::Held && !is_gone_and_reported(status);
    if (lock->options().guard && guards)
      std::ranges::move(lock->guards(held), std::back_inserter(all));
  }
  return all;
}

std::string LockManager::summary() const {
  std::string text;
  monitor_.with_lock([&](const Monitor::Held& held) {
    for (const auto& lock : locks_(held)) {
      const auto& status = lock->status(held);
      const char* mark = "";
      if (status.stage == LockStatus::Stage::Suspended) mark = "?";
      if (status.stage == LockStatus::Stage::Lost) mark = " LOST";
      if (status.stage < LockStatus::Stage::Held || is_gone_and_reported(status)) continue;
      text += fmt::format("{}{}{}", text.empty() ? "locked " : ", ", lock->name(), mark);
    }
  });
  return text;
}

std::string LockManager::stop_warning() const {
  const auto locked = summary();
  if (locked.empty()) return "";
  const std::chrono::milliseconds timeout(client_.negotiated_timeout());
  return fmt::format("warning: {}; while zksh is stopped, the locks last at most {}", locked,
                     short_time(timeout));
}

void LockManager::give_back(Lock& lock) {
  constexpr std::chrono::seconds patience{3};
  lock.release();
  await_gone(lock, Clock::now() + patience, {});
}

void LockManager::forget(Lock& lock) {
  monitor_.change([&](const Monitor::Held& held) {
    auto& status = lock.status_(held);
    status.forgotten = status.is_gone();
  });
}

void LockManager::end_programs(const std::stop_token& stop) {
  auto all = locks();
  std::erase_if(all, [](const auto& lock) { return !lock->status().occupied; });
  for (const auto& lock : all) lock->release();
  const std::chrono::milliseconds grace(client_.negotiated_timeout() / 2);
  const auto deadline = Clock::now() + grace + std::chrono::seconds(3);
  for (const auto& lock : all)
    if (!await_gone(*lock, deadline, stop) && stop.stop_requested()) throw Cancelled();
}

void LockManager::close(std::chrono::milliseconds patience) {
  std::vector<std::pair<std::shared_ptr<Lock>, bool>> closing;  // whether they were held
  for (const auto& lock : locks()) {
    const auto before = lock->status();
    lock->release();
    const bool was_held = before.stage >= LockStatus::Stage::Held;
    if (was_held || !before.unwanted)  // locks that are already gone have been reported
      closing.emplace_back(lock, was_held && !before.is_gone());
  }
  const auto deadline = Clock::now() + patience;
  const bool reports = patience.count() > 0;
  for (const auto& [lock, was_held] : closing) {
    if (!await_gone(*lock, deadline, {})) {
      if (reports)
        reporter_.say(
            fmt::format("{}: not released yet, since no server answers; it will be released when "
                        "the session ends",
                        lock->name()));
      continue;
    }
    const auto status = lock->status();
    if (reports && was_held && !lock->options().quiet &&
        status.stage == LockStatus::Stage::Released)
      reporter_.say(released_line(*lock, status));
    forget(*lock);
  }
}

void LockManager::await_loss_commands() const {
  monitor_.wait({}, [&](const Monitor::Held& held) {
    return std::ranges::none_of(locks_(held),
                                [&](const auto& lock) { return lock->loss_command_runs(held); });
  });
}

/// Waiters are woken through the Monitor; only this thread runs the tasks.
void LockManager::serve(const std::stop_token& stop) {
  std::vector<std::shared_ptr<Lock>> ready;
  auto& deadlocks = deadlocks_->fiber();
  while (!stop.stop_requested()) {
    auto deadline = Fiber::never;
    ready.clear();
    const auto collect = [&](const Monitor::Held& held) {
      deadline = Fiber::never;
      for (const auto& lock : locks_(held)) {
        if (lock->fiber_.can_resume(held)) ready.push_back(lock);
        deadline = std::min(deadline, lock->fiber_.deadline());
      }
      deadline = std::min(deadline, deadlocks.deadline());
      return !ready.empty() || deadlocks.can_resume(held);
    };
    if (!monitor_.with_lock(collect)) {
      ready.clear();
      monitor_.wait_until(stop, deadline, collect);
    }
    for (const auto& lock : ready)
      if (!lock->fiber_.ended()) lock->fiber_.resume();
    deadlocks.resume();
    monitor_.with_lock([&](const Monitor::Held& held) {
      std::erase_if(locks_(held), [&](const auto& lock) {
        return is_gone_and_reported(lock->status(held)) && lock->fiber_.ended();
      });
    });
  }
}

bool may_end_session(const Context& cx, bool force) {
  if (force || cx.input == Input::Pipe || cx.services.settings.drop_in) return true;
  std::vector<std::string> ends;
  if (cx.services.jobs && !cx.background)
    for (const auto& job : cx.services.jobs->all())
      ends.push_back(fmt::format("job %{} ({})", job.number, job.line));
  for (const auto& lock : cx.services.locks.locks())
    if (lock->status().is_held()) ends.push_back("the lock " + lock->name());
  if (ends.empty()) return true;
  const auto what = fmt::format("{}", fmt::join(ends, ", "));
  if (!cx.can_ask())
    throw ValueError(fmt::format("this would end {}; --force does it all the same",
                                 cx.out.shown_in_error(what)));
  return !cx.services.settings.confirm ||
         confirmed_by_user(cx, fmt::format("This ends {}. Go on?", cx.out.shown_in_error(what)));
}

void end_work_of_session(Context& cx) {
  if (const auto dropped = cx.transaction.drop()) cx.out.err_line("{}", dropped_text(*dropped));
  // Their last messages come before the session ends. `connect &` is a job itself.
  if (cx.services.jobs && !cx.background)
    cx.services.jobs->end_all(Clock::now() + std::chrono::seconds(2), cx.stop);
  cx.services.locks.end_programs(cx.stop);
}

}  // namespace zksh
