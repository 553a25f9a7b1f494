// ChangeStream: follows the events of a WatchedTree and the state of the session.
#include "client/change_stream.h"

#include "base/time.h"
#include "client/patient_connection.h"
#include "client/work_limits.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zksh {

ChangeStream::ChangeStream(Client& client, Options options)
    : client_(client),
      options_(std::move(options)),
      tree_(client, mailbox_),
      watches_(client, mailbox_, options_.survey) {}

ChangeStream::~ChangeStream() {
  listener_.reset();
  watches_.clear();
  for (const auto& path : options_.paths) tree_.remove(path, std::nullopt);
}

/// Puts session events into the mailbox, in order with the watch events.
void ChangeStream::hear(const Monitor::Held& held) {
  const auto now = client_.state(held);
  if (now == std::exchange(state_, now)) return;
  (*mailbox_)(held).push_back({.path = {}, .state = now, .zxid = client_.last_zxid(held)});
}

std::vector<NodeChange> ChangeStream::begin(const std::stop_token& stop) {
  client_.await_connection(options_.paths.front(), stop);
  server_ = client_.server();
  state_ = client_.current_state();
  listener_.emplace(client_.monitor(), [this](const Monitor::Held& held, const void* subject) {
    if (!subject) hear(held);
  });
  constexpr int most_repeats = 10;  // an answer itself may be what ends the connection
  for (int repeats = 0; !set_up(stop); ++repeats) {
    if (repeats == most_repeats) throw ZkError(code::connection_loss, options_.paths.front());
    watches_.clear();
    tree_.clear();
    known_.clear();
    unreported_.clear();
    await_reconnection(client_, options_.paths.front(), tree_.last_answer(), stop);
    require_same_servers();
    skip_events();
  }
  return is_native_ ? present_native(stop) : present();
}

/// Watches and reads everything. Returns false if the connection was lost meanwhile.
bool ChangeStream::set_up(const std::stop_token& stop) {
  is_native_ = options_.recursive && !options_.values;
  if (is_native_) {
    const bool is_set_up = set_up_native(stop);
    if (is_native_) return is_set_up;
  }
  for (const auto& path : options_.paths)
    tree_.add(path, options_.recursive ? WatchMode::Recursive : WatchMode::Persistent);
  const int result = tree_.catch_up(stop);
  if (is_repeatable_failure(result)) return false;
  if (result != code::ok) throw ZkError(result, options_.paths.front());
  if (const auto hidden = tree_.hidden_root()) throw ZkError(code::no_auth, *hidden);
  std::vector<NodeChange> ignored;
  report(false, ignored, stop);
  return unreported_.empty();
}

/// As set_up, unless the server is too old: then is_native_ is false.
bool ChangeStream::set_up_native(const std::stop_token& stop) {
  for (const auto& path : options_.paths) {
    const int result = watches_.add_at_server(path, WatchMode::Recursive, stop);
    if (result == code::unimplemented) {
      watches_.clear();
      is_native_ = false;
      return true;
    }
    if (is_repeatable_failure(result)) return false;
    if (result != code::ok) throw ZkError(result, path);
  }
  if (const auto hidden = watches_.take_unlistable(); !hidden.empty())
    throw ZkError(code::no_auth, hidden.front());
  return true;
}

/// Forgets what has happened so far.
void ChangeStream::skip_events() {
  client_.monitor().with_lock([&](const Monitor::Held& held) {
    (*mailbox_)(held).clear();
    state_ = client_.state(held);
  });
}

/// The existing nodes, by path. One that was gone before it could be read did not exist.
std::vector<NodeChange> ChangeStream::present() {
  std::erase_if(known_, [](const auto& entry) { return !entry.second.stat; });
  std::vector<NodeChange> all;
  all.reserve(known_.size());
  const auto now = wall_clock_now();
  for (const auto& [path, known] : known_)
    all.push_back({.type = NodeChange::Type::Present,
                   .path = path,
                   .time = now,
                   .after = known.stat,
                   .new_value = known.value});
  std::ranges::sort(all, {}, &NodeChange::path);
  return all;
}

