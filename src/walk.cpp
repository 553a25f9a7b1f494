// Walk: listing subtrees with many requests in flight.
#include "walk.h"

#include "node_path.h"

#include <algorithm>
#include <deque>
#include <list>
#include <optional>
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

namespace {

/// A node on its way through visit_in_drawing_order. One request tells both its Stat and its
/// children; at the last depth the Stat is enough.
struct Drawn {
  TreeNode node{};
  Pending<Children> children{};
  Pending<Stat> stat{};

  bool asked() const { return children || stat; }
  void ask(Client& client, std::size_t depth) {
    if (node.depth < depth)
      children = client.start_children(node.path, Watch::none());
    else
      stat = client.start_exists(node.path, Watch::none());
  }
  /// Sorted names of its children; nothing when it has vanished.
  std::optional<std::vector<std::string>> take(Client& client, const std::stop_token& stop) {
    std::vector<std::string> names;
    if (children) {
      auto outcome = client.await(children, stop);
      node.readable = outcome.code != code::no_auth;
      if (vanished(outcome.code)) return std::nullopt;
      node.stat = outcome.value.stat;
      names = std::move(outcome.value.names);
      std::ranges::sort(names);
      // Its Stat is for everybody.
      if (!node.readable) stat = client.start_exists(node.path, Watch::none());
    }
    if (stat) {
      const auto outcome = client.await(stat, stop);
      if (vanished(outcome.code)) return std::nullopt;
      node.stat = outcome.value;
    }
    return names;
  }

 private:
  bool vanished(int result) const {
    if (result == code::no_node && node.depth > 0) return true;
    if (result != code::ok && result != code::no_auth) throw ZkError(result, node.path);
    return false;
  }
};

}  // namespace

void visit_in_drawing_order(Client& client, const std::string& top, std::size_t depth,
                            const std::function<void(const TreeNode&)>& visit,
                            const std::stop_token& stop) {
  client.await_connection(top, stop);
  std::list<Drawn> agenda;
  agenda.push_back({.node = {.path = top}});
  while (!agenda.empty()) {
    std::size_t ahead = 0;
    for (auto& entry : agenda) {
      if (!entry.asked()) entry.ask(client, depth);
      if (++ahead == reads_in_flight) break;
    }
    auto entry = std::move(agenda.front());
    agenda.pop_front();
    const auto names = entry.take(client, stop);
    if (!names) continue;
    visit(entry.node);
    const auto place = agenda.begin();
    for (const auto& name : *names)
      agenda.insert(place, {.node = {.path = join_path(entry.node.path, name),
                                     .depth = entry.node.depth + 1,
                                     .last = &name == &names->back()}});
  }
}

}  // namespace zksh
