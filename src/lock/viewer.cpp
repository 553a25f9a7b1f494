// LockViewer: what `locks` shows of a lock, once or again and again. LockSearch: finds locks.
#include "lock/viewer.h"

#include "base/time.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/work_limits.h"
#include "config/settings.h"
#include "lock/manager.h"
#include "lock/text.h"
#include "tree/walk.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

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
constexpr auto deadlocks_stay = 2s;
constexpr auto between_deadlocks = 5s;

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
      words_(client_.server(), cx.services.settings.value("admin-server"), cx.stop) {
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
      client_.monitor().pause_until(stop, Clock::now() + watch_delay);
    }
    if (!watchers_) view.account.no_watchers.clear();
    without_watch_ = without_watch(view);
  }
  somebody_waits_ = std::ranges::any_of(view.seats, [](const Seat& seat) {
    return seat.state == SeatState::Waits || seat.state == SeatState::Next;
  });
  if (!somebody_waits_)
    deadlocks_.clear();
  else if (Clock::now() - deadlocks_looked_ > deadlocks_stay)
    look_for_deadlocks(stop);
  view.deadlocks = deadlocks_;
  if (watch_) note_changes(view);
  looked_ = Clock::now();
  return view;
}

bool LockViewer::await_change(const std::stop_token& stop, Clock::time_point deadline) {
  for (;;) {
    const auto recheck = somebody_waits_ ? deadlocks_looked_ + between_deadlocks : Fiber::never;
    if (reader_.await_change(stop, std::min(deadline, recheck))) break;
    if (Clock::now() >= deadline) return false;
    const auto before = deadlocks_;
    look_for_deadlocks(stop);
    if (deadlocks_ != before || late_watches(stop)) return true;
  }
  if (const auto next = looked_ + between_looks; next > Clock::now())
    client_.monitor().pause_until(stop, next);
  return true;
}

LockView LockViewer::view_of(const QueueReading& reading) {
  // Only a viewer that looks repeatedly has watches.
  return make_lock_view(reading, ask(reading), words_.chroot(), watch_ ? client_.session_id() : 0);
}

/// Whether contenders that watched none of the others do so now.
bool LockViewer::late_watches(const std::stop_token& stop) {
  if (without_watch_.empty()) return false;
  const auto reading = reader_.read(stop);
  return !reading || without_watch(view_of(*reading)) != without_watch_;
}

void LockViewer::look_for_deadlocks(const std::stop_token& stop) {
  deadlocks_looked_ = Clock::now();
  if (client_.current_state() != SessionState::Connected) return;
  auto paths = own_paths_;
  paths.insert(path_);
  std::vector<LockView> views;
  const auto read = [&]() -> Task<> { views = co_await nearby_.read(std::move(paths)); };
  run_task(fiber_, read(), stop);
  deadlocks_ = WaitGraph(views, passing_).deadlocks(path_);
}

/// Asks the servers for what does not depend on the queue while the queue is read.
void LockViewer::ask_ahead(const std::stop_token& stop) {
  client_.await_connection(path_, stop);
  ahead_ = std::async(std::launch::async, [this] {
    return words_.ask({.sessions = true, .watches = true, .watchers = watchers_},
                      client_.round_trip());
  });
}

/// What ask_ahead has learnt; nullopt if it is not enough: a contender has come meanwhile.
std::optional<ServersAccount> LockViewer::asked_ahead(const std::set<std::int64_t>& owners) {
  if (!ahead_.valid()) return std::nullopt;
  auto account = ahead_.get();
  const auto is_known = [&](std::int64_t session) {
    return session == 0 || !account.sessions || account.sessions->contains(session);
  };
  if (!std::ranges::all_of(owners, is_known)) return std::nullopt;
  return account;
}

