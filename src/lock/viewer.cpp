// LockViewer: what `locks` shows of a lock, once or again and again.
#include "lock/viewer.h"

#include "base/time.h"
#include "config/settings.h"
#include "lock/manager.h"
#include "lock/own_locks.h"
#include "lock/wait_graph.h"

#include <algorithm>

namespace zksh {
namespace {

using namespace std::chrono_literals;

// Fast enough for people, and slow enough for the servers if a lock changes hands all the time.
constexpr auto between_looks = 100ms;
constexpr auto sessions_stay = 10s;
// A waiter sets its watch shortly after reading the queue.
constexpr auto watch_delay = 100ms;
constexpr int watch_patience = 2;
// Servers list all watches at once. With -w they do so at every change.
constexpr std::int64_t cheap_watches = 10'000;
constexpr std::int64_t cheap_watches_each_time = 1'000;
// A deadlock may arise at other locks, which are not watched, and searching costs many reads.
constexpr auto circles_stay = 2s;
constexpr auto between_circles = 5s;

ContenderKeys without_watch(const LockView& view) {
  ContenderKeys keys;
  if (!view.measured) return keys;
  for (const auto& seat : view.seats)
    if (seat.watches_no_node()) keys.emplace(seat.contender.key());
  return keys;
}

}  // namespace

LockViewer::LockViewer(Context& cx, const std::string& path, bool watch, bool watchers)
    : client_(cx.client),
      path_(path),
      watch_(watch),
      watchers_(watchers),
      reader_(client_, path, watch),
      fiber_(client_.monitor()),
      nearby_(client_, fiber_),
      words_(client_.server(), cx.services.settings.value("admin-server")) {
  const auto own = cx.services.locks.locks();
  own_paths_ = paths_of(own);
  passing_ = occupied_nodes(own);
  changes_.since = wall_clock_now();
}

LockView LockViewer::look(const std::stop_token& stop) {
  LockView view;
  view.path = path_;
  view.kind = "missing";
  if (!watch_) ask_ahead(stop);
  if (const auto reading = reader_.read(stop)) {
    for (int left = watch_patience;; --left) {
      view = view_of(*reading);
      if (left == 0 || !watchers_may_come(view)) break;
      pause(watch_delay, stop);
    }
    if (!watchers_) view.account.no_watchers.clear();
    without_watch_ = without_watch(view);
  }
  somebody_waits_ = std::ranges::any_of(view.seats, [](const LockSeat& seat) {
    return seat.state == SeatState::Waits || seat.state == SeatState::Next;
  });
  if (!somebody_waits_)
    circles_.clear();
  else if (Clock::now() - circles_looked_ > circles_stay)
    look_for_circles(stop);
  view.circles = circles_;
  if (watch_) note_changes(view);
  looked_ = Clock::now();
  return view;
}

bool LockViewer::await_change(const std::stop_token& stop, Clock::time_point deadline) {
  for (;;) {
    const auto recheck = somebody_waits_ ? circles_looked_ + between_circles : Fiber::never;
    if (reader_.await_change(stop, std::min(deadline, recheck))) break;
    if (Clock::now() >= deadline) return false;
    const auto before = circles_;
    look_for_circles(stop);
    if (circles_ != before || late_watches(stop)) return true;
  }
  if (const auto left = looked_ + between_looks - Clock::now(); left > 0ms)
    pause(std::chrono::ceil<std::chrono::milliseconds>(left), stop);
  return true;
}

LockView LockViewer::view_of(const LockReading& reading) {
  // Only a viewer that goes on has watches.
  return make_lock_view(reading, ask(reading), words_.chroot(), watch_ ? client_.session_id() : 0);
}

/// Whether contenders that watched none of the others do so now.
bool LockViewer::late_watches(const std::stop_token& stop) {
  if (without_watch_.empty()) return false;
  const auto reading = reader_.read(stop);
  return !reading || without_watch(view_of(*reading)) != without_watch_;
}

void LockViewer::look_for_circles(const std::stop_token& stop) {
  circles_looked_ = Clock::now();
  if (client_.current_state() != SessionState::Connected) return;
  auto paths = own_paths_;
  paths.insert(path_);
  std::vector<LockView> views;
  const auto read = [&]() -> Task<> { views = co_await nearby_.read(std::move(paths)); };
  run_task(fiber_, read(), stop);
  circles_ = WaitGraph(views, passing_).circles(path_);
}

/// Asks the servers what does not depend on the queue, while that is read.
void LockViewer::ask_ahead(const std::stop_token& stop) {
  client_.await_connection(path_, stop);
  ahead_ = std::async(std::launch::async, [this] {
    return words_.ask({.sessions = true, .watches = true, .watchers = watchers_},
                      client_.round_trip());
  });
}

/// What ask_ahead has learnt; nullopt if it is not enough: a contender has come meanwhile.
std::optional<ServersAccount> LockViewer::asked_ahead(const std::set<std::int64_t>& owners,
                                                      std::int64_t most_watches) {
  if (!ahead_.valid()) return std::nullopt;
  auto account = ahead_.get();
  const auto is_known = [&](std::int64_t session) {
    return session == 0 || !account.sessions || account.sessions->contains(session);
  };
  if (!std::ranges::all_of(owners, is_known)) return std::nullopt;
  if (!watchers_) words_.add_watchers(account, most_watches);
  return account;
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
  const auto most_watches = reading.entries.size() < 2 ? -1
                            : watch_                   ? cheap_watches_each_time
                                                       : cheap_watches;
  auto known = asked_ahead(owners, most_watches);
  auto account = known ? std::move(*known)
                       : words_.ask({.sessions = sessions,
                                     .watches = true,
                                     .watchers = watchers_,
                                     .watchers_up_to = most_watches,
                                     .events = watch_},
                                    client_.round_trip());
  if (sessions) {
    sessions_asked_ = now;
    of_sessions_ = account;
  }
  account.addresses = of_sessions_.addresses;
  account.all_addresses = of_sessions_.all_addresses;
  account.sessions = of_sessions_.sessions;
  if (account.watches)
    *account.watches -= std::min(*account.watches, static_cast<std::int64_t>(reader_.watches()));
  return account;
}

/// Whether there are contenders that have not been seen without a watch before.
bool LockViewer::watchers_may_come(const LockView& view) const {
  return std::ranges::any_of(without_watch(view),
                             [&](const std::string& key) { return !without_watch_.contains(key); });
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

void LockViewer::pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  client_.monitor().sleep_until(stop, Clock::now() + time);
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace zksh
