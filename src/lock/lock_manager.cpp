// LockManager: the locks that this process holds or waits for, each managed by a task.
#include "lock/lock_manager.h"

#include "base/fd.h"
#include "base/number.h"
#include "client/node_path.h"
#include "lock/lock_keeper.h"
#include "lock/lock_text.h"
#include "lock/nearby_locks.h"

#include <fmt/ranges.h>

#include <chrono>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::chrono::seconds time_limit{10};

}  // namespace

LossCommand::~LossCommand() {
  if (thread_.joinable()) thread_.join();
}

void LossCommand::start(const Program& program) {
  const bool first = monitor_.with_lock(
      [&](const Monitor::Held& held) { return !std::exchange(started_(held), true); });
  if (!first) return;
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this, program] {
      try {
        run(program);
      } catch (const std::exception& error) {
        fail(error);
      }
      monitor_.change([&](const Monitor::Held& held) { ended_(held) = true; });
    });
  } catch (const std::system_error& error) {
    fail(error);
    monitor_.change([&](const Monitor::Held& held) { ended_(held) = true; });
  }
}

void LossCommand::run(Program program) {
  const Fd empty(open("/dev/null", O_RDONLY | O_CLOEXEC));
  program.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
  program.group = Program::Group::Own;
  auto printed = reporter_.output ? reporter_.output->redirect(program) : std::vector<Fd>();
  const Process command(monitor_, program);
  printed.clear();
  monitor_.wait_until({}, Clock::now() + time_limit,
                      [&](const Monitor::Held& held) { return command.status(held).has_value(); });
}

Lock::Lock(Monitor& monitor, LockPlan plan, const LockReporter& reporter)
    : monitor_(monitor), plan_(std::move(plan)), fiber_(monitor), loss_command_(monitor, reporter) {
  monitor_.with_lock(
      [&](const Monitor::Held& held) { status_(held).kind = kind_of(plan_.request); });
}

std::string kind_of(const LockRequest& request) {
  if (request.recipe == RecipeKind::Semaphore)
    return fmt::format("semaphore of {}", request.leases);
  if (!request.read_write) return "exclusive";
  return request.mode == LockMode::Shared ? "read" : "write";
}

std::string Lock::name() const { return fmt::format("{}", fmt::join(paths(), " ")); }

LockStatus Lock::status() const {
  return monitor_.with_lock([&](const Monitor::Held& held) { return status_(held); });
}

void Lock::release() {
  const auto stage = monitor_.change([&](const Monitor::Held& held) {
    auto& status = status_(held);
    const bool occupied = status.occupied && status.stage != LockStage::Gone;
    (occupied ? status.unwanted : requests_(held).release) = true;
    return status.stage;
  });
  // The cancelled task leaves the queue. A task that holds the lock looks at requests_ instead.
  if (stage < LockStage::Held) fiber_.cancel();
}

bool Lock::is_wanted(const Monitor::Held& held) const {
  const auto& status = status_(held);
  const bool revoked = status.revoked && plan_.on_revoke == OnRevoke::Release;
  return status.is_held() && !revoked && !status.unwanted;
}

std::vector<std::pair<std::string, std::string>> Lock::environment() const {
  const auto holding = status().holding;
  const auto kind = kind_of(plan_.request);
  auto nodes = holding.nodes.front();
  // One for each path, which may have several (--compat all).
  for (std::size_t i = 1; i < holding.nodes.size() && paths().size() > 1; ++i)
    if (parent_path(holding.nodes[i]) != parent_path(holding.nodes[i - 1]))
      nodes += " " + holding.nodes[i];
  return {{"ZKSH_LOCK_PATH", name()},
          {"ZKSH_LOCK_NODE", nodes},
          {"ZKSH_LOCK_TOKEN", tokens_text(holding)},
          {"ZKSH_LOCK_MODE", kind.substr(0, kind.find(' '))},
          {"ZKSH_LOCK_SESSION", session_text(holding.session)}};
}

bool Lock::occupy() {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    return status_(held).occupied = status_(held).is_held() && !requests_(held).release;
  });
}

void Lock::vacate() {
  monitor_.change([&](const Monitor::Held& held) { status_(held).occupied = false; });
}

void Lock::run_loss_command(const std::string& reason) {
  if (plan_.lost_command.empty()) return;
  Program program{.words = shell_words(plan_.lost_command), .environment = environment()};
  program.environment.emplace_back("ZKSH_LOCK_LOSS", reason);
  loss_command_.start(program);
}

