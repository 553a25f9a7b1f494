// LockSearch: one walk that looks at every Stat, then the data of those who hold a lock.
#include "lock/lock_search.h"

#include "client/node_path.h"
#include "lock/wait_graph.h"
#include "tree/walk.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t searches_in_flight = 128;

class Search {
 public:
  Search(Client& client, const std::stop_token& stop) : client_(client), stop_(stop) {}

  LockSearch find(const std::string& top) {
    const StatVisitor visitor{
        .visit = [&](const std::string& path, const Stat& stat) { visit(path, stat); },
        .unlisted = [&](const ZkError& error) { result_.unlisted.push_back(error.path()); }};
    visit_stats(client_, {top}, visitor, stop_);
    std::erase_if(parents_, [](const auto& entry) { return !entry.second.known; });
    sort_parents();
    read_owners();
    result_.locks.reserve(readings_.size());
    for (const auto& [path, reading] : readings_)
      result_.locks.push_back(make_lock_view(reading, {}, {}, 0));
    const WaitGraph graph(result_.locks);
    for (auto& lock : result_.locks) lock.circles = graph.circles(lock.path);
    return std::move(result_);
  }

 private:
  struct Parent {
    std::vector<std::string> names{};
    LockEntries entries{};
    bool known = false;  ///< one of the names is certainly a contender's
  };

  void visit(const std::string& path, const Stat& stat) {
    const std::string above(parent_path(path));
    const std::string name(base_name(path));
    if (name == "leases") above_leases_.insert(above);
    if (stat.ephemeral_owner == 0) return;
    const auto parsed = parse_lock_name(name);
    if (!parsed) return;
    auto& parent = parents_[above];
    parent.known = parent.known || parsed->tag != LockTag::Unknown;
    parent.names.push_back(name);
    parent.entries[name] = {.data = {}, .stat = stat};
  }

  /// Into locks, and the two halves of semaphores.
  void sort_parents() {
    for (auto& [path, parent] : parents_) {
      const auto last = base_name(path);
      const std::string above(parent_path(path));
      const bool leases = last == "leases" && std::ranges::all_of(parent.names, is_lease);
      const bool queue = last == "locks" && above_leases_.contains(above);
      auto& reading = readings_[leases || queue ? above : path];
      reading.path = leases || queue ? above : path;
      if ((leases || queue) && !reading.semaphore) reading.semaphore.emplace();
      (leases ? reading.semaphore->leases : reading.names) = std::move(parent.names);
      (leases ? reading.semaphore->entries : reading.entries) = std::move(parent.entries);
    }
  }

  static bool is_lease(const std::string& name) {
    const auto parsed = parse_lock_name(name);
    return parsed && parsed->tag == LockTag::Lease;
  }

  struct Asked {
    std::string path;
    Pending<Node> node;
    LockEntry* entry;        ///< whose data it is; null: the limit
    LockReading* semaphore;  ///< whose limit it is
  };

  void read_owners() {
    std::deque<Asked> asked;
    const auto ask = [&](std::string path, LockEntry* entry, LockReading* semaphore) {
      if (asked.size() == searches_in_flight) take_first(asked);
      auto pending = client_.start_get(path, Watch::none());
      asked.push_back({std::move(path), std::move(pending), entry, semaphore});
    };
    for (auto& [path, reading] : readings_) {
      if (reading.semaphore) ask(path, nullptr, &reading);
      for (const auto& seat : make_lock_view(reading, {}, {}, 0).seats) {
        if (seat.state != SeatState::Holds) continue;
        const auto& name = seat.contender.nodes.front().text;
        auto& entries = seat.lease ? reading.semaphore->entries : reading.entries;
        ask(join_path(seat.lease ? join_path(path, "leases") : path, name), &entries[name],
            nullptr);
      }
    }
    while (!asked.empty()) take_first(asked);
  }

  void take_first(std::deque<Asked>& asked) {
    const auto first = std::move(asked.front());
    asked.pop_front();
    auto outcome = client_.await(first.node, stop_);
    if (outcome.code != code::ok && outcome.code != code::no_node && outcome.code != code::no_auth)
      throw ZkError(outcome.code, first.path);
    if (first.entry) {
      first.entry->readable = outcome.code != code::no_auth;
      first.entry->data = owner_beginning(std::move(outcome.value.data));
    } else {
      first.semaphore->semaphore->limit = semaphore_limit(outcome.value.data);
    }
  }

  Client& client_;
  const std::stop_token& stop_;
  std::map<std::string, Parent> parents_;
  std::set<std::string> above_leases_;  ///< nodes that have a child `leases`
  std::map<std::string, LockReading> readings_;
  LockSearch result_;
};

}  // namespace

LockSearch find_locks(Client& client, const std::string& top, const std::stop_token& stop) {
  return Search(client, stop).find(top);
}

}  // namespace zksh
