// LockViewer: one look after the other.
#include "lock/lock_viewer.h"

#include "base/time.h"
#include "lock/wait_graph.h"

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
// What closes a circle may be done at other locks, of which no watch tells; and it is much to read.
constexpr auto circles_stay = 2s;
constexpr auto between_circles = 5s;

}  // namespace

LockViewer::LockViewer(Client& client, const std::string& path, bool watch, bool watchers,
                       std::string_view admin_servers, Own own)
    : client_(client),
      path_(path),
      watch_(watch),
      watchers_(watchers),
      own_(std::move(own)),
      reader_(client, path, watch),
      fiber_(client.monitor()),
      nearby_(client, fiber_),
      words_(client.server(), admin_servers) {
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

void LockViewer::look_for_circles(const std::stop_token& stop) {
  circles_looked_ = Clock::now();
  if (client_.current_state() != SessionState::Connected) return;
  auto paths = own_.paths;
  paths.insert(path_);
  std::vector<LockView> views;
  const auto read = [&]() -> Task<> { views = co_await nearby_.read(std::move(paths)); };
  run_task(fiber_, read(), stop);
  circles_ = WaitGraph(views, own_.passing).circles(path_);
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
  for (;;) {
    const auto recheck = somebody_waits_ ? circles_looked_ + between_circles : Fiber::never;
    if (reader_.await_change(stop, std::min(deadline, recheck))) break;
    if (Clock::now() >= deadline) return false;
    const auto before = circles_;
    look_for_circles(stop);
    if (circles_ != before) return true;
  }
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
