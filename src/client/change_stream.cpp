// ChangeStream: follows the events of watches and the state of the session.
#include "client/change_stream.h"

#include "base/time.h"
#include "client/client.h"
#include "client/patient_connection.h"
#include "client/server_version.h"
#include "client/work_limits.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace zksh {

ChangeStream::ChangeStream(Client& client, Options options)
    : client_(client),
      options_(std::move(options)),
      // With values, what was missed is found by comparing with what is kept.
      watches_(client, mailbox_, options_.values ? Survey{} : options_.survey) {}

ChangeStream::~ChangeStream() {
  listener_.reset();
  watches_.clear();
  if (options_.recursive) return;
  for (const auto& path : options_.paths) client_.forget_watches(path, mailbox_);
}

std::vector<NodeChange> ChangeStream::begin(const std::stop_token& stop) {
  client_.await_connection(options_.paths.front(), stop);
  server_ = client_.server();
  state_ = client_.current_state();
  listener_.emplace(client_.monitor(), [this](const Monitor::Held& held, const void* subject) {
    if (subject) return;
    // Puts session events into the mailbox, in order with the watch events.
    const auto now = client_.state(held);
    if (now == std::exchange(state_, now)) return;
    (*mailbox_)(held).push_back({.path = {}, .state = now, .zxid = client_.last_zxid(held)});
  });
  constexpr int most_repeats = 10;  // an answer itself may be what ends the connection
  for (int repeats = 0;; ++repeats) {
    const auto began = Clock::now();
    if (set_up(stop)) break;
    if (repeats == most_repeats) throw ZkError(code::connection_loss, options_.paths.front());
    watches_.clear();
    known_.clear();
    kept_bytes_ = 0;
    due_.clear();
    await_reconnection(client_, options_.paths.front(), began, stop);
    require_same_servers();
    client_.monitor().with_lock([&](const Monitor::Held& held) {
      (*mailbox_)(held).clear();
      state_ = client_.state(held);
    });
  }
  return present(stop);
}

/// Sets all watches, and reads what is kept. Returns false if the connection was lost meanwhile.
bool ChangeStream::set_up(const std::stop_token& stop) {
  if (options_.recursive) {
    for (const auto& path : options_.paths) {
      const int result = watches_.add(path, WatchMode::Recursive, stop);
      if (is_repeatable_failure(result)) return false;
      if (result != code::ok) throw with_version_for_watches(client_, ZkError(result, path));
    }
    if (const auto hidden = watches_.take_unreadable_roots(); !hidden.empty())
      throw ZkError(code::no_auth, hidden.front());
    if (!options_.values) return true;
    for (const auto& [path, stat] : survey(stop)) due_.push_back({.path = path});
  } else {
    for (const auto& path : options_.paths) due_.push_back({.path = path});
  }
  if (!read(stop)) return false;
  for (auto& node : std::exchange(due_, {})) keep(node.path, std::move(node.found));
  // A survey goes on after a lost connection, but the watches that were set end with it.
  return !client_.monitor().with_lock([&](const Monitor::Held& held) {
    return std::ranges::any_of(
        (*mailbox_)(held), [](const Event& event) { return event.type == Event::Type::Session; });
  });
}

/// The nodes of the watched subtrees. If nothing is kept, without those created after the watch was
/// set, whose creation will be reported.
std::map<std::string, Stat> ChangeStream::survey(const std::stop_token& stop) {
  std::map<std::string, Stat> all;
  for (const auto& path : options_.paths) {
    MissedChanges nodes(-1, options_.values ? std::numeric_limits<std::int64_t>::max()
                                            : watches_.watched_from(path));
    options_.survey(client_, path, nodes, stop);
    for (auto& node : nodes.take())
      if (node.type == Event::Type::Created) all.emplace(std::move(node.path), node.stat);
  }
  return all;
}