ServersAccount LockViewer::ask(const QueueReading& reading) {
  std::set<std::int64_t> owners;
  for (const auto& [name, entry] : reading.queue.entries) owners.insert(entry.stat.ephemeral_owner);
  if (reading.leases)
    for (const auto& [name, entry] : reading.leases->entries)
      owners.insert(entry.stat.ephemeral_owner);
  const auto now = Clock::now();
  const bool unknown = std::ranges::any_of(
      owners, [&](std::int64_t session) { return !asked_sessions_.contains(session); });
  asked_sessions_ = owners;
  const bool sessions =
      sessions_asked_ == Clock::time_point() || unknown || now - sessions_asked_ > sessions_stay;
  const auto most_watches = reading.queue.entries.size() < 2 ? -1
                            : watch_                         ? cheap_watches_each_time
                                                             : cheap_watches;
  auto known = asked_ahead(owners);
  auto account =
      known ? std::move(*known)
            : words_.ask(
                  {.sessions = sessions, .watches = true, .watchers = watchers_, .events = watch_},
                  client_.round_trip());
  if (!watchers_) words_.add_watchers(account, most_watches);
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

/// Notes what has changed since the last look, and adds it to the view.
void LockViewer::note_changes(LockView& view) {
  ContenderKeys there;
  for (const auto& seat : view.seats) there.emplace(seat.contender.key());
  changes_.left += static_cast<std::size_t>(
      std::ranges::count_if(there_, [&](const std::string& key) { return !there.contains(key); }));
  there_ = std::move(there);
  if (const auto& all = view.account.events) {
    const auto own = reader_.events();
    if (!own_at_first_) own_at_first_ = own;
    changes_.events = {.deleted = all->deleted - (own.deleted - own_at_first_->deleted),
                       .children = all->children - (own.children - own_at_first_->children)};
  }
  view.changes = changes_;
}

namespace {

/// The limit near the server.
constexpr std::size_t searches_in_flight = 128;

class Search {
 public:
  Search(Client& client, const std::function<void()>& visited, const std::stop_token& stop)
      : client_(client), visited_(visited), stop_(stop) {}

  LockSearch find(const std::string& top) {
    const auto enter = [&](const TreeNode& node) {
      visit(node.path, node.stat);
      visited_();
      if (node.hides_children()) result_.unlistable.push_back(node.path);
    };
    walk_tree(client_, {.tops = {top}, .may_be_missing = true, .enter = enter}, stop_);
    std::erase_if(parents_, [](const auto& entry) { return !entry.second.known; });
    sort_parents();
    read_owners();
    result_.locks.reserve(readings_.size());
    for (const auto& [path, reading] : readings_) result_.locks.push_back(make_lock_view(reading));
    const WaitGraph graph(result_.locks);
    for (auto& lock : result_.locks) lock.deadlocks = graph.deadlocks(lock.path);
    return std::move(result_);
  }

 private:
  struct Parent {
    QueueNodes children{};
    bool known = false;  ///< at least one name is certainly a contender's
  };

  void visit(const std::string& path, const Stat& stat) {
    const std::string above(parent_path(path));
    const std::string name(base_name(path));
    if (name == "leases") above_leases_.insert(above);
    if (stat.ephemeral_owner == 0) return;
    const auto parsed = parse_lock_name(name);
    if (!parsed) return;
    auto& parent = parents_[above];
    parent.known = parent.known || parsed->tag != ContenderTag::Unknown;
    parent.children.names.push_back(name);
    parent.children.entries[name] = {.data = {}, .stat = stat};
  }

  /// Sorts the parents into locks and the two parts of semaphores.
  void sort_parents() {
    for (auto& [path, parent] : parents_) {
      const auto last = base_name(path);
      const std::string above(parent_path(path));
      const bool leases = last == "leases" && std::ranges::all_of(parent.children.names, is_lease);
      const bool queue = last == "locks" && above_leases_.contains(above);
      auto& reading = readings_[leases || queue ? above : path];
      reading.path = leases || queue ? above : path;
      if ((leases || queue) && !reading.leases) reading.leases.emplace();
      (leases ? *reading.leases : reading.queue) = std::move(parent.children);
    }
  }

  static bool is_lease(const std::string& name) {
    const auto parsed = parse_lock_name(name);
    return parsed && parsed->tag == ContenderTag::Lease;
  }

  /// Reads the data of the holders, and the semaphores' limits.
  void read_owners() {
    struct Question {
      std::string path;
      QueueReading& reading;
      QueueNode* entry;  ///< what gets the data; null: the limit
    };
    std::vector<Question> questions;
    for (auto& [path, reading] : readings_) {
      if (reading.leases) questions.push_back({path, reading, nullptr});
      const auto view = make_lock_view(reading);
      for (const auto& seat : view.seats) {
        if (seat.state != SeatState::Holds) continue;
        questions.push_back({node_of(view, seat), reading, &entry_of(reading, seat)});
      }
    }
    ask_in_order(
        questions, FlightWindow(client_, {.least = searches_in_flight}).now(),
        [&](const Question& question) { return client_.start_get(question.path, Watch::none()); },
        [&](const Question& question, const Pending<Node>& pending) {
          auto read = client_.await(pending, stop_);
          if (read.code != code::ok && read.code != code::no_node && read.code != code::no_auth)
            throw ZkError(read.code, question.path);
          if (question.entry) {
            question.entry->readable = read.code != code::no_auth;
            question.entry->data = owner_beginning(std::move(read.value.data));
          } else {
            question.reading.limit = semaphore_limit(read.value.data);
          }
          return true;
        });
  }

  Client& client_;
  const std::function<void()>& visited_;
  const std::stop_token& stop_;
  std::map<std::string, Parent> parents_;
  std::set<std::string> above_leases_;  ///< nodes with a child `leases`
  std::map<std::string, QueueReading> readings_;
  LockSearch result_;
};

}  // namespace

LockSearch search_locks(Client& client, const std::string& top,
                        const std::function<void()>& visited, const std::stop_token& stop) {
  return Search(client, visited, stop).find(top);
}

}  // namespace zksh
