// LockReader: reads a lock's queue, once or after each change.
#include "lock/reader.h"

#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "client/work_limits.h"

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// The limit near the server; a value can be a megabyte.
constexpr std::size_t reads_in_flight = 128;

/// The nodes whose data and Stat are needed: each contender's first, or all if their order depends
/// on their Stats.
std::vector<std::string> needed_names(const std::vector<std::string>& names) {
  const bool all = order_needs_stats(names);
  std::vector<std::string> needed;
  for (const auto& contender : make_lock_queue(names).contenders) {
    for (const auto& node : contender.nodes) {
      needed.push_back(node.text);
      if (!all) break;
    }
  }
  return needed;
}

/// Removes all nodes of contenders that lost one: they come and go together.
void remove_contenders(std::vector<std::string>& names, const std::set<std::string>& gone) {
  if (gone.empty()) return;
  ContenderKeys keys;
  for (const auto& name : gone) keys.emplace(parse_lock_name(name)->key());
  std::erase_if(names, [&](const std::string& name) {
    const auto parsed = parse_lock_name(name);
    return parsed && keys.contains(parsed->key());
  });
}

void count(const Event& event, ServersAccount::Events& counts) {
  if (event.type == Event::Type::Deleted) ++counts.deleted;
  if (event.type == Event::Type::ChildrenChanged) ++counts.children;
}

}  // namespace

LockReader::LockReader(Client& client, std::string path, bool watch)
    : client_(client), watch_(watch) {
  locks_.path = join_path(path, "locks");
  leases_.path = join_path(path, "leases");
  top_.path = std::move(path);
}

LockReader::~LockReader() {
  if (!watch_) return;
  for (const auto* directory : {&top_, &locks_, &leases_}) {
    for (const auto& name : directory->known)
      client_.drop_watches(join_path(directory->path, name), mailbox_);
    client_.forget_watches(directory->path, mailbox_);
  }
}

std::optional<QueueReading> LockReader::read(const std::stop_token& stop) {
  for (;;) {
    connect(stop);
    if (watch_) take_events();
    std::optional<QueueReading> reading;
    const int code = try_read(reading, stop);
    if (code == code::ok) return reading;
    if (!watch_ || !is_connection_failure(code)) throw ZkError(code, top_.path);
  }
}

/// A viewer waits as long as it takes, but its first connection must be made in time.
void LockReader::connect(const std::stop_token& stop) {
  // Both open a new session if the old one has expired.
  if (session_ != 0)
    await_connection_patiently(client_, top_.path, stop);
  else
    client_.await_connection(top_.path, stop);
  const auto session = client_.session_id();
  if (session_ != session)
    for (auto* directory : {&top_, &locks_, &leases_}) *directory = {.path = directory->path};
  session_ = session;
}

int LockReader::try_read(std::optional<QueueReading>& reading, const std::stop_token& stop) {
  ask(top_);
  int code = list(top_, stop);
  if (code == code::no_node && watch_) return await_creation(stop);
  if (code != code::ok) return code;
  if (!is_semaphore(top_.children.names)) {
    if ((code = fetch(top_, stop)) != code::ok) return code;
    reading = {.path = top_.path, .queue = top_.children};
    return code::ok;
  }
  const auto asked = client_.start_get(top_.path, watch());
  for (auto* directory : {&locks_, &leases_}) ask(*directory);
  const auto node = client_.await(asked, stop);
  if (node.code != code::ok && node.code != code::no_auth) return node.code;
  for (auto* directory : {&locks_, &leases_}) {
    code = list(*directory, stop);
    if (code == code::ok) code = fetch(*directory, stop);
    // Gone since its parent was listed: treat it as empty.
    if (code == code::no_node)
      *directory = {.path = directory->path};
    else if (code != code::ok)
      return code;
  }
  reading = {.path = top_.path,
             .queue = locks_.children,
             .leases = leases_.children,
             .limit = semaphore_limit(node.value.data)};
  return code::ok;
}

/// Asks for the children, unless they are known.
void LockReader::ask(Directory& directory) {
  if (!directory.listed) directory.asked = client_.start_children(directory.path, watch());
}