void Lock::downgrade(const std::stop_token& stop) {
  auto done = std::make_shared<Guarded<std::optional<std::exception_ptr>>>();
  const auto before = monitor_.change([&](const Monitor::Held& held) {
    const auto& status = status_(held);
    // A waiting lock would answer only once it is held.
    if (status.stage >= LockStage::Held && status.kind == "write") requests_(held).downgrade = done;
    return status;
  });
  if (before.stage < LockStage::Held)
    throw ValueError(name() + ": this shell is still in the queue and does not hold it yet");
  if (before.kind != "write")
    throw ValueError(
        fmt::format("{} {} not held for writing", name(), paths().size() == 1 ? "is" : "are"));
  const bool ended = monitor_.wait(stop, [&](const Monitor::Held& held) {
    return (*done)(held).has_value() || status_(held).stage == LockStage::Gone;
  });
  if (!ended) throw Cancelled(name() + ": the downgrade was sent and may still be applied");
  const auto error = monitor_.with_lock([&](const Monitor::Held& held) { return (*done)(held); });
  if (!error) throw LockLost(name() + " was lost");
  if (*error) std::rethrow_exception(*error);
}

bool Lock::nest() {
  return monitor_.change([&](const Monitor::Held& held) {
    auto& status = status_(held);
    const bool lasts = status.stage == LockStage::Held && BootClock::now() < status.lease.end &&
                       !status.unwanted && !requests_(held).release;
    if (lasts) ++status.nested;
    return lasts;
  });
}

bool Lock::unnest() {
  return monitor_.change([&](const Monitor::Held& held) { return --status_(held).nested <= 0; });
}

LockManager::LockManager(Client& client, LockReporter reporter)
    : monitor_(client.monitor()),
      client_(client),
      reporter_(std::move(reporter)),
      checks_(client),
      circles_(std::make_unique<CircleWatch>(client, locks_, reporter_)) {}

LockManager::~LockManager() {
  close(std::chrono::milliseconds(0));
  thread_ = std::jthread();  // while the client still exists
}

namespace {

/// Gone, and reported; the manager's thread has only not removed it yet.
bool is_over(const LockStatus& status) {
  return status.stage == LockStage::Gone && (status.end != LockEnd::Lost || status.forgotten);
}

std::string already(const Lock& lock, const LockStatus& status, const std::string& path) {
  switch (status.stage) {
    case LockStage::Asking:
    case LockStage::Waiting:
      return path + ": this shell is already in the queue";
    case LockStage::Suspended:
      return path + ": held by this shell, but no server answers at the moment";
    case LockStage::Releasing:
      return path + ": this shell is releasing it";
    case LockStage::Gone:
      return path + ": this shell's lock was lost; `unlock " + lock.name() + "` confirms that";
    default:
      break;
  }
  const std::chrono::duration<double> since = Clock::now() - status.held;
  const bool counts = !lock.plan().awaited && lock.paths().size() == 1;
  return fmt::format("{}: already held by this shell for {:.1f} s{}", path, since.count(),
                     counts ? " (use --nest to hold it once more)" : "");
}

}  // namespace

std::shared_ptr<Lock> LockManager::ask(LockPlan plan) {
  auto lock = std::make_shared<Lock>(monitor_, std::move(plan), reporter_);
  lock->fiber_.begin(keep_lock(client_, *lock, reporter_, checks_));
  std::string problem;
  monitor_.change([&](const Monitor::Held& held) {
    for (const auto& other : locks_(held)) {
      if (is_over(other->status(held))) continue;
      for (const auto& path : lock->paths())
        if (other->is_at(path)) problem = already(*other, other->status(held), path);
    }
    if (!problem.empty()) return;
    lock->status_(held).asked = Clock::now();
    // First, since without a thread there is no lock.
    if (!thread_.joinable())
      thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    locks_(held).push_back(lock);
  });
  if (!problem.empty()) throw ValueError(problem);
  return lock;
}

bool LockManager::await_held(const Lock& lock, Clock::time_point deadline,
                             const std::stop_token& stop) {
  const bool decided = monitor_.wait_until(stop, deadline, [&](const Monitor::Held& held) {
    const auto stage = lock.stage(held);
    return stage != LockStage::Asking && stage != LockStage::Waiting;
  });
  if (stop.stop_requested() && !decided) throw Cancelled();
  return decided;
}

bool LockManager::await_gone(const Lock& lock, Clock::time_point deadline,
                             const std::stop_token& stop) {
  return monitor_.wait_until(stop, deadline, [&](const Monitor::Held& held) {
    return lock.stage(held) == LockStage::Gone;
  });
}