/// The nodes that exist now that the watches are set, by path.
std::vector<NodeChange> ChangeStream::present(const std::stop_token& stop) {
  std::vector<NodeChange> all;
  const auto now = wall_clock_now();
  const auto add = [&](const std::string& path, const Stat& stat,
                       const std::optional<Data>& value) {
    all.push_back({.type = NodeChange::Type::Present,
                   .path = path,
                   .time = now,
                   .after = stat,
                   .new_value = value});
  };
  if (!options_.initial) return all;
  for (const auto& [path, node] : known_) add(path, node.stat, node.value);
  if (options_.recursive && !options_.values && options_.survey)
    for (const auto& [path, stat] : survey(stop)) add(path, stat, std::nullopt);
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
      else if (options_.recursive)
        watches_.note(event);
      else
        due_.push_back({.path = event.path, .event = event.type});
    }
    if (!lost_) catch_up(false, changes, stop);
  }
  return changes;
}

void ChangeStream::await_events(const std::stop_token& stop) {
  const auto has_events = [&](const Monitor::Held& held) { return !(*mailbox_)(held).empty(); };
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
    watches_.note({.path = {}, .state = state});
    catch_up(true, changes, stop);
    return;
  }
  if (state == SessionState::AuthFailed || (state == SessionState::Closed && !expired_))
    throw ZkError(code::invalid_state, options_.paths.front());
  expired_ = expired_ || state == SessionState::Expired;
  if (std::exchange(lost_, true)) return;
  lost_since_ = wall_clock_now();
  // The watches must see a lost connection, not an expired session, with which they would end.
  watches_.note({.path = {}, .state = SessionState::Connecting, .zxid = zxid});
}

/// Reports what has changed since the last call; if the connection is lost meanwhile, the next call
/// does so. `missed`: there was no connection for a while.
void ChangeStream::catch_up(bool missed, std::vector<NodeChange>& changes,
                            const std::stop_token& stop) {
  if (options_.recursive) {
    watches_.catch_up(stop);
    if (!options_.values) return report_events(missed, changes, stop);
    if (missed && !note_differences(stop)) return;
    for (auto& event : watches_.take_events())
      due_.push_back({.path = std::move(event.path), .event = event.type});
  } else if (missed) {
    for (const auto& path : options_.paths) due_.push_back({.path = path});
  }
  if (due_.empty() || !read(stop)) return;
  for (auto& node : std::exchange(due_, {})) compare(std::move(node), missed, changes);
}

/// After a gap: which nodes of the subtrees are not as they were. Returns false if the connection
/// was lost meanwhile. A survey gives up after a while; this does not.
bool ChangeStream::note_differences(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds pause{200};
  std::map<std::string, Stat> now;
  for (;;) {
    try {
      now = survey(stop);
      break;
    } catch (const ZkError& error) {
      if (!is_connection_failure(error.code())) throw;
    }
    if (client_.monitor().wait_until(stop, Clock::now() + pause, [&](const Monitor::Held& held) {
          return !is_connected(client_.state(held));
        }))
      return false;
    if (stop.stop_requested()) throw Cancelled();
  }
  // Nodes were deleted before their parents. What may no longer be listed may still be there.
  for (auto node = known_.end(); node != known_.begin();)
    if (--node; !now.contains(node->first)) due_.push_back({.path = node->first});
  std::vector<std::pair<std::int64_t, std::string>> changed;
  for (const auto& [path, stat] : now) {
    const auto known = known_.find(path);
    if (known == known_.end() || known->second.stat.czxid != stat.czxid ||
        known->second.stat.mzxid != stat.mzxid)
      changed.emplace_back(stat.mzxid, path);
  }
  std::ranges::sort(changed);
  for (auto& [zxid, path] : changed) due_.push_back({.path = std::move(path)});
  return true;
}

