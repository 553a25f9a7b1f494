// WatchedTree: reading the nodes again, and finding what happened to them meanwhile.
#include "client/node_path.h"
#include "client/watched_tree.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace zksh {
namespace {

// Enough to hide the round trip; more only fills the server's queue.
constexpr std::size_t requests_in_flight = 256;
// Of what is known to have happened, but not when.
constexpr std::int64_t first_zxid = 0;
constexpr std::int64_t last_zxid = std::numeric_limits<std::int64_t>::max();

}  // namespace

int WatchedTree::catch_up(const std::stop_token& stop) {
  std::deque<Request> sent;
  int trouble = code::ok;
  while (!requests_.empty() || !sent.empty()) {
    if (!requests_.empty() && sent.size() < requests_in_flight) {
      send(sent.emplace_back(std::move(requests_.front())));
      requests_.pop_front();
      continue;
    }
    const int result = take_answer(sent.front(), stop);
    sent.pop_front();
    if (trouble == code::ok) trouble = result;
  }
  return trouble;
}

void WatchedTree::send(Request& request) {
  if (!asked(request)) return;
  if (request.what == Request::What::Stat)
    request.stat = client_.start_exists(request.path, Watch::into(mailbox_));
  else
    request.children = client_.start_children(request.path, Watch::into(mailbox_));
}

WatchedTree::Node* WatchedTree::asked(const Request& request) {
  const auto found = nodes_.find(request.path);
  return found != nodes_.end() && found->second.serial == request.serial ? &found->second : nullptr;
}

/// Returns the code when the connection is to blame, else ok.
int WatchedTree::take_answer(Request& request, const std::stop_token& stop) {
  const bool of_stat = request.what == Request::What::Stat;
  Outcome<Stat> stat;
  Outcome<Children> children;
  if (request.stat) stat = client_.await(request.stat, stop);
  if (request.children) children = client_.await(request.children, stop);
  Node* node = asked(request);
  if (!node || (!request.stat && !request.children)) return code::ok;
  (of_stat ? node->stat_asked : node->children_asked) = false;
  if (!of_stat) request.slot = node->children_slot;
  switch (const int result = of_stat ? stat.code : children.code) {
    case code::ok:
      if (of_stat)
        take_stat(request, *node, stat.value);
      else
        take_children(request, *node, std::move(children.value));
      return code::ok;
    case code::no_node:
      if (of_stat) take_absence(request, *node);
      return code::ok;  // a list's absence is told by the watch on the node itself
    case code::no_auth:
      withhold(request, *node);
      return code::ok;
    default:
      // A node that nothing was told of is found again in its parent's list.
      if (!node->exists && !is_root(request.path)) nodes_.erase(request.path);
      return result;
  }
}

void WatchedTree::take_stat(const Request& request, Node& node, const Stat& stat) {
  const bool another = node.exists && node.czxid != stat.czxid;
  if (another && node.children_armed) {  // the watch on its predecessor's children has fired
    doubts_.push_back(request);
    return;
  }
  std::int64_t untold_writes = stat.version;
  if (another) find(request.slot, stat.czxid, Event::Type::Deleted, request.path);
  if (another || !node.exists)
    find(request.slot, stat.czxid, Event::Type::Created, request.path);
  else
    untold_writes = std::int64_t{stat.version} - node.version - node.writes_told;
  find(request.slot, stat.mzxid, Event::Type::DataChanged, request.path, untold_writes);
  if (another || !node.exists) {
    node.exists = true;
    node.ephemeral = stat.ephemeral_owner != 0;
    node.unreadable = false;
    node.children.clear();
    node.czxid = stat.czxid;
    node.cversion = node.num_children = node.lists_told = 0;
  }
  node.version = stat.version;
  node.writes_told = 0;
  if (!node.children_armed && (tells_lists(request.path) || is_recursive(request.path)))
    ask_children(request.path, node, request.slot);
}

void WatchedTree::take_absence(const Request& request, const Node& node) {
  if (node.exists) {
    if (node.children_armed) {  // likewise
      doubts_.push_back(request);
      return;
    }
    if (!node.unreadable) find(request.slot, first_zxid, Event::Type::Deleted, request.path);
  } else if (!is_root(request.path)) {  // it was in its parent's list, and is gone again
    find(request.slot, last_zxid, Event::Type::Created, request.path);
    find(request.slot, last_zxid, Event::Type::Deleted, request.path);
  }
  if (is_root(request.path))
    nodes_[request.path] = new_node();
  else
    nodes_.erase(request.path);
}

/// The servers tell nobody of nodes that he may not read.
void WatchedTree::withhold(const Request& request, Node& node) {
  node.unreadable = true;
  std::erase_if(slots_[request.slot].found,
                [&](const Found& found) { return found.event.path == request.path; });
  unlisted_.push_back(request.path);
}

void WatchedTree::take_children(const Request& request, Node& node, Children children) {
  if (!node.exists || node.czxid != children.stat.czxid) {  // a list of the node's successor
    doubts_.push_back(request);
    return;
  }
  // While the watch is set, it tells of what changed: only what came between two watches is missed.
  if (!std::exchange(node.children_armed, true)) {
    if (tells_lists(request.path))
      find(request.slot, children.stat.pzxid, Event::Type::ChildrenChanged, request.path,
           std::int64_t{children.stat.cversion} - node.cversion - node.lists_told);
    node.cversion = children.stat.cversion;
    node.num_children = children.stat.num_children;
    node.lists_told = 0;
  }
  if (!is_recursive(request.path)) return;
  std::ranges::sort(children.names);
  std::vector<std::string> gone;
  std::ranges::set_difference(node.children, children.names, std::back_inserter(gone));
  for (const auto& name : gone) {
    const auto path = join_path(request.path, name);
    if (const auto child = nodes_.find(path); child != nodes_.end())
      ask_stat(path, child->second, request.slot);
  }
  for (const auto& name : children.names) {
    const auto path = join_path(request.path, name);
    if (nodes_.contains(path)) continue;
    ask_stat(path, nodes_.emplace(path, new_node()).first->second, request.slot);
  }
  node.children = std::move(children.names);
}

void WatchedTree::find(std::size_t slot, std::int64_t zxid, Event::Type type,
                       const std::string& path, std::int64_t times) {
  for (auto left = std::min(times, most_told_of_a_gap); left > 0; --left)
    slots_[slot].found.push_back({zxid, {.type = type, .path = path}});
}

std::vector<Event> WatchedTree::take_events() {
  const auto earlier = [](const Found& a, const Found& b) {
    if (a.zxid != b.zxid) return a.zxid < b.zxid;
    // Deletions that nobody saw: the deepest must have been the first.
    if (a.zxid == first_zxid) return a.event.path > b.event.path;
    // A server tells of a new node before it tells of its parent's list.
    return a.event.type != Event::Type::ChildrenChanged &&
           b.event.type == Event::Type::ChildrenChanged;
  };
  std::vector<Event> events;
  const auto append = [&](std::vector<Event>& more) {
    events.insert(events.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  };
  for (auto& slot : std::exchange(slots_, {})) {
    append(slot.before);
    std::ranges::stable_sort(slot.found, earlier);
    for (auto& found : slot.found) events.push_back(std::move(found.event));
    append(slot.after);
  }
  return events;
}

}  // namespace zksh
