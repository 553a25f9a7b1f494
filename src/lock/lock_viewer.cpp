// LockViewer: one look after the other.
#include "lock/lock_viewer.h"

#include "base/time_text.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

// Quicker than people see, and slow enough for the servers when a lock changes hands all the time.
constexpr auto between_looks = 100ms;
constexpr auto sessions_stay = 10s;
// A waiter sets its watch a moment after it has read the queue.
constexpr auto watch_delay = 100ms;
constexpr int watch_patience = 3;

}  // namespace

LockViewer::LockViewer(Client& client, const std::string& path, bool watch, bool watchers)
    : client_(client),
      path_(path),
      watch_(watch),
      watchers_(watchers),
      reader_(client, path, watch),
      words_(client.server()) {
  changes_.since = wall_clock_now();
}

LockView LockViewer::look(const std::stop_token& stop) {
  LockView view;
  view.path = path_;
  view.kind = "missing";
  if (const auto reading = reader_.read(stop)) {
    for (int i = 0; i < watch_patience; ++i) {
      view = make_lock_view(*reading, ask(*reading), words_.chroot(), client_.session_id());
      if (!watchers_may_come(view)) break;
      pause(watch_delay, stop);
    }
  }
  if (watch_) note_changes(view);
  looked_ = Clock::now();
  return view;
}

ServersAccount LockViewer::ask(const LockReading& reading) {
  std::set<std::int64_t> owners;
  for (const auto& [name, entry] : reading.entries) owners.insert(entry.stat.ephemeral_owner);
  if (reading.semaphore)
    for (const auto& [name, entry] : reading.semaphore->entries)
      owners.insert(entry.stat.ephemeral_owner);
  const auto now = Clock::now();
  const bool unknown = std::ranges::any_of(
      owners, [&](std::int64_t session) { return !asked_sessions_.contains(session); });
  asked_sessions_ = owners;
  const bool sessions =
      sessions_asked_ == Clock::time_point() || unknown || now - sessions_asked_ > sessions_stay;
  auto account =
      words_.ask({.sessions = sessions, .watches = true, .watchers = watchers_, .events = watch_});
  if (sessions) {
    sessions_asked_ = now;
    addresses_ = account.addresses;
    all_addresses_ = account.all_addresses;
    sessions_ = account.sessions;
  }
  account.addresses = addresses_;
  account.all_addresses = all_addresses_;
  if (account.watches)
    *account.watches -= std::min(*account.watches, static_cast<std::int64_t>(reader_.watches()));
  account.sessions = sessions_;
  return account;
}

bool LockViewer::watchers_may_come(const LockView& view) const {
  return view.measured && std::ranges::any_of(view.seats, [](const LockSeat& seat) {
           return seat.state == SeatState::Waits && !seat.waits_for;
         });
}

void LockViewer::note_changes(const LockView& view) {
  ContenderKeys there;
  for (const auto& seat : view.seats) there.emplace(seat.contender.key());
  changes_.left += static_cast<std::size_t>(
      std::ranges::count_if(there_, [&](const std::string& key) { return !there.contains(key); }));
  there_ = std::move(there);
  if (!view.account.events) return;
  const auto own = reader_.events();
  if (!own_at_first_) own_at_first_ = own;
  changes_.events = {
      .deleted = view.account.events->deleted - (own.deleted - own_at_first_->deleted),
      .children = view.account.events->children - (own.children - own_at_first_->children)};
}

void LockViewer::await_change(const std::stop_token& stop) {
  await_change(stop, Clock::time_point::max());
}

bool LockViewer::await_change(const std::stop_token& stop, Clock::time_point deadline) {
  if (!reader_.await_change(stop, deadline)) return false;
  if (const auto left = looked_ + between_looks - Clock::now(); left > 0ms)
    pause(std::chrono::ceil<std::chrono::milliseconds>(left), stop);
  return true;
}

void LockViewer::pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  client_.monitor().wait_until(stop, Clock::now() + time,
                               [](const Monitor::Held&) { return false; });
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace zksh