std::vector<std::shared_ptr<Lock>> LockManager::locks() const {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    auto all = locks_(held);
    std::erase_if(all, [&](const auto& lock) { return is_over(lock->status(held)); });
    return all;
  });
}

std::shared_ptr<Lock> LockManager::find(const std::string& path) const {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::shared_ptr<Lock> {
    for (const auto& lock : locks_(held)) {
      if (is_over(lock->status(held))) continue;
      const auto& nodes = lock->status(held).holding.nodes;
      if (lock->is_at(path) || std::ranges::find(nodes, path) != nodes.end()) return lock;
    }
    return nullptr;
  });
}

GuardedClient::Guards LockManager::guards(const Monitor::Held& held) const {
  GuardedClient::Guards all;
  for (const auto& lock : locks_(held)) {
    const auto& status = lock->status(held);
    const bool guards =
        status.stage == LockStage::Gone ? !is_over(status) : status.stage >= LockStage::Held;
    if (!lock->plan().guard || !guards) continue;
    for (const auto& node : status.holding.nodes)
      all.push_back({.node = node, .lock = lock->name()});
  }
  return all;
}

std::string LockManager::summary() const {
  std::string text;
  monitor_.with_lock([&](const Monitor::Held& held) {
    for (const auto& lock : locks_(held)) {
      const auto& status = lock->status(held);
      const char* mark = "";
      if (status.stage == LockStage::Suspended) mark = "?";
      if (status.end == LockEnd::Lost) mark = " LOST";
      if (status.stage < LockStage::Held || is_over(status)) continue;
      text += fmt::format("{}{}{}", text.empty() ? "locked " : ", ", lock->name(), mark);
    }
  });
  return text;
}

std::string LockManager::stop_warning() const {
  const auto locked = summary();
  if (locked.empty()) return "";
  const std::chrono::milliseconds timeout(client_.negotiated_timeout());
  return fmt::format("warning: {}; while zksh is stopped, the locks last at most {:g} s", locked,
                     std::chrono::duration<double>(timeout).count());
}

void LockManager::give_back(Lock& lock) {
  constexpr std::chrono::seconds patience{3};
  lock.release();
  await_gone(lock, Clock::now() + patience, {});
}

void LockManager::forget(const Lock& lock) {
  monitor_.change([&](const Monitor::Held& held) {
    for (const auto& other : locks_(held))
      if (other.get() == &lock && lock.stage(held) == LockStage::Gone)
        other->status_(held).forgotten = true;
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
  struct Closing {
    std::shared_ptr<Lock> lock;
    bool was_held;
  };
  std::vector<Closing> closing;
  for (const auto& lock : locks()) {
    const auto stage = lock->status().stage;
    const bool given_up = monitor_.with_lock(
        [&](const Monitor::Held& held) { return lock->requests_(held).release; });
    lock->release();
    if (stage >= LockStage::Held || !given_up)  // locks that are already gone have been reported
      closing.push_back({lock, stage >= LockStage::Held && stage != LockStage::Gone});
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
    if (reports && was_held && !lock->plan().quiet && status.end == LockEnd::Released)
      reporter_.say(released_line(*lock, status));
    forget(*lock);
  }
}

/// Waiters are woken through the Monitor; only this thread runs the tasks.
void LockManager::serve(const std::stop_token& stop) {
  std::vector<std::shared_ptr<Lock>> ready;
  auto& circles = circles_->fiber();
  while (!stop.stop_requested()) {
    auto deadline = Fiber::never;
    ready.clear();
    const auto collect = [&](const Monitor::Held& held) {
      deadline = Fiber::never;
      for (const auto& lock : locks_(held)) {
        if (lock->fiber_.can_resume(held)) ready.push_back(lock);
        deadline = std::min(deadline, lock->fiber_.deadline());
      }
      deadline = std::min(deadline, circles.deadline());
      return !ready.empty() || circles.can_resume(held);
    };
    if (!monitor_.with_lock(collect)) {
      ready.clear();
      monitor_.wait_until(stop, deadline, collect);
    }
    for (const auto& lock : ready)
      if (!lock->fiber_.ended()) lock->fiber_.resume();
    circles.resume();
    monitor_.with_lock([&](const Monitor::Held& held) {
      std::erase_if(locks_(held), [&](const auto& lock) {
        return is_over(lock->status(held)) && lock->fiber_.ended();
      });
    });
  }
}

}  // namespace zksh
