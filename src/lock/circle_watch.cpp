// CircleWatch: when it looks, and what it says.
#include "lock/circle_watch.h"

#include "base/quoting.h"
#include "lock/wait_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// Most waits are over by then.
constexpr auto first_pause = 1s;
/// A circle may close later, elsewhere.
constexpr Clock::duration longest_pause = 10s;

}  // namespace

CircleWatch::CircleWatch(Client& client, Source locks, const LockTable::Teller& teller)
    : client_(client),
      monitor_(client.monitor()),
      locks_(std::move(locks)),
      teller_(teller),
      strand_(monitor_),
      nearby_(client, strand_) {
  strand_.begin(run());
}

/// Whether one waits, and there is another that somebody may wait for. Asked at every change.
bool CircleWatch::may_close(const Monitor::Held& held) const {
  std::size_t paths = 0;
  bool waits = false;
  for (const auto& lock : locks_(held)) {
    const auto stage = lock->stage(held);
    if (stage == LockStage::Gone) continue;
    paths += lock->plan().paths.size();
    waits = waits || stage == LockStage::Waiting;
  }
  return waits && paths > 1;
}

/// Who waits, and behind whom; empty where no circle can be.
std::string CircleWatch::waits(const Monitor::Held& held) const {
  std::string text;
  if (!may_close(held)) return text;
  for (const auto& lock : locks_(held))
    if (const auto& status = lock->status(held); status.stage == LockStage::Waiting)
      text += fmt::format("{} {}\n", lock->name(), status.place.behind_node);
  return text;
}

Flow<> CircleWatch::run() {
  for (;;) {
    co_await strand_.until([&](const Monitor::Held& held) { return may_close(held); });
    Clock::duration pause = first_pause;
    std::string looked_at;
    for (;;) {
      auto now = monitor_.look([&](const Monitor::Held& held) { return waits(held); });
      if (now.empty()) break;
      pause = now == looked_at ? std::min(2 * pause, longest_pause) : first_pause;
      looked_at = std::move(now);
      const auto due = Clock::now() + pause;
      const bool changed = co_await strand_.until(
          [&](const Monitor::Held& held) { return waits(held) != looked_at; }, due);
      if (changed || client_.current_state() != SessionState::Connected) continue;
      co_await look();
    }
  }
}

OwnLocks CircleWatch::locks() const {
  return monitor_.look([&](const Monitor::Held& held) { return locks_(held); });
}

Flow<> CircleWatch::look() {
  auto paths = paths_of(locks());
  const auto views = co_await nearby_.read(std::move(paths));
  const WaitGraph graph(views, occupied_nodes(locks()));
  const auto session = client_.session_id();
  for (const auto& lock : locks()) {
    std::optional<LockCircle> circle;
    for (const auto& path : lock->plan().paths)
      if (!circle) circle = graph.circle(session, path);
    const bool another = monitor_.look([&](const Monitor::Held& held) {
      auto& status = lock->status_(held);
      if (status.stage != LockStage::Waiting) circle.reset();
      return std::exchange(status.circle, circle) != circle;
    });
    if (another && circle) tell(*lock, *circle);
  }
}

void CircleWatch::tell(Lock& lock, const LockCircle& circle) const {
  if (!lock.plan().report.waiting) return;  // it is to be quiet
  const auto leave = lock.plan().job ? "unlock " + lock.name() : "Ctrl-C";
  std::string give_back;
  for (const auto& other : locks()) {
    const auto& paths = other->plan().paths;
    if (other.get() != &lock && std::ranges::find(paths, circle.links.back().path) != paths.end())
      give_back = ", or unlock " + other->name();
  }
  teller_.say(fmt::format("waiting {}: {}; give one up: {}{}", circle.links.front().path,
                          own_circle_text(circle), leave, give_back));
}

}  // namespace zksh