int LockReader::list(Directory& directory, const std::stop_token& stop) {
  if (directory.listed) return code::ok;
  const auto outcome = client_.await(std::exchange(directory.asked, {}), stop);
  if (outcome.code != code::ok) return outcome.code;
  directory.children.names = outcome.value.names.strings();
  directory.children.stat = outcome.value.stat;
  directory.listed = watch_;
  return code::ok;
}

int LockReader::fetch(Directory& directory, const std::stop_token& stop) {
  auto& children = directory.children;
  std::set<std::string> gone;
  std::map<std::string, QueueNode> entries;
  std::vector<std::string> unread;
  for (const auto& name : needed_names(children.names))
    if (directory.known.contains(name))
      entries[name] = children.entries[name];
    else
      unread.push_back(name);
  int code = code::ok;
  const auto ask = [&](const std::string& name) {
    return client_.start_get(join_path(directory.path, name), watch());
  };
  const auto take = [&](const std::string& name, const Pending<Node>& pending) {
    auto outcome = client_.await(pending, stop);
    auto& [data, stat] = outcome.value;
    QueueNode entry{.data = owner_beginning(std::move(data)), .stat = stat};
    if (outcome.code == code::no_auth) {
      const auto path = join_path(directory.path, name);
      const auto exists = client_.await(client_.start_exists(path, watch()), stop);
      // Since 3.9, the Stat needs the permission, too.
      outcome.code = exists.code == code::no_auth ? code::ok : exists.code;
      entry = {.data = {}, .stat = exists.value, .readable = false};
    }
    if (outcome.code == code::no_node) {
      gone.insert(name);
      return true;
    }
    code = outcome.code;
    if (code != code::ok) return false;
    if (is_release_request(entry.data))
      if (const auto old = children.entries.find(name); old != children.entries.end())
        entry.before = is_release_request(old->second.data) ? old->second.before : old->second.data;
    if (watch_) {
      // Kept even if the connection is lost before all are read.
      directory.known.insert(name);
      children.entries[name] = entry;
    }
    entries[name] = std::move(entry);
    return true;
  };
  const auto window = FlightWindow(client_, {.least = reads_in_flight}).now();
  if (!ask_in_order(unread, window, ask, take)) return code;
  children.entries = std::move(entries);
  remove_contenders(children.names, gone);
  return code::ok;
}

/// Sets a watch on a missing node. Returns a code other than ok if it exists by now.
int LockReader::await_creation(const std::stop_token& stop) {
  const auto outcome = client_.await(client_.start_exists(top_.path, watch()), stop);
  if (outcome.code == code::no_node) return code::ok;
  return outcome.code == code::ok ? code::connection_loss : outcome.code;
}

bool LockReader::await_change(const std::stop_token& stop, Clock::time_point deadline) {
  const auto changed = [&](const Monitor::Held& held) {
    const auto state = client_.state(held);
    return !(*mailbox_)(held).empty() || state == SessionState::Expired ||
           state == SessionState::Closed || state == SessionState::AuthFailed;
  };
  const bool ended = client_.monitor().wait_until(stop, deadline, changed);
  if (!ended && stop.stop_requested()) throw Cancelled();
  return ended;
}

std::size_t LockReader::watches() const {
  return top_.known.size() + locks_.known.size() + leases_.known.size();
}

ServersAccount::Events LockReader::events() {
  auto events = events_;
  client_.monitor().with_lock([&](const Monitor::Held& held) {
    for (const auto& event : (*mailbox_)(held)) count(event, events);
  });
  return events;
}

void LockReader::take_events() {
  const auto events = client_.monitor().change(
      [&](const Monitor::Held& held) { return std::exchange((*mailbox_)(held), {}); });
  for (const auto& event : events) {
    count(event, events_);
    for (auto* directory : {&top_, &locks_, &leases_}) {
      if (event.path == directory->path) {
        if (event.type != Event::Type::DataChanged) directory->listed = false;
      } else if (parent_path(event.path) == directory->path) {
        directory->known.erase(std::string(base_name(event.path)));
      }
    }
  }
}

}  // namespace zksh
