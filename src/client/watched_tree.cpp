// WatchedTree: persistent watches made of one-shot watches.
#include "client/watched_tree.h"

#include "base/text.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "client/work_limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace zksh {
namespace {

/// Measured for a stream of changes; the path stands in several places.
std::size_t memory_of(const std::string& path) { return 600 + 4 * path.size(); }

// For changes whose zxid is not known.
constexpr std::int64_t first_zxid = 0;
constexpr std::int64_t last_zxid = std::numeric_limits<std::int64_t>::max();

}  // namespace

bool WatchedTree::reports_children(const std::string& path) const {
  const auto root = roots_.find(path);
  return root != roots_.end() && root->second == WatchMode::Persistent;
}

bool WatchedTree::is_recursive(const std::string& path) const {
  for (std::string at = path;; at = parent_path(at)) {
    const auto root = roots_.find(at);
    if (root != roots_.end() && root->second == WatchMode::Recursive) return true;
    if (at == "/") return false;
  }
}

void WatchedTree::add(const std::string& path, WatchMode mode) {
  const auto before = roots_.find(path);
  const bool narrower = before != roots_.end() && mode == WatchMode::Persistent;
  roots_[path] = mode;
  if (narrower) drop_uncovered();
  const auto [place, added] = nodes_.try_emplace(path, new_node());
  if (added) bytes_ += memory_of(path);
  auto& root = place->second;
  root.children_armed = false;  // it may have been watched only for its children events
  const auto slot = new_slot();
  request_stat(path, root, slot);
  // What is below the nodes that were watched only for their children events is not known yet.
  for (const auto& [other, other_mode] : roots_) {
    if (other_mode == WatchMode::Recursive || !is_recursive(other)) continue;
    auto& node = nodes_.at(other);
    node.children_armed = false;
    request_stat(other, node, slot);
  }
  // Permissions may have been granted meanwhile.
  for (auto& [below, node] : nodes_) {
    if (!std::exchange(node.unreadable, false)) continue;
    request_stat(below, node, slot);
  }
}

bool WatchedTree::remove(const std::string& path, std::optional<WatchMode> mode) {
  const auto root = roots_.find(path);
  if (root == roots_.end() || (mode && *mode != root->second)) return false;
  roots_.erase(root);
  drop_uncovered();
  return true;
}

std::optional<std::string> WatchedTree::hidden_root() const {
  for (const auto& [path, mode] : roots_) {
    const auto& root = nodes_.at(path);
    if (root.unreadable && !root.exists) return path;
  }
  return std::nullopt;
}

void WatchedTree::clear() {
  for (const auto& [path, node] : nodes_) client_.forget_watches(path, mailbox_);
  forget_nodes();
  last_change_.reset();
  slots_.clear();
  unlistable_.clear();
}

void WatchedTree::forget_nodes() {
  roots_.clear();
  nodes_.clear();
  bytes_ = 0;
  requests_.clear();
  doubts_.clear();
}

void WatchedTree::drop_uncovered() {
  std::erase_if(nodes_, [&](const auto& entry) {
    if (is_root(entry.first) || is_recursive(entry.first)) return false;
    client_.forget_watches(entry.first, mailbox_);
    bytes_ -= memory_of(entry.first);
    return true;
  });
}

void WatchedTree::resolve_doubts() {
  for (const auto& doubt : std::exchange(doubts_, {}))
    if (Node* node = node_of(doubt))
      note_deleted({.type = Event::Type::Deleted, .path = doubt.path}, *node);
}

std::size_t WatchedTree::new_slot() {
  slots_.emplace_back();
  return slots_.size() - 1;
}

void WatchedTree::request_stat(const std::string& path, Node& node, std::size_t slot) {
  if (std::exchange(node.stat_requested, true)) return;
  requests_.push_back({.of_stat = true, .path = path, .serial = node.serial, .slot = slot});
}