/// Nothing is kept: each event is a change.
void ChangeStream::report_events(bool missed, std::vector<NodeChange>& changes,
                                 const std::stop_token& stop) {
  using Type = Event::Type;
  const auto events = watches_.take_events();
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

/// Reads the nodes that are due; single ones with new watches. Returns false if the connection was
/// lost meanwhile.
bool ChangeStream::read(const std::stop_token& stop) {
  return ask_in_order(
      due_, window_of(client_), [&](const Due& node) { return send_reads(node.path); },
      [&](Due& node, Reading& reading) { return receive(node, reading, stop); });
}

ChangeStream::Reading ChangeStream::send_reads(const std::string& path) {
  Reading reading;
  // The watch is set first, so that it sees what happens after the other answers.
  if (!options_.recursive) reading.stat = client_.start_exists(path, Watch::into(mailbox_));
  if (options_.values) reading.node = client_.start_get(path, Watch::none());
  if (!options_.recursive) reading.children = client_.start_children(path, Watch::into(mailbox_));
  return reading;
}

bool ChangeStream::receive(Due& node, Reading& reading, const std::stop_token& stop) {
  Known found;
  int result = code::ok;
  if (reading.stat) {
    const auto stat = client_.await(reading.stat, stop);
    result = stat.code;
    found.stat = stat.value;
  }
  if (reading.node && result == code::ok) {
    auto read = client_.await(reading.node, stop);
    result = read.code;
    if (result == code::ok) {
      found.stat = read.value.stat;
      found.value = std::move(read.value.data);
    } else if (result == code::no_auth) {  // the Stat needs no permission
      const auto stat = client_.await(client_.start_exists(node.path, Watch::none()), stop);
      result = stat.code;
      found.stat = stat.value;
    }
  }
  if (reading.children && result == code::ok) {
    auto list = client_.await(reading.children, stop);
    if (list.code == code::no_auth) {
      unlistable_.push_back(node.path);
    } else {
      result = list.code;
      found.children = list.value.names.strings();
      found.cversion = list.value.stat.cversion;
      std::ranges::sort(found.children);
    }
  }
  if (is_connection_failure(result)) return false;
  if (result == code::ok) {
    node.found = std::move(found);
  } else if (result == code::no_auth && options_.recursive) {  // as far as is known, it is the same
    const auto known = known_.find(node.path);
    if (known != known_.end()) node.found = known->second;
  } else if (result != code::no_node) {
    throw ZkError(result, node.path);
  }
  return true;
}

/// Reports how a node differs from what is kept of it, and keeps what it is now.
void ChangeStream::compare(Due node, bool missed, std::vector<NodeChange>& changes) {
  using Type = NodeChange::Type;
  const auto add = [&, now = wall_clock_now()](NodeChange change) {
    change.path = node.path;
    change.time = now;
    change.missed = missed;
    changes.push_back(std::move(change));
  };
  auto& found = node.found;
  const auto entry = known_.find(node.path);
  auto* known = entry == known_.end() ? nullptr : &entry->second;
  if (!known && !found && node.event == Event::Type::Created) {  // it came and went
    add({.type = Type::Created});
    add({.type = Type::Deleted});
  }
  if (known && (!found || known->stat.czxid != found->stat.czxid)) {
    if (node.event == Event::Type::DataChanged)
      add({.type = Type::Changed, .before = known->stat, .old_value = known->value});
    if (!known->children.empty())  // these were deleted first
      add({.type = Type::Children, .before = known->stat, .removed = std::move(known->children)});
    add({.type = Type::Deleted, .before = known->stat, .old_value = std::move(known->value)});
    known = nullptr;
  }
  if (found && !known) {
    add({.type = Type::Created, .after = found->stat, .new_value = found->value});
  } else if (found) {
    if (known->stat.mzxid != found->stat.mzxid)
      add({.type = Type::Changed,
           .before = known->stat,
           .after = found->stat,
           .old_value = std::move(known->value),
           .new_value = found->value});
    if (known->cversion != found->cversion) {
      NodeChange list{.type = Type::Children, .before = known->stat, .after = found->stat};
      std::ranges::set_difference(found->children, known->children, std::back_inserter(list.added));
      std::ranges::set_difference(known->children, found->children,
                                  std::back_inserter(list.removed));
      add(std::move(list));
    }
  }
  keep(node.path, std::move(found));
}

void ChangeStream::keep(const std::string& path, std::optional<Known> node) {
  const auto bytes = [&](const Known& known) {
    constexpr std::size_t of_entry = 256;
    return of_entry + path.size() + (known.value && *known.value ? (*known.value)->size() : 0);
  };
  const auto old = known_.find(path);
  if (old != known_.end()) {
    kept_bytes_ -= bytes(old->second);
    if (!node) known_.erase(old);
  }
  if (!node) return;
  kept_bytes_ += bytes(*node);
  if (kept_bytes_ > most_kept_bytes)
    throw Error("the values below " + options_.paths.front() +
                " take more than 1 GiB of memory; watch a smaller subtree, or without --data");
  known_.insert_or_assign(path, std::move(*node));
}

}  // namespace zksh
