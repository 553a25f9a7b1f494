// Walk: listing subtrees with many requests in flight.
#include "walk.h"

#include "node_path.h"

#include <algorithm>
#include <deque>
#include <list>
#include <utility>

namespace zksh {
namespace {

// Enough to hide the round trip; more only fills the server's queue.
constexpr std::size_t reads_in_flight = 256;

/// The names below a node; none when it has vanished and `may_vanish`.
Children children_or_throw(Client& client, const std::string& path,
                           const Pending<Children>& pending, bool may_vanish,
                           const std::stop_token& stop) {
  auto outcome = client.await(pending, stop);
  if (outcome.code == code::no_node && may_vanish) return {};
  if (outcome.code != code::ok) throw ZkError(outcome.code, path);
  return std::move(outcome.value);
}

}  // namespace

std::vector<std::string> subtree_breadth_first(Client& client, const std::string& top,
                                               const std::stop_token& stop) {
  client.await_connection(top, stop);
  std::vector<std::string> paths{top};
  std::deque<Pending<Children>> asked;
  std::size_t next_to_ask = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    while (next_to_ask < paths.size() && asked.size() < reads_in_flight)
      asked.push_back(client.start_children(paths[next_to_ask++], Watch::none()));
    const auto children = children_or_throw(client, paths[i], asked.front(), i > 0, stop);
    asked.pop_front();
    for (const auto& name : children.names) paths.push_back(join_path(paths[i], name));
  }
  return paths;
}

void visit_subtree(Client& client, const std::string& top, const Watch& watch,
                   const std::function<void(const std::string&)>& visit,
                   const std::stop_token& stop) {
  client.get(top, watch, stop);
  visit(top);
  struct Entry {
    std::string path;
    Pending<Children> children;
  };
  std::list<Entry> agenda{{top, nullptr}};
  bool at_top = true;
  while (!agenda.empty()) {
    std::size_t ahead = 0;
    for (auto& entry : agenda) {
      if (!entry.children) entry.children = client.start_children(entry.path, watch);
      if (++ahead == reads_in_flight) break;
    }
    const auto entry = std::move(agenda.front());
    agenda.pop_front();
    auto names = children_or_throw(client, entry.path, entry.children, !at_top, stop).names;
    at_top = false;
    std::ranges::sort(names);
    const auto place = agenda.begin();
    for (const auto& name : names) {
      auto path = join_path(entry.path, name);
      visit(path);
      agenda.insert(place, {std::move(path), nullptr});
    }
  }
}

namespace {

/// A node on its way through visit_stats: first its Stat is asked for, then perhaps its children.
struct Visited {
  std::string path;
  Pending<Stat> stat;
  Pending<Children> children;
};

}  // namespace

void visit_stats(Client& client, std::vector<std::string> tops, const StatVisitor& visitor,
                 const std::stop_token& stop) {
  std::deque<std::string> waiting(std::make_move_iterator(tops.begin()),
                                  std::make_move_iterator(tops.end()));
  std::deque<Visited> asked;
  while (!waiting.empty() || !asked.empty()) {
    if (!waiting.empty() && asked.size() < reads_in_flight) {
      auto pending = client.start_exists(waiting.front(), Watch::none());
      asked.push_back({std::move(waiting.front()), std::move(pending), nullptr});
      waiting.pop_front();
      continue;
    }
    auto node = std::move(asked.front());
    asked.pop_front();
    if (!node.children) {
      const auto outcome = client.await(node.stat, stop);
      if (outcome.code == code::no_node) continue;
      if (outcome.code != code::ok) throw ZkError(outcome.code, node.path);
      visitor.visit(node.path, outcome.value);
      if (outcome.value.num_children == 0) continue;
      node.children = client.start_children(node.path, Watch::none());
      asked.push_back(std::move(node));
      continue;
    }
    const auto outcome = client.await(node.children, stop);
    if (outcome.code == code::no_auth)
      visitor.unlisted(ZkError(outcome.code, node.path));
    else if (outcome.code != code::ok && outcome.code != code::no_node)
      throw ZkError(outcome.code, node.path);
    for (const auto& name : outcome.value.names) waiting.push_back(join_path(node.path, name));
  }
}

}  // namespace zksh