/// The nodes that existed when their watches were set, by path.
std::vector<NodeChange> ChangeStream::present_native(const std::stop_token& stop) {
  std::vector<NodeChange> all;
  if (!options_.initial || !options_.survey) return all;
  const auto now = wall_clock_now();
  for (const auto& path : options_.paths) {
    MissedChanges nodes(-1, watches_.watched_from(path));
    options_.survey(client_, path, nodes, stop);
    for (auto& node : nodes.take())
      if (node.type == Event::Type::Created)
        all.push_back({.type = NodeChange::Type::Present,
                       .path = std::move(node.path),
                       .time = now,
                       .after = node.stat});
  }
  std::ranges::sort(all, {}, &NodeChange::path);
  // Of overlapping subtrees. Not std::ranges::unique, which clang 14 cannot compile.
  all.erase(std::unique(all.begin(), all.end(),
                        [](const NodeChange& one, const NodeChange& next) {
                          return one.path == next.path;
                        }),
            all.end());
  return all;
}

void ChangeStream::require_same_servers() {
  if (client_.server() != server_)
    throw Error("the session was switched to other servers: " + client_.server());
}

std::vector<NodeChange> ChangeStream::next(const std::stop_token& stop) {
  std::vector<NodeChange> changes;
  while (changes.empty()) {
    await_events(stop);
    const auto events = client_.monitor().with_lock(
        [&](const Monitor::Held& held) { return std::exchange((*mailbox_)(held), {}); });
    for (const auto& event : events) {
      if (event.type == Event::Type::Session)
        follow_session(event.state, event.zxid, changes, stop);
      else
        note(event);
    }
    if (lost_) continue;
    catch_up(false, changes, stop);
  }
  return changes;
}

void ChangeStream::note(const Event& event) {
  if (is_native_)
    watches_.note(event);
  else
    tree_.note(event);
}

void ChangeStream::catch_up(bool missed, std::vector<NodeChange>& changes,
                            const std::stop_token& stop) {
  if (is_native_) {
    watches_.resolve_doubts();
    watches_.catch_up(stop);
    report_native(missed, changes, stop);
  } else {
    tree_.resolve_doubts();
    tree_.catch_up(stop);
    report(missed, changes, stop);
  }
}

void ChangeStream::await_events(const std::stop_token& stop) {
  const auto has_events = [&](const Monitor::Held& held) {
    return (!lost_ && (tree_.in_doubt() || watches_.in_doubt())) || !(*mailbox_)(held).empty();
  };
  while (lost_ && !client_.monitor().with_lock(has_events)) {
    const bool gone = client_.monitor().with_lock([&](const Monitor::Held& held) {
      return client_.state(held) == SessionState::Expired || client_.session_id(held) == 0;
    });
    if (!gone) break;
    // An expired session is replaced only when a request needs one.
    await_connection_patiently(client_, options_.paths.front(), stop);
  }
  if (!client_.monitor().wait(stop, has_events)) throw Cancelled();
}

void ChangeStream::follow_session(SessionState state, std::int64_t zxid,
                                  std::vector<NodeChange>& changes, const std::stop_token& stop) {
  if (is_connected(state)) {
    require_same_servers();
    if (!std::exchange(lost_, false)) return;
    const auto now = wall_clock_now();
    changes.push_back({.type = NodeChange::Type::Gap,
                       .time = now,
                       .expired = std::exchange(expired_, false),
                       .since = lost_since_});
    note({.path = {}, .state = state});
    catch_up(true, changes, stop);
    return;
  }
  if (state == SessionState::AuthFailed || (state == SessionState::Closed && !expired_))
    throw ZkError(code::invalid_state, options_.paths.front());
  expired_ = expired_ || state == SessionState::Expired;
  if (std::exchange(lost_, true)) return;
  lost_since_ = wall_clock_now();
  // The tree must see a lost connection, not an expired session, which would make it forget the
  // nodes.
  note({.path = {}, .state = SessionState::Connecting, .zxid = zxid});
}

void ChangeStream::report(bool missed, std::vector<NodeChange>& changes,
                          const std::stop_token& stop) {
  auto events = std::exchange(unreported_, {});
  for (auto& event : tree_.take_events()) events.push_back(std::move(event));
  if (events.empty()) return;
  // Reading gives a node's state after its last deletion; earlier states are gone.
  std::unordered_map<std::string, std::size_t> last_deleted;
  Found nodes;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].type == Event::Type::Deleted) {
      last_deleted[events[i].path] = i;
      nodes.erase(events[i].path);
    } else {
      nodes.try_emplace(events[i].path);
    }
  }
  if (!read(nodes, stop)) {
    unreported_ = std::move(events);
    return;
  }
  const auto now = wall_clock_now();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    const auto end = last_deleted.find(event.path);
    const bool lasts = end == last_deleted.end() || end->second < i;
    const auto node = lasts ? nodes.find(event.path) : nodes.end();
    auto change = change_of(event, node != nodes.end() && node->second ? &*node->second : nullptr);
    if (!change) continue;
    change->time = now;
    change->missed = missed;
    changes.push_back(std::move(*change));
  }
}

