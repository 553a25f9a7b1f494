// ChangeStream: reading the nodes that changed, and what is new about them.
#include "client/change_stream.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

namespace zksh {
namespace {

// Enough to hide the round trip; more only fills the server's queue.
constexpr std::size_t readings_in_flight = 256;

}  // namespace

/// False when the connection was lost meanwhile.
bool ChangeStream::read(Readings& readings, const std::stop_token& stop) {
  std::deque<Readings::iterator> sent;
  auto next = readings.begin();
  while (next != readings.end() || !sent.empty()) {
    if (next != readings.end() && sent.size() < readings_in_flight) {
      ask(next->first, next->second);
      sent.push_back(next++);
      continue;
    }
    const auto& reading = sent.front();
    if (!take(reading->first, reading->second, stop)) return false;
    sent.pop_front();
  }
  return true;
}

void ChangeStream::ask(const std::string& path, Reading& reading) {
  if (wish_.values)
    reading.node_asked = client_.start_get(path, Watch::none());
  else
    reading.stat_asked = client_.start_exists(path, Watch::none());
  if (!wish_.recursive) reading.children_asked = client_.start_children(path, Watch::none());
}

bool ChangeStream::take(const std::string& path, Reading& reading, const std::stop_token& stop) {
  Known known;
  int result = code::ok;
  if (reading.node_asked) {
    auto node = client_.await(reading.node_asked, stop);
    result = node.code;
    known.stat = node.value.stat;
    known.value = std::move(node.value.data);
    // Its Stat is for everybody.
    if (result == code::no_auth) reading.stat_asked = client_.start_exists(path, Watch::none());
  }
  if (reading.stat_asked) {
    const auto stat = client_.await(reading.stat_asked, stop);
    result = stat.code;
    known.stat = stat.value;
    known.value.reset();
  }
  if (result == code::no_node) return true;
  if (result != code::ok) return false;
  if (reading.children_asked) {
    auto children = client_.await(reading.children_asked, stop);
    if (children.code == code::no_node) return true;
    if (children.code != code::ok && children.code != code::no_auth) return false;
    // Both belong to the same node, or it is read again when its end is told.
    known.children = std::move(children.value.names);
    known.cversion = children.value.stat.cversion;
    std::ranges::sort(known.children);
  }
  reading.found = std::move(known);
  return true;
}

/// Nothing when it has been told before. `found`: the node as it is now, if what the event speaks
/// of can be seen in it.
std::optional<NodeChange> ChangeStream::change_of(const Event& event, const Known* found) {
  const auto known = known_.find(event.path);
  switch (event.type) {
    case Event::Type::Created:
      return known == known_.end() ? created(event, found) : changed(event, found);
    case Event::Type::DataChanged:
      if (known == known_.end()) return std::nullopt;
      return changed(event, found);
    case Event::Type::ChildrenChanged:
      if (known == known_.end()) return std::nullopt;
      return listed(event, found);
    case Event::Type::Deleted:
      return deleted(event);
    default:
      return std::nullopt;
  }
}

NodeChange ChangeStream::created(const Event& event, const Known* found) {
  NodeChange change{.type = NodeChange::Type::Created, .path = event.path};
  auto& known = known_[event.path];
  if (!found) return change;
  known = *found;
  change.after = found->stat;
  change.new_value = found->value;
  return change;
}

std::optional<NodeChange> ChangeStream::changed(const Event& event, const Known* found) {
  auto& known = known_[event.path];
  NodeChange change{.type = NodeChange::Type::Changed, .path = event.path, .before = known.stat};
  change.old_value = known.value;
  const bool same_node =
      found && (!known.stat || known.stat->czxid == found->stat->czxid);  // not its successor
  if (!same_node) return change;
  if (known.stat && known.stat->mzxid == found->stat->mzxid) return std::nullopt;
  change.after = known.stat = found->stat;
  change.new_value = known.value = found->value;
  return change;
}

std::optional<NodeChange> ChangeStream::listed(const Event& event, const Known* found) {
  auto& known = known_[event.path];
  NodeChange change{.type = NodeChange::Type::Children, .path = event.path, .before = known.stat};
  if (!found || (known.stat && known.stat->czxid != found->stat->czxid)) {
    // It is gone by now, and before that all of its children went.
    change.removed = std::exchange(known.children, {});
    if (change.removed.empty()) return std::nullopt;
    return change;
  }
  if (known.cversion == found->cversion) return std::nullopt;
  std::ranges::set_difference(found->children, known.children, std::back_inserter(change.added));
  std::ranges::set_difference(known.children, found->children, std::back_inserter(change.removed));
  known.children = found->children;
  known.cversion = found->cversion;
  change.after = found->stat;
  return change;
}

std::optional<NodeChange> ChangeStream::deleted(const Event& event) {
  NodeChange change{.type = NodeChange::Type::Deleted, .path = event.path};
  const auto known = known_.find(event.path);
  if (known == known_.end()) return std::nullopt;  // every node has been told of before its end
  change.before = known->second.stat;
  change.old_value = std::move(known->second.value);
  known_.erase(known);
  return change;
}

}  // namespace zksh