void WatchedTree::request_children(const std::string& path, Node& node, std::size_t slot) {
  if (node.ephemeral || node.unreadable) return;
  // A child's deletion may have been noted since the list was requested. The child that has its
  // path now must be reported after that.
  node.children_slot = node.children_requested ? std::max(node.children_slot, slot) : slot;
  if (std::exchange(node.children_requested, true)) return;
  requests_.push_back({.of_stat = false, .path = path, .serial = node.serial, .slot = slot});
}

// Only the parent's list shows a node that is recreated between two events.
void WatchedTree::request_parents_children(const std::string& path, std::size_t slot) {
  const std::string parent(parent_path(path));
  const auto found = nodes_.find(parent);
  if (found != nodes_.end() && found->second.exists && is_recursive(parent))
    request_children(parent, found->second, slot);
}

void WatchedTree::note(const Event& event) {
  if (event.type == Event::Type::Session) {
    last_change_.reset();
    note_session(event.state);
  } else if (event.printed) {
    // An event of both a printed and a private watch arrives twice in a row.
    const auto twin = std::exchange(last_change_, std::nullopt);
    if (!twin || twin->type != event.type || twin->path != event.path) note_printed(event);
  } else {
    last_change_.reset();
    if (is_reported_anyway(event)) last_change_ = event;
    note_change(event);
  }
}

void WatchedTree::note_session(SessionState state) {
  switch (state) {
    case SessionState::Connecting:
      lose_watches();
      break;
    case SessionState::Connected:
    case SessionState::ConnectedReadOnly:
      if (std::exchange(lost_, false)) {
        const auto slot = new_slot();
        for (auto& [path, node] : nodes_) {
          node.unreadable = false;
          request_stat(path, node, slot);
        }
      }
      break;
    default:  // the session is over, and its watches with it
      forget_nodes();
      lost_ = false;
      break;
  }
}

/// After reconnection everything is read again. The C client would set all watches again in a
/// single request, which servers refuse as too large, again and again, if there are many nodes.
void WatchedTree::lose_watches() {
  lost_ = true;
  for (auto& [path, node] : nodes_) {
    node.children_armed = false;
    client_.forget_watches(path, mailbox_);
  }
}

bool WatchedTree::is_reported_anyway(const Event& event) const {
  const auto node = nodes_.find(event.path);
  const bool known = node != nodes_.end() && node->second.exists;
  switch (event.type) {
    case Event::Type::DataChanged:
    case Event::Type::Deleted:
      return known;
    case Event::Type::ChildrenChanged:
      return known && reports_children(event.path);
    default: {
      const std::string parent(parent_path(event.path));
      const auto above = nodes_.find(parent);
      return is_root(event.path) || (above != nodes_.end() && above->second.exists &&
                                     !above->second.unreadable && is_recursive(parent));
    }
  }
}

void WatchedTree::note_printed(const Event& event) {
  if (is_reported_anyway(event)) return;
  const auto slot = new_slot();
  slots_[slot].after.push_back(event);
  const auto node = nodes_.find(event.path);
  // The server reports a new node before its parent's list.
  if (event.type == Event::Type::ChildrenChanged && node != nodes_.end() && node->second.exists)
    request_children(event.path, node->second, slot);
}

void WatchedTree::note_change(const Event& event) {
  const auto found = nodes_.find(event.path);
  if (found == nodes_.end()) {
    if (event.type == Event::Type::Created) request_parents_children(event.path, new_slot());
    return;
  }
  auto& node = found->second;
  if (event.type == Event::Type::Deleted) {
    note_deleted(event, node);
    return;
  }
  const auto slot = new_slot();
  if (event.type == Event::Type::ChildrenChanged) {
    node.children_armed = false;
    ++node.reported_lists;
    if (reports_children(event.path)) slots_[slot].after.push_back(event);
    request_children(event.path, node, slot);
    return;
  }
  if (event.type == Event::Type::DataChanged && node.exists) {
    ++node.reported_writes;
    slots_[slot].before.push_back(event);
  }
  request_stat(event.path, node, slot);  // also reports the creation of a root
}

