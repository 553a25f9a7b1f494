// NodeWatches: asks the server for watches, and again after a lost connection.
#include "client/node_watches.h"

#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "client/server_version.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>

namespace zksh {

NodeWatches::Sent NodeWatches::send(const std::string& path, WatchMode mode) {
  auto watch = client_.start_add_watch(path, mode, mailbox_);
  const bool is_refused = client_.monitor().with_lock([&](const Monitor::Held& held) {
    const auto& answer = (*watch)(held);
    return answer && answer->code == code::unimplemented;
  });
  return {.watch = std::move(watch),
          .stat = is_refused ? nullptr : client_.start_exists(path, Watch::none())};
}

/// Returns the code.
int NodeWatches::await_sent(const Sent& sent, const std::string& path, Root& root,
                            const std::stop_token& stop) {
  const auto watch = client_.await(sent.watch, stop);
  if (watch.code != code::ok) return watch.code;
  root.from = watch.value;
  const auto stat = client_.await(sent.stat, stop);
  if (is_connection_failure(stat.code)) return stat.code;
  root.exists = stat.code == code::ok;
  if (stat.code == code::no_auth) unreadable_roots_.push_back(path);
  return code::ok;
}

int NodeWatches::add(const std::string& path, WatchMode mode, const std::stop_token& stop) {
  try {
    client_.learn_server(path, stop);
  } catch (const ZkError& error) {
    return error.code();
  }
  Root root{.mode = mode};
  const int result = await_sent(send(path, mode), path, root, stop);
  if (result == code::ok) roots_[path] = root;
  return result;
}

bool NodeWatches::remove(const std::string& path, std::optional<WatchMode> mode) {
  const auto root = roots_.find(path);
  if (root == roots_.end() || (mode && *mode != root->second.mode)) return false;
  roots_.erase(root);
  if (roots_.empty()) since_.reset();
  client_.start_end_watch(path, mailbox_);
  return true;
}

void NodeWatches::clear() {
  for (const auto& [path, root] : roots_) client_.start_end_watch(path, mailbox_);
  roots_.clear();
  since_.reset();
  events_.clear();
}

std::map<std::string, WatchMode> NodeWatches::modes() const {
  std::map<std::string, WatchMode> all;
  for (const auto& [path, root] : roots_) all[path] = root.mode;
  return all;
}

void NodeWatches::note(const Event& event) {
  const auto last = std::exchange(last_, std::nullopt);
  if (event.type == Event::Type::Session) {
    note_session(event);
  } else if (event.persistent) {
    last_ = event;
    const auto root = roots_.find(event.path);
    if (root != roots_.end() && event.type != Event::Type::ChildrenChanged)
      root->second.exists = event.type != Event::Type::Deleted;
    events_.push_back(event);
  } else if (!last || last->type != event.type || last->path != event.path) {
    events_.push_back(event);  // as in zkCli, not what a persistent watch has just reported
  }
}

void NodeWatches::note_session(const Event& event) {
  is_connected_ = is_connected(event.state);
  if (is_connected_) return;
  if (event.state != SessionState::Connecting)
    roots_.clear();  // the session is over
  else if (!since_ && !roots_.empty())
    since_ = event.zxid;
  if (roots_.empty()) since_.reset();
}

void NodeWatches::catch_up(const std::stop_token& stop) {
  const auto noted = static_cast<std::ptrdiff_t>(events_.size());
  if (since_ && is_connected_) set_again(stop);
  std::ranges::stable_sort(events_.begin() + noted, events_.end(), {}, &Event::zxid);
}

/// After a lost connection. A server that has just come back may not tell its version at once, and
/// seems to be older until then. A request may fail as if there were no connection while there is
/// one: with a code of the server's, or while it has not accepted the credentials.
void NodeWatches::set_again(const std::stop_token& stop) {
  constexpr std::chrono::seconds patience{5};
  constexpr std::chrono::milliseconds pause{200};
  const auto until = Clock::now() + patience;
  const auto is_lost = [&](const Monitor::Held& held) {
    return !is_connected(client_.state(held));
  };
  while (const int failed = try_to_set_again(stop)) {
    // The next connection will be noted.
    if (client_.monitor().wait_until(stop, Clock::now() + pause, is_lost)) return;
    if (stop.stop_requested()) throw Cancelled();
    if (failed == code::unimplemented && Clock::now() > until)
      throw with_version_for_watches(client_, ZkError(failed, roots_.begin()->first));
  }
}

/// Returns ok, a code of the connection's failure, or unimplemented.
int NodeWatches::try_to_set_again(const std::stop_token& stop) {
  try {
    client_.learn_server(roots_.begin()->first, stop);
    std::vector<Sent> sent;
    sent.reserve(roots_.size());
    for (const auto& [path, root] : roots_) sent.push_back(send(path, root.mode));
    auto next = sent.begin();
    for (auto& [path, root] : roots_) {
      Root now;
      const int result = await_sent(*next++, path, now, stop);
      if (result == code::unimplemented) return result;
      if (result != code::ok) throw ZkError(result, path);
      root.from = now.from;
      find_missed(path, root, stop);
    }
    since_.reset();
    return code::ok;
  } catch (const ZkError& error) {
    if (!is_connection_failure(error.code())) throw;
    return error.code();
  }
}

/// Finds what happened to a root, and below it, while there was no connection. A server that has
/// seen less than this session was restored: nothing is known of what it has, so all of it is new.
void NodeWatches::find_missed(const std::string& path, Root& root, const std::stop_token& stop) {
  const auto until = root.from;
  const auto since = std::max(*since_, root.reported_until);
  MissedChanges changes(until < since ? -1 : since, until);
  if (root.mode == WatchMode::Recursive && survey_) {
    survey_(client_, path, changes, stop);
  } else if (const auto stat = client_.exists(path, Watch::none(), stop)) {
    changes.visit(path, *stat);
    if (root.mode == WatchMode::Recursive) changes.note_unlistable();
  }
  root.reported_until = until;
  const bool existed = std::exchange(root.exists, changes.has_visited());
  const auto missed = changes.take();
  const bool is_new = std::ranges::any_of(missed, [&](const auto& change) {
    return change.type == Event::Type::Created && change.path == path;
  });
  std::vector<Event> found;
  if (existed && (is_new || !root.exists))
    found.push_back({.type = Event::Type::Deleted, .path = path});
  for (const auto& change : missed)
    found.push_back({.type = change.type, .path = change.path, .zxid = change.zxid});
  // Overlapping watches find it twice, and one-shot watches may have reported it.
  std::set<std::pair<Event::Type, std::string>> known;
  for (const auto& event : events_) known.emplace(event.type, event.path);
  for (auto& event : found) {
    event.persistent = true;
    if (!known.contains({event.type, event.path})) events_.push_back(std::move(event));
  }
}

void MissedChanges::visit(const std::string& path, const Stat& stat) {
  const auto parent = parent_path(path);
  while (!ancestors_.empty() && (ancestors_.back().path != parent || path == "/")) leave();
  if (!ancestors_.empty() && ancestors_.back().stat.pzxid == stat.czxid)
    ancestors_.back().change_is_known = true;
  if (is_missed(stat.czxid)) changes_.push_back({stat.czxid, Event::Type::Created, path, stat});
  if (is_missed(stat.mzxid) && stat.mzxid != stat.czxid)
    changes_.push_back({stat.mzxid, Event::Type::DataChanged, path, stat});
  ancestors_.push_back({.path = path, .stat = stat});
}

void MissedChanges::leave() {
  auto& [path, stat, change_is_known] = ancestors_.back();
  // The pzxid of a node that never had children is its creation's.
  if (!change_is_known && stat.pzxid != stat.czxid && is_missed(stat.pzxid))
    changes_.push_back({stat.pzxid, Event::Type::ChildrenChanged, std::move(path), stat});
  ancestors_.pop_back();
}

std::vector<MissedChanges::Change> MissedChanges::take() {
  while (!ancestors_.empty()) leave();
  std::ranges::stable_sort(changes_, {}, &Change::zxid);
  return std::exchange(changes_, {});
}

}  // namespace zksh
