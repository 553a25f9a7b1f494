// WatchedTree: the nodes under persistent watches, and what happened to them.
#include "client/watched_tree.h"

#include "client/node_path.h"

#include <algorithm>
#include <utility>

namespace zksh {
bool WatchedTree::tells_lists(const std::string& path) const {
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
  auto& root = nodes_.try_emplace(path, new_node()).first->second;
  root.children_armed = false;  // it may have been listed for the lists' sake only
  const auto slot = new_slot();
  ask_stat(path, root, slot);
  // A permission may have been granted since.
  for (auto& [below, node] : nodes_) {
    if (!std::exchange(node.unreadable, false)) continue;
    ask_stat(below, node, slot);
  }
}

bool WatchedTree::remove(const std::string& path, std::optional<WatchMode> mode) {
  const auto root = roots_.find(path);
  if (root == roots_.end() || (mode && *mode != root->second)) return false;
  roots_.erase(root);
  drop_uncovered();
  return true;
}

void WatchedTree::drop_uncovered() {
  std::erase_if(nodes_, [&](const auto& entry) {
    if (is_root(entry.first) || is_recursive(entry.first)) return false;
    client_.forget_watches(entry.first, mailbox_);
    return true;
  });
}

void WatchedTree::resolve_doubts() {
  for (const auto& doubt : std::exchange(doubts_, {}))
    if (Node* node = asked(doubt))
      note_deleted({.type = Event::Type::Deleted, .path = doubt.path}, *node);
}

std::size_t WatchedTree::new_slot() {
  slots_.emplace_back();
  return slots_.size() - 1;
}

void WatchedTree::ask_stat(const std::string& path, Node& node, std::size_t slot) {
  if (std::exchange(node.stat_asked, true)) return;
  requests_.push_back(
      {.what = Request::What::Stat, .path = path, .serial = node.serial, .slot = slot});
}

void WatchedTree::ask_children(const std::string& path, Node& node, std::size_t slot) {
  if (node.ephemeral || node.unreadable) return;
  // The end of a child may have been noted since the list was asked for; the child that has its
  // path now must not be told of before that.
  node.children_slot = node.children_asked ? std::max(node.children_slot, slot) : slot;
  if (std::exchange(node.children_asked, true)) return;
  requests_.push_back(
      {.what = Request::What::Children, .path = path, .serial = node.serial, .slot = slot});
}

// A node can be created again between two events, with nothing but its parent's list to show it.
void WatchedTree::ask_children_of_parent(const std::string& path, std::size_t slot) {
  const std::string parent(parent_path(path));
  const auto found = nodes_.find(parent);
  if (found != nodes_.end() && found->second.exists && is_recursive(parent))
    ask_children(parent, found->second, slot);
}

void WatchedTree::note(const Event& event) {
  if (event.type == Event::Type::Session) {
    last_change_.reset();
    note_session(event.state);
  } else if (event.printed) {
    // The same event for a printed and for a private watch comes as two, one behind the other.
    const auto twin = std::exchange(last_change_, std::nullopt);
    if (!twin || twin->type != event.type || twin->path != event.path) note_printed(event);
  } else {
    last_change_.reset();
    if (is_told_anyway(event)) last_change_ = event;
    note_change(event);
  }
}

void WatchedTree::note_session(SessionState state) {
  switch (state) {
    case SessionState::Connecting:
      // When it is connected again all is read anew. The C client would set the watches again, in
      // one request for all: with many nodes the servers refuse it as too large, over and over.
      lost_ = true;
      for (auto& [path, node] : nodes_) {
        node.children_armed = false;
        client_.forget_watches(path, mailbox_);
      }
      break;
    case SessionState::Connected:
    case SessionState::ConnectedReadOnly:
      if (std::exchange(lost_, false)) {
        const auto slot = new_slot();
        for (auto& [path, node] : nodes_) {
          node.unreadable = false;
          ask_stat(path, node, slot);
        }
      }
      break;
    default:  // the session is over, and its watches with it
      roots_.clear();
      nodes_.clear();
      requests_.clear();
      doubts_.clear();
      lost_ = false;
      break;
  }
}

bool WatchedTree::is_told_anyway(const Event& event) const {
  const auto node = nodes_.find(event.path);
  const bool known = node != nodes_.end() && node->second.exists;
  switch (event.type) {
    case Event::Type::DataChanged:
    case Event::Type::Deleted:
      return known;
    case Event::Type::ChildrenChanged:
      return known && tells_lists(event.path);
    default: {
      const std::string parent(parent_path(event.path));
      const auto above = nodes_.find(parent);
      return is_root(event.path) || (above != nodes_.end() && above->second.exists &&
                                     !above->second.unreadable && is_recursive(parent));
    }
  }
}

void WatchedTree::note_printed(const Event& event) {
  if (is_told_anyway(event)) return;
  const auto slot = new_slot();
  slots_[slot].after.push_back(event);
  const auto node = nodes_.find(event.path);
  // The server tells of a new node before it tells of its parent's list.
  if (event.type == Event::Type::ChildrenChanged && node != nodes_.end() && node->second.exists)
    ask_children(event.path, node->second, slot);
}

void WatchedTree::note_change(const Event& event) {
  const auto found = nodes_.find(event.path);
  if (found == nodes_.end()) {
    if (event.type == Event::Type::Created) ask_children_of_parent(event.path, new_slot());
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
    ++node.lists_told;
    if (tells_lists(event.path)) slots_[slot].after.push_back(event);
    ask_children(event.path, node, slot);
    return;
  }
  if (event.type == Event::Type::DataChanged && node.exists) {
    ++node.writes_told;
    slots_[slot].before.push_back(event);
  }
  ask_stat(event.path, node, slot);  // also tells of a root's creation
}

void WatchedTree::note_deleted(const Event& event, Node& node) {
  const auto slot = new_slot();
  if (node.exists && !node.unreadable) {
    // Its children went first, one by one, and perhaps faster than the list could be read.
    const Event lists{.type = Event::Type::ChildrenChanged, .path = event.path};
    const auto untold = std::int64_t{node.num_children} - node.lists_told;
    if (tells_lists(event.path) && untold > 0)
      slots_[slot].before.assign(static_cast<std::size_t>(std::min(untold, most_told_of_a_gap)),
                                 lists);
    slots_[slot].before.push_back(event);
  }
  if (is_root(event.path)) {
    node = new_node();
    ask_stat(event.path, node, slot);
  } else {
    nodes_.erase(event.path);
  }
  ask_children_of_parent(event.path, slot);
}

}  // namespace zksh