void WatchedTree::note_deleted(const Event& event, Node& node) {
  const auto slot = new_slot();
  if (node.exists && !node.unreadable) {
    // Its children were deleted first, perhaps faster than the list could be read.
    const Event lists{.type = Event::Type::ChildrenChanged, .path = event.path};
    const auto unreported = std::int64_t{node.num_children} - node.reported_lists;
    if (reports_children(event.path) && unreported > 0)
      slots_[slot].before.assign(static_cast<std::size_t>(std::min(unreported, max_gap_events)),
                                 lists);
    slots_[slot].before.push_back(event);
  }
  if (is_root(event.path)) {
    node = new_node();
    request_stat(event.path, node, slot);
  } else {
    erase(event.path);
  }
  request_parents_children(event.path, slot);
}

int WatchedTree::catch_up(const std::stop_token& stop) {
  const auto window = window_of(client_);
  std::deque<Request> sent;
  int trouble = code::ok;
  while (!requests_.empty() || !sent.empty()) {
    if (!requests_.empty() && sent.size() < window) {
      send(sent.emplace_back(std::move(requests_.front())));
      requests_.pop_front();
      continue;
    }
    const int result = take_answer(sent.front(), stop);
    sent.pop_front();
    if (trouble == code::ok || is_connection_failure(result)) trouble = result;
    if (is_connection_failure(trouble) || !refusal_.empty()) drop_requests();
  }
  // The connection's end may not have been noted yet, and the next one must not set these watches.
  if (is_connection_failure(trouble)) lose_watches();
  if (!refusal_.empty()) throw TooManyNodes(std::exchange(refusal_, {}));
  return trouble;
}

void WatchedTree::drop_requests() {
  for (const auto& request : std::exchange(requests_, {}))
    if (Node* node = node_of(request))
      (request.of_stat ? node->stat_requested : node->children_requested) = false;
}

void WatchedTree::send(Request& request) {
  if (!node_of(request)) return;
  if (request.of_stat)
    request.stat = client_.start_exists(request.path, Watch::into(mailbox_));
  else
    request.children = client_.start_children(request.path, Watch::into(mailbox_));
}

WatchedTree::Node* WatchedTree::node_of(const Request& request) {
  const auto found = nodes_.find(request.path);
  return found != nodes_.end() && found->second.serial == request.serial ? &found->second : nullptr;
}

/// Returns the code if it is a connection failure, else ok.
int WatchedTree::take_answer(Request& request, const std::stop_token& stop) {
  const bool of_stat = request.of_stat;
  Outcome<Stat> stat;
  Outcome<Children> children;
  if (request.stat) stat = client_.await(request.stat, stop);
  if (request.children) children = client_.await(request.children, stop);
  Node* node = node_of(request);
  if (!node || (!request.stat && !request.children)) return code::ok;
  (of_stat ? node->stat_requested : node->children_requested) = false;
  if (!of_stat) request.slot = node->children_slot;
  const int result = of_stat ? stat.code : children.code;
  if (!is_connection_failure(result)) last_answer_ = Clock::now();
  switch (result) {
    case code::ok:
      if (of_stat)
        take_stat(request, *node, stat.value);
      else
        take_children(request, *node, std::move(children.value));
      return code::ok;
    case code::no_node:
      if (of_stat) take_absence(request, *node);
      return code::ok;  // the watch on the node itself reports its absence
    case code::no_auth:
      withhold(request, *node);
      return code::ok;
    default:
      // A node that was never reported will be found again in its parent's list.
      if (!node->exists && !is_root(request.path)) erase(request.path);
      return result;
  }
}

void WatchedTree::take_stat(const Request& request, Node& node, const Stat& stat) {
  const bool another = node.exists && node.czxid != stat.czxid;
  if (another && node.children_armed) {  // the watch on its predecessor's children has fired
    doubts_.push_back(request);
    return;
  }
  std::int64_t unreported_writes = stat.version;
  if (another) find(request.slot, stat.czxid, Event::Type::Deleted, request.path);
  if (another || !node.exists)
    find(request.slot, stat.czxid, Event::Type::Created, request.path);
  else
    unreported_writes = std::int64_t{stat.version} - node.version - node.reported_writes;
  find(request.slot, stat.mzxid, Event::Type::DataChanged, request.path, unreported_writes);
  if (another || !node.exists) {
    node.exists = true;
    node.ephemeral = stat.ephemeral_owner != 0;
    node.unreadable = false;
    node.children.clear();
    node.czxid = stat.czxid;
    node.cversion = node.num_children = node.reported_lists = 0;
  }
  node.version = stat.version;
  node.reported_writes = 0;
  if (!node.children_armed && (reports_children(request.path) || is_recursive(request.path)))
    request_children(request.path, node, request.slot);
}

