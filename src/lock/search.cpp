// LockSearch: finds the locks in a subtree.
#include "lock/search.h"

#include "client/node_path.h"
#include "client/work_limits.h"
#include "lock/wait_graph.h"
#include "tree/walk.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace zksh {
namespace {

/// Near the server.
constexpr std::size_t searches_in_flight = 128;

class Search {
 public:
  Search(Client& client, const std::function<void()>& visited, const std::stop_token& stop)
      : client_(client), visited_(visited), stop_(stop) {}

  LockSearch find(const std::string& top) {
    const StatVisitor visitor{
        .visit =
            [&](const std::string& path, const Stat& stat) {
              visit(path, stat);
              visited_();
            },
        .unlistable = [&](const ZkError& error) { result_.unlistable.push_back(error.path()); }};
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
    parent.known = parent.known || parsed->tag != LockTag::Unknown;
    parent.names.push_back(name);
    parent.entries[name] = {.data = {}, .stat = stat};
  }

  /// Sorts the parents into locks and the two parts of semaphores.
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

  /// Of the holders; and the semaphores' limits.
  void read_owners() {
    struct Question {
      std::string path;
      LockReading& reading;
      LockEntry* entry;  ///< what gets the data; null: the limit
    };
    std::vector<Question> questions;
    for (auto& [path, reading] : readings_) {
      if (reading.semaphore) questions.push_back({path, reading, nullptr});
      const auto view = make_lock_view(reading, {}, {}, 0);
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
            question.reading.semaphore->limit = semaphore_limit(read.value.data);
          }
          return true;
        });
  }

  Client& client_;
  const std::function<void()>& visited_;
  const std::stop_token& stop_;
  std::map<std::string, Parent> parents_;
  std::set<std::string> above_leases_;  ///< nodes with a child `leases`
  std::map<std::string, LockReading> readings_;
  LockSearch result_;
};

}  // namespace

LockSearch search_locks(Client& client, const std::string& top,
                        const std::function<void()>& visited, const std::stop_token& stop) {
  return Search(client, visited, stop).find(top);
}

}  // namespace zksh
