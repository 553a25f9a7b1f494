// Lock: a lock that this process holds or waits for.
#include "lock/lock.h"

#include "base/fd.h"
#include "base/number.h"
#include "client/guarded_client.h"
#include "client/node_path.h"
#include "lock/text.h"

#include <fmt/ranges.h>

#include <chrono>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace zksh {

Lock::Lock(Monitor& monitor, Plan plan, LockConsole reporter)
    : monitor_(monitor), plan_(std::move(plan)), reporter_(std::move(reporter)), fiber_(monitor) {
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

std::vector<WriteGuard> Lock::guards(const Monitor::Held& held) const {
  std::vector<WriteGuard> guards;
  for (const auto& node : status_(held).holding.nodes)
    guards.push_back({.node = node, .lock = name()});
  return guards;
}

LockStatus Lock::status() const {
  return monitor_.with_lock([&](const Monitor::Held& held) { return status_(held); });
}

void Lock::release() {
  const auto stage = monitor_.change([&](const Monitor::Held& held) {
    status_(held).unwanted = true;
    return status_(held).stage;
  });
  // The cancelled task leaves the queue. A task that holds the lock looks at its status instead.
  if (stage < LockStatus::Stage::Held) fiber_.cancel();
}

bool Lock::is_wanted(const Monitor::Held& held) const {
  const auto& status = status_(held);
  const bool revoked = status.revoked && options().when_revoked() == OnRevoke::Release;
  return status.is_held() && !revoked && !status.unwanted;
}

std::vector<std::pair<std::string, std::string>> Lock::environment() const {
  const auto holding = status().holding;
  const auto kind = kind_of(plan_.request);
  auto nodes = holding.nodes.front();
  // One for each path; a path may have several nodes (--compat all).
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
  // Reads what `release` sets and sets `occupied` in one step: once this has returned true, the
  // keeper never sees the lock unwanted and not occupied.
  return monitor_.with_lock([&](const Monitor::Held& held) {
    return status_(held).occupied = status_(held).is_held() && !status_(held).unwanted;
  });
}

void Lock::vacate() {
  monitor_.change([&](const Monitor::Held& held) { status_(held).occupied = false; });
}

void Lock::run_loss_command(const std::string& reason) {
  const auto command = options().lost_command.value_or("");
  if (command.empty()) return;
  const bool first = monitor_.with_lock(
      [&](const Monitor::Held& held) { return !std::exchange(loss_command_begun_(held), true); });
  if (!first) return;
  Program program{.words = shell_words(command), .environment = environment()};
  program.environment.emplace_back("ZKSH_LOCK_LOSS", reason);
  const auto end = [this] {
    monitor_.change([&](const Monitor::Held& held) { loss_command_ended_(held) = true; });
  };
  const auto fail = [this](const std::exception& error) {
    reporter_.say(std::string("--on-lost: ") + error.what());
  };
  const SignalsBlocked blocked;
  try {
    loss_thread_ = std::jthread([this, program, end, fail] {
      try {
        run(program);
      } catch (const std::exception& error) {
        fail(error);
      }
      end();
    });
  } catch (const std::system_error& error) {
    fail(error);
    end();
  }
}

void Lock::run(Program loss_command) const {
  constexpr std::chrono::seconds time_limit{10};
  const Fd empty(open("/dev/null", O_RDONLY | O_CLOEXEC));
  loss_command.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
  loss_command.group = Program::Group::Own;
  auto printed = reporter_.output ? reporter_.output->redirect(loss_command) : std::vector<Fd>();
  const Process process(monitor_, loss_command);
  printed.clear();
  monitor_.wait_until({}, Clock::now() + time_limit,
                      [&](const Monitor::Held& held) { return process.status(held).has_value(); });
}

void Lock::downgrade(const std::stop_token& stop) {
  const auto done = std::make_shared<Downgrade>();
  const auto before = monitor_.change([&](const Monitor::Held& held) {
    const auto& status = status_(held);
    // A waiting lock would answer only once it is held.
    if (status.stage >= LockStatus::Stage::Held && status.kind == "write") downgrade_(held) = done;
    return status;
  });
  if (before.stage < LockStatus::Stage::Held)
    throw ValueError(name() + ": this shell is still in the queue and does not hold it yet");
  if (before.kind != "write")
    throw ValueError(
        fmt::format("{} {} not held for writing", name(), paths().size() == 1 ? "is" : "are"));
  const bool ended = monitor_.wait(
      stop, [&](const Monitor::Held& held) { return (*done)(held).has_value() || is_gone(held); });
  if (!ended) throw Cancelled(name() + ": the downgrade was sent and may still be applied");
  const auto error = monitor_.with_lock([&](const Monitor::Held& held) { return (*done)(held); });
  if (!error) throw LockLost(name() + " was lost");
  if (*error) std::rethrow_exception(*error);
}

bool Lock::nest() {
  return monitor_.change([&](const Monitor::Held& held) {
    auto& status = status_(held);
    const bool lasts = status.stage == LockStatus::Stage::Held &&
                       BootClock::now() < status.lease.end && !status.unwanted;
    if (lasts) ++status.nested;
    return lasts;
  });
}

bool Lock::unnest() {
  return monitor_.change([&](const Monitor::Held& held) { return --status_(held).nested <= 0; });
}

}  // namespace zksh