/// What was read is not kept: each event is a change.
void ChangeStream::report_native(bool missed, std::vector<NodeChange>& changes,
                                 const std::stop_token& stop) {
  using Type = Event::Type;
  auto events = watches_.take_events();
  std::erase_if(events, [](const Event& event) { return event.type == Type::Session; });
  const auto ask = [&](const Event& event) {
    return event.type == Type::Deleted ? nullptr : client_.start_exists(event.path, Watch::none());
  };
  const auto take = [&](const Event& event, const Pending<Stat>& stat) {
    NodeChange change{.type = event.type == Type::Created       ? NodeChange::Type::Created
                              : event.type == Type::Deleted     ? NodeChange::Type::Deleted
                              : event.type == Type::DataChanged ? NodeChange::Type::Changed
                                                                : NodeChange::Type::Children,
                      .path = event.path,
                      .time = wall_clock_now(),
                      .missed = missed,
                      .zxid = event.zxid,
                      .lists_names = false};
    if (stat) {
      const auto read = client_.await(stat, stop);
      if (read.code == code::ok) change.after = read.value;
    }
    changes.push_back(std::move(change));
    return true;
  };
  ask_in_order(events, window_of(client_), ask, take);
}

/// Returns false if the connection was lost meanwhile.
bool ChangeStream::read(Found& nodes, const std::stop_token& stop) {
  return ask_in_order(
      nodes, window_of(client_), [&](const auto& node) { return ask(node.first); },
      [&](auto& node, Reading& reading) { return take(node.first, reading, node.second, stop); });
}

ChangeStream::Reading ChangeStream::ask(const std::string& path) {
  Reading reading;
  if (options_.values)
    reading.node = client_.start_get(path, Watch::none());
  else
    reading.stat = client_.start_exists(path, Watch::none());
  if (!options_.recursive) reading.children = client_.start_children(path, Watch::none());
  return reading;
}

bool ChangeStream::take(const std::string& path, Reading& reading, std::optional<Known>& found,
                        const std::stop_token& stop) {
  Known known;
  int result = code::ok;
  if (reading.node) {
    auto node = client_.await(reading.node, stop);
    result = node.code;
    known.stat = node.value.stat;
    known.value = std::move(node.value.data);
    // The Stat needs no permission.
    if (result == code::no_auth) reading.stat = client_.start_exists(path, Watch::none());
  }
  if (reading.stat) {
    const auto stat = client_.await(reading.stat, stop);
    result = stat.code;
    known.stat = stat.value;
    known.value.reset();
  }
  if (is_connection_failure(result)) return false;
  if (result != code::ok) return true;  // it is gone, or hidden
  if (reading.children) {
    auto children = client_.await(reading.children, stop);
    if (is_connection_failure(children.code)) return false;
    if (children.code == code::no_node) return true;
    // If they belong to different nodes, the deletion will be reported, and the node read again.
    known.children = std::move(children.value.names);
    known.cversion = children.value.stat.cversion;
    std::ranges::sort(known.children);
  }
  found = std::move(known);
  return true;
}

/// nullopt if the change was reported before. `found` is the node as it is now, or null if that
/// does not show what the event was about.
std::optional<NodeChange> ChangeStream::change_of(const Event& event, const Known* found) {
  const bool known = known_.contains(event.path);
  switch (event.type) {
    case Event::Type::Created:
      return known ? changed(event, found) : created(event, found);
    case Event::Type::DataChanged:
      return known ? changed(event, found) : std::nullopt;
    case Event::Type::ChildrenChanged:
      return known ? listed(event, found) : std::nullopt;
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
      found &&
      (!known.stat || known.stat->czxid == found->stat->czxid);  // not a node created after it
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
    // The node is gone by now; all of its children went first.
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
  if (known == known_.end()) return std::nullopt;  // every node was reported before its deletion
  change.before = known->second.stat;
  change.old_value = std::move(known->second.value);
  known_.erase(known);
  return change;
}

}  // namespace zksh