void WatchedTree::take_absence(const Request& request, const Node& node) {
  if (node.exists) {
    if (node.children_armed) {  // likewise
      doubts_.push_back(request);
      return;
    }
    if (!node.unreadable) find(request.slot, first_zxid, Event::Type::Deleted, request.path);
  } else if (!is_root(request.path) && !node.unreadable) {
    // It was in its parent's list, and is gone again.
    find(request.slot, last_zxid, Event::Type::Created, request.path);
    find(request.slot, last_zxid, Event::Type::Deleted, request.path);
  }
  if (is_root(request.path))
    nodes_[request.path] = new_node();
  else
    erase(request.path);
}

/// Servers do not send events about nodes that the session may not read.
void WatchedTree::withhold(const Request& request, Node& node) {
  node.unreadable = true;
  std::erase_if(slots_[request.slot].found,
                [&](const Found& found) { return found.event.path == request.path; });
  unlistable_.push_back(request.path);
}

void WatchedTree::take_children(const Request& request, Node& node, Children children) {
  if (!node.exists || node.czxid != children.stat.czxid) {  // the list is its successor's
    doubts_.push_back(request);
    return;
  }
  // A watch that is set reports changes; only those between two watches would be missed.
  if (!std::exchange(node.children_armed, true)) {
    if (reports_children(request.path))
      find(request.slot, children.stat.pzxid, Event::Type::ChildrenChanged, request.path,
           std::int64_t{children.stat.cversion} - node.cversion - node.reported_lists);
    node.cversion = children.stat.cversion;
    node.num_children = children.stat.num_children;
    node.reported_lists = 0;
  }
  if (!is_recursive(request.path)) return;
  std::ranges::sort(children.names);
  std::vector<std::string> gone;
  std::ranges::set_difference(node.children, children.names, std::back_inserter(gone));
  for (const auto& name : gone) {
    const auto path = join_path(request.path, name);
    if (const auto child = nodes_.find(path); child != nodes_.end())
      request_stat(path, child->second, request.slot);
  }
  for (const auto& name : children.names) {
    const auto path = join_path(request.path, name);
    if (!nodes_.contains(path) && !add_child(path, request.slot)) return;
  }
  node.children = std::move(children.names);
}

/// Returns false if it does not fit.
bool WatchedTree::add_child(const std::string& path, std::size_t slot) {
  if (bytes_ + memory_of(path) > most_bytes_) {
    refusal_ = fmt::format(
        "cannot watch so many nodes: {} of them, up to {}, take more than {} MiB of memory",
        nodes_.size(), cut_middle(path, 40), most_bytes_ >> 20U);
    return false;
  }
  bytes_ += memory_of(path);
  request_stat(path, nodes_.emplace(path, new_node()).first->second, slot);
  return true;
}

void WatchedTree::erase(const std::string& path) {
  if (nodes_.erase(path) > 0) bytes_ -= memory_of(path);
}

void WatchedTree::find(std::size_t slot, std::int64_t zxid, Event::Type type,
                       const std::string& path, std::int64_t times) {
  for (auto left = std::min(times, max_gap_events); left > 0; --left)
    slots_[slot].found.push_back({zxid, {.type = type, .path = path}});
}

std::vector<Event> WatchedTree::take_events() {
  const auto earlier = [](const Found& a, const Found& b) {
    if (a.zxid != b.zxid) return a.zxid < b.zxid;
    // Unseen deletions: the deepest must have come first.
    if (a.zxid == first_zxid) return a.event.path > b.event.path;
    // A server reports a new node before its parent's list.
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
