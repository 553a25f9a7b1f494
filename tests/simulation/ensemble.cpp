// Ensemble: servers of ZooKeeper's protocol for the simulation.
#include "ensemble.h"

#include "base/digest.h"
#include "base/jute.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace simulation {
namespace {

using zksh::JuteReader;

namespace op {
constexpr std::int32_t create = 1, remove = 2, exists = 3, get = 4, set = 5, get_acl = 6,
                       set_acl = 7, children = 8, sync = 9, ping = 11, children2 = 12, check = 13,
                       multi = 14, create2 = 15, reconfig = 16, check_watches = 17,
                       remove_watches = 18, create_container = 19, create_ttl = 21, multi_read = 22,
                       open_session = -10, close = -11, auth = 100, set_watches = 101,
                       ephemerals = 103, count = 104, set_watches2 = 105, add_watch = 106,
                       who_am_i = 107;
}  // namespace op

namespace err {
constexpr std::int32_t ok = 0, inconsistency = -2, unimplemented = -6, bad_arguments = -8,
                       no_node = -101, no_auth = -102, bad_version = -103, ephemeral_parent = -108,
                       exists = -110, not_empty = -111, expired = -112, auth_failed = -115,
                       moved = -118, not_read_only = -119, no_watcher = -121, throttled = -127;
}  // namespace err

namespace event {
constexpr std::int32_t created = 1, deleted = 2, changed = 3, children = 4;
}  // namespace event

constexpr std::int32_t right_read = 1, right_write = 2, right_create = 4, right_delete = 8,
                       right_admin = 16;

void add_long(std::string& to, std::int64_t number) {
  to.append(8, '\0');
  zksh::put_number(to.data() + to.size() - 8, number, 8);
}
void add_int(std::string& to, std::int32_t number) { zksh::add_number(to, number); }
void add_flag(std::string& to, bool flag) { to += static_cast<char>(flag); }
void add_data(std::string& to, const std::optional<std::string>& data) {
  if (data)
    zksh::add_text(to, *data);
  else
    add_int(to, -1);
}
void add_stat(std::string& to, const ServerNode& node) {
  add_long(to, node.czxid);
  add_long(to, node.mzxid);
  add_long(to, node.ctime);
  add_long(to, node.mtime);
  add_int(to, node.version);
  add_int(to, node.creations * 2 - static_cast<std::int32_t>(node.children.size()));
  add_int(to, node.aversion);
  add_long(to, node.owner);
  add_int(to, node.data ? static_cast<std::int32_t>(node.data->size()) : 0);
  add_int(to, static_cast<std::int32_t>(node.children.size()));
  add_long(to, node.pzxid);
}
void add_names(std::string& to, const ServerNode& node) {
  std::vector<std::string> names(node.children.begin(), node.children.end());
  for (std::size_t i = names.size(); i > 1; --i)
    std::swap(names[i - 1],
              names[static_cast<std::size_t>(dice().number(static_cast<std::int64_t>(i) - 1))]);
  add_int(to, static_cast<std::int32_t>(names.size()));
  for (const auto& name : names) zksh::add_text(to, name);
}
void add_acl(std::string& to, const std::vector<Entry>& acl) {
  add_int(to, static_cast<std::int32_t>(acl.size()));
  for (const auto& [perms, scheme, id] : acl) {
    add_int(to, perms);
    zksh::add_text(to, scheme);
    zksh::add_text(to, id);
  }
}
std::vector<Entry> take_acl(JuteReader& from) {
  std::vector<Entry> acl;
  for (auto left = from.count(12); left > 0 && !from.failed(); --left) {
    Entry one;
    one.perms = from.integer();
    one.scheme = from.text();
    one.id = from.text();
    acl.push_back(std::move(one));
  }
  return acl;
}
std::optional<std::string> take_data(JuteReader& from) {
  const auto data = from.buffer();
  return data ? std::optional<std::string>(*data) : std::nullopt;
}
std::vector<std::string> take_paths(JuteReader& from) {
  std::vector<std::string> paths;
  for (auto left = from.count(4); left > 0 && !from.failed(); --left)
    paths.emplace_back(from.text());
  return paths;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

ServerTree empty_tree() {
  ServerTree tree;
  for (const auto* path : {"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"})
    tree[path] = {.data = "", .acl = {Entry{}}};
  tree["/"].children = {"zookeeper"};
  tree["/zookeeper"].children = {"config", "quota"};
  return tree;
}

/// Applies the changes of nodes.
void apply_to(ServerTree& tree, const Transaction& transaction) {
  const auto remove = [&](const std::string& path) {
    tree.erase(path);
    auto& parent = tree[parent_of(path)];
    parent.children.erase(path.substr(path.rfind('/') + 1));
    parent.pzxid = transaction.zxid;
  };
  for (const auto& change : transaction.changes) {
    switch (change.what) {
      case Change::What::Create: {
        auto& node = tree[change.path];
        node = {.data = change.data, .acl = change.acl};
        node.czxid = node.mzxid = node.pzxid = transaction.zxid;
        node.ctime = node.mtime = transaction.time;
        node.owner = change.owner;
        node.is_container = change.is_container;
        auto& parent = tree[parent_of(change.path)];
        parent.children.insert(change.path.substr(change.path.rfind('/') + 1));
        parent.pzxid = transaction.zxid;
        ++parent.creations;
        break;
      }
      case Change::What::Remove:
        remove(change.path);
        break;
      case Change::What::Set: {
        auto& node = tree[change.path];
        node.data = change.data;
        node.version = change.version;
        node.mzxid = transaction.zxid;
        node.mtime = transaction.time;
        break;
      }
      case Change::What::SetAcl:
        tree[change.path].acl = change.acl;
        tree[change.path].aversion = change.version;
        break;
      default:
        break;
    }
  }
}

bool is_write(std::int32_t operation) {
  switch (operation) {
    case op::create:
    case op::create2:
    case op::create_container:
    case op::create_ttl:
    case op::remove:
    case op::set:
    case op::set_acl:
    case op::multi:
    case op::sync:
    case op::close:
      return true;
    default:
      return false;
  }
}

/// The first version that knows the operation.
int since(std::int32_t operation) {
  switch (operation) {
    case op::create2:
    case op::create_container:
    case op::create_ttl:
    case op::check_watches:
    case op::remove_watches:
    case op::reconfig:
      return 305;
    case op::multi_read:
    case op::ephemerals:
    case op::count:
    case op::set_watches2:
    case op::add_watch:
      return 306;
    case op::who_am_i:
      return 307;
    default:
      return 0;
  }
}

}  // namespace

struct Ensemble::Client {
  Connection::Pointer connection;
  int member = 0;
  std::string buffer{};
  bool greeted = false;
  bool welcomed = false;
  bool gone = false;
  bool closes = false;       ///< it has asked for the session's end
  std::int32_t granted = 0;  ///< less than before; the leader has not heard of it
  std::int64_t session = 0;
  Time welcomed_at = 0;
  std::vector<Entry> identities{};
  struct Asked {
    std::uint64_t number = 0;
    std::int32_t xid = 0;
    std::int32_t operation = 0;
    std::string body{};
    bool done = false;  ///< a write, of which the answer is there
    std::int32_t code = 0;
    std::string answer{};
  };
  std::deque<Asked> queue{};
  std::set<std::string> data_watches{};
  std::set<std::string> child_watches{};
  struct Persistent {
    bool exact = false;
    bool recursive = false;
  };
  std::map<std::string, Persistent> persistent{};  ///< before 3.9, the last mode alone
};

struct Ensemble::Member {
  bool up = true;
  bool serving = false;
  Time serving_since = 0;
  bool read_only = false;
  Time looks_since = never;  ///< for a leader
  std::set<std::int64_t> local_sessions{};
  std::uint64_t life = 0;  ///< counts its starts and its losses of a leader
  int version = 308;
  Time heard = 0;
  Time frozen_until = 0;
  Time last_told = 0;
  Time last_forwarded = 0;
  std::size_t applied = 0;
  std::int64_t last_zxid = 0;
  ServerTree tree = empty_tree();
  std::map<std::int64_t, std::int32_t> sessions{};  ///< as far as it has applied
  std::set<std::int64_t> touched{};
  std::vector<ClientPointer> clients{};
};

struct Ensemble::Forwarded {
  ClientPointer client{};
  std::uint64_t number = 0;
  std::int32_t operation = 0;
  std::string body{};
  std::int64_t session = 0;
  int member = 0;
};

Ensemble::Ensemble(Settings settings) : settings_(std::move(settings)), ahead_(empty_tree()) {
  for (int i = 0; i < settings_.members; ++i) {
    auto& member = *members_.emplace_back(std::make_unique<Member>());
    member.version = settings_.versions.at(static_cast<std::size_t>(i));
    listen(i, [this, i](Connection::Pointer connection) { accept(i, std::move(connection)); });
  }
  elect(0);
  at(now() + settings_.tick / 2, [this] { beat(); });
}

Ensemble::~Ensemble() = default;

std::string Ensemble::connect_string(int client, bool by_name) const {
  std::string text;
  for (int i = 0; i < settings_.members; ++i)
    text += (i > 0 ? "," : "") +
            (by_name ? fmt::format("s{}.c{}", i, client) : address_of(client, i)) + ":2181";
  return text;
}

/// Runs it unless the member has died or lost its leader meanwhile; when it thaws, if it is frozen.
void Ensemble::later(int member, Time delay, std::function<void()> action) {
  const auto life = members_[static_cast<std::size_t>(member)]->life;
  after(delay, [this, member, life, action = std::move(action)] {
    auto& one = *members_[static_cast<std::size_t>(member)];
    if (one.life != life) return;
    if (one.frozen_until > now()) return later(member, one.frozen_until - now(), action);
    action();
  });
}

void Ensemble::accept(int member, Connection::Pointer connection) {
  auto& one = *members_[static_cast<std::size_t>(member)];
  auto client = std::make_shared<Client>();
  client->connection = std::move(connection);
  client->member = member;
  one.clients.push_back(client);
  client->connection->received = [this, client](std::string_view bytes) {
    client->buffer += bytes;
    later(client->member, 0, [this, client] { receive(client); });
  };
  client->connection->ended = [this, client] {
    // What has arrived before is read first.
    later(client->member, 0, [this, client] {
      if (client->welcomed && !client->gone && !client->closes && left)
        left(client->connection->client());
      drop(client, false);
    });
  };
}

void Ensemble::drop(const ClientPointer& client, bool reset) {
  if (std::exchange(client->gone, true)) return;
  const auto connection = std::exchange(client->connection, nullptr);
  std::erase(members_[static_cast<std::size_t>(client->member)]->clients, client);
  if (connection) connection->close(reset);
}

void Ensemble::drop_all(Member& member, bool reset) {
  const auto clients = member.clients;
  for (const auto& client : clients) drop(client, reset);
}

void Ensemble::receive(const ClientPointer& client) {
  auto& member = *members_[static_cast<std::size_t>(client->member)];
  while (!client->gone && client->buffer.size() >= 4) {
    if (!client->greeted) {
      const auto word = client->buffer.substr(0, 4);
      std::string text;
      const char* const inactive = "This ZooKeeper instance is not currently serving requests\n";
      if (word == "ruok") text = "imok";
      if (word == "isro") text = member.serving ? "rw" : member.read_only ? "ro" : "null";
      if (word == "conf")
        text = fmt::format("clientPort=2181\ndataDir=/d\ntickTime={}\nmaxClientCnxns=60\n",
                           settings_.tick / millisecond);
      if (word == "srvr")
        text = member.serving || member.read_only
                   ? fmt::format(
                         "Zookeeper version: 3.{}.0-sim, built on 2026\nLatency min/avg/max: "
                         "0/0/0\nReceived: 1\nSent: 1\n"
                         "Connections: 1\nOutstanding: 0\nZxid: 0x{:x}\nMode: {}\nNode count: {}\n",
                         member.version % 100, member.last_zxid, mode_of(client->member),
                         member.tree.size())
                   : inactive;
      if (!text.empty()) {
        client->connection->send(text);
        return drop(client, false);
      }
    }
    JuteReader from(client->buffer);
    const auto size = from.integer();
    if (size < 0 || size > settings_.longest_request) return drop(client, false);
    if (from.left() < static_cast<std::size_t>(size)) return;
    const std::string bytes(from.take(static_cast<std::size_t>(size)));
    client->buffer.erase(0, 4 + static_cast<std::size_t>(size));
    frame(client, bytes);
  }
}

const char* Ensemble::mode_of(int member) const {
  if (member == leader_) return "leader";
  if (members_[static_cast<std::size_t>(member)]->read_only) return "read-only";
  return member < voters() ? "follower" : "observer";
}

void Ensemble::frame(const ClientPointer& client, std::string_view bytes) {
  if (!std::exchange(client->greeted, true)) return greet(client, bytes);
  if (!client->welcomed && client->session == 0) return drop(client, false);
  request(client, bytes);
}

void Ensemble::greet(const ClientPointer& client, std::string_view bytes) {
  auto& member = *members_[static_cast<std::size_t>(client->member)];
  JuteReader from(bytes);
  from.integer();
  Greeting greeting;
  greeting.seen = from.long_integer();
  greeting.timeout = from.integer();
  const auto id = greeting.session = from.long_integer();
  const auto password = greeting.password = from.text();
  if (from.failed()) return drop(client, false);
  greeting.accepts_read_only = from.left() > 0 && from.boolean();
  if (!member.serving && !member.read_only) return drop(client, false);
  // It has seen more than this server.
  if (greeting.seen > member.last_zxid) return drop(client, false);
  const auto timeout = greeting.timeout = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      greeting.timeout, 2 * settings_.tick / millisecond,
      settings_.longest_timeouts.at(static_cast<std::size_t>(client->member))));
  if (!member.serving) return greet_read_only(client, greeting);
  const auto way = dice().delay(0, usual_lag(client->member));
  if (id == 0) {
    const auto fresh = (static_cast<std::int64_t>(client->member + 1) << 56) | ++last_session_;
    client->session = fresh;
    std::string body;
    add_int(body, timeout);
    add_long(body, fresh);
    return forward(client, 0, op::open_session, body);
  }
  client->session = id;
  // Whether it lives, the leader says.
  later(client->member, way, [this, client, id, password, timeout, reign = reign_] {
    auto& here = *members_[static_cast<std::size_t>(client->member)];
    if (client->gone || !here.serving || reign != reign_ || !is_with_leader(client->member)) return;
    const auto found = sessions_.find(id);
    const bool lives =
        found != sessions_.end() && !found->second.closing && found->second.password == password;
    if (lives) {
      found->second.owner = client->member;
      // If the answer is lost, the client does not know of a shorter one: it is not for zksh to
      // see that (session_lease.h), so the leader learns of it with the next request.
      if (timeout < found->second.timeout)
        client->granted = timeout;
      else
        found->second.timeout = timeout;
      touch(*members_[static_cast<std::size_t>(leader_)], id);
    }
    const auto back = dice().delay(0, usual_lag(client->member));
    later(client->member, back, [this, client, id, lives, timeout] {
      if (client->gone) return;
      welcome(client, lives ? id : 0, lives ? timeout : 0);
    });
  });
}

/// As ReadOnlyZooKeeperServer. Its sessions are known to it alone.
void Ensemble::greet_read_only(const ClientPointer& client, const Greeting& greeting) {
  auto& member = *members_[static_cast<std::size_t>(client->member)];
  if (!greeting.accepts_read_only) return drop(client, false);
  const auto id = greeting.session;
  const bool is_global = member.sessions.contains(id);
  if (id == 0 && member.version >= 305 && !settings_.has_local_sessions) {
    // ReadOnlyRequestProcessor answers the session's creation as any other write.
    client->session = -1;
    client->welcomed = true;
    return answer(*client, 0, err::not_read_only, "");
  }
  if (member.version >= 307 && is_global) return drop(client, false);  // ZOOKEEPER-3863
  ++read_only_sessions_;
  if (id == 0) {
    const auto fresh = (static_cast<std::int64_t>(client->member + 1) << 56) | ++last_session_;
    member.local_sessions.insert(fresh);
    return welcome(client, fresh, greeting.timeout);
  }
  // Its own tracker begins with the whole timeout of each session, and is not told of others' ends.
  const auto known = member.sessions.find(id);
  const bool is_too_late = is_global && now() - member.looks_since > known->second * millisecond &&
                           !member.local_sessions.contains(id);
  const bool lives = (is_global && !is_too_late) || member.local_sessions.contains(id);
  if (lives) member.local_sessions.insert(id);
  welcome(client, lives ? id : 0, lives ? greeting.timeout : 0);
}

void Ensemble::welcome(const ClientPointer& client, std::int64_t session, std::int32_t timeout) {
  auto& member = *members_[static_cast<std::size_t>(client->member)];
  const auto others = member.clients;
  for (const auto& other : others)
    if (other != client && session != 0 && other->session == session) drop(other, false);
  client->welcomed = true;
  client->welcomed_at = now();
  client->session = session;
  std::string body;
  add_int(body, 0);
  add_int(body, timeout);
  add_long(body, session);
  zksh::add_text(body, session == 0                  ? std::string(16, '\0')
                       : sessions_.contains(session) ? sessions_[session].password
                                                     : std::string(16, 'x'));
  add_flag(body, member.read_only);
  std::string whole;
  zksh::add_text(whole, body);
  client->connection->send(whole);
  if (session == 0) return drop(client, false);
  client->identities = {
      {.perms = 0, .scheme = "ip", .id = fmt::format("10.{}.0.99", client->connection->client())}};
  serve_queue(client);
}

void Ensemble::touch(Member& member, std::int64_t session) {
  if (leader_ >= 0 && &member == members_[static_cast<std::size_t>(leader_)].get()) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return;
    // Sessions expire with a whole tick.
    const auto tick = settings_.tick;
    const auto end = now() + found->second.timeout * millisecond;
    found->second.deadline = settings_.is_prompt ? end : (end / tick + 1) * tick;
    if (settings_.is_prompt && !std::exchange(found->second.is_watched, true)) end_in_time(session);
  } else {
    member.touched.insert(session);
  }
}

void Ensemble::end_in_time(std::int64_t session) {
  at(sessions_[session].deadline, [this, session] {
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return;
    found->second.is_watched = false;
    if (leader_ < 0 || found->second.closing) return;  // the next leader begins again
    auto& leader = *members_[static_cast<std::size_t>(leader_)];
    if (leader.frozen_until > now()) return;  // it looks with its next beat
    if (found->second.deadline <= now()) return end_what_is_over();
    found->second.is_watched = true;
    end_in_time(session);
  });
}

void Ensemble::request(const ClientPointer& client, std::string_view bytes) {
  auto& member = *members_[static_cast<std::size_t>(client->member)];
  JuteReader from(bytes);
  const auto xid = from.integer();
  const auto operation = from.integer();
  if (from.failed()) return drop(client, false);
  client->closes = client->closes || operation == op::close;
  if (const auto granted = std::exchange(client->granted, 0);
      granted > 0 && sessions_.contains(client->session))
    sessions_[client->session].timeout = granted;
  if (!member.read_only) touch(member, client->session);
  if (since(operation) > member.version) {
    if (misunderstood) misunderstood(client->connection->client(), operation, member.version);
    // 3.4 ends the connection, later ones say that they do not know it.
    if (member.version < 305) return drop(client, false);
    client->queue.push_back({.number = 0,
                             .xid = xid,
                             .operation = 0,
                             .body = {},
                             .done = true,
                             .code = err::unimplemented,
                             .answer = {}});
    return serve_queue(client);
  }
  auto& asked = client->queue.emplace_back();
  asked.number = ++requests_;
  asked.xid = xid;
  asked.operation = operation;
  asked.body = from.rest();
  const bool throttles = member.version >= 306 && xid > 0 && operation != op::close &&
                         dice().happens(settings_.refusals * (operation == op::add_watch ? 20 : 1));
  if (throttles) {
    asked.done = true;
    asked.code = err::throttled;
    asked.operation = 0;
  } else if (member.read_only && operation == op::close) {
    member.local_sessions.erase(client->session);
    asked.done = true;
  } else if (member.read_only && is_write(operation)) {
    asked.done = true;
    asked.code = err::not_read_only;
    asked.operation = 0;
  } else if (is_write(operation)) {
    forward(client, asked.number, operation, asked.body);
  }
  serve_queue(client);
}

/// Answers what is due, in order: a read waits for the session's writes before it.
void Ensemble::serve_queue(const ClientPointer& client) {
  if (!client->welcomed) return;
  while (!client->gone && !client->queue.empty()) {
    auto& front = client->queue.front();
    const bool waits = is_write(front.operation) && !front.done;
    if (waits) return;
    const auto asked = std::move(front);
    client->queue.pop_front();
    if (asked.done) {
      answer(*client, asked.xid, asked.code,
             asked.code == 0                ? asked.answer
             : asked.operation == op::multi ? asked.answer
                                            : "");
      if (asked.operation == op::close) return drop(client, false);
    } else {
      read(*client, asked.xid, asked.operation, asked.body);
    }
  }
}

void Ensemble::answer(Client& client, std::int32_t xid, std::int32_t code, std::string_view body) {
  if (client.gone) return;
  std::string reply;
  add_int(reply, xid);
  add_long(reply, members_[static_cast<std::size_t>(client.member)]->last_zxid);
  add_int(reply, code);
  reply += body;
  std::string whole;
  zksh::add_text(whole, reply);
  client.connection->send(whole);
}

namespace {

bool may(const ServerNode& node, std::int32_t right, const std::vector<Entry>& identities) {
  for (const auto& entry : node.acl) {
    if ((entry.perms & right) == 0) continue;
    if (entry.scheme == "world") return true;
    for (const auto& own : identities)
      if (own.scheme == entry.scheme && own.id == entry.id) return true;
  }
  return false;
}

}  // namespace

std::string Ensemble::read_one(Client& client, std::int32_t operation, std::string_view body,
                               std::int32_t& code) {
  auto& member = *members_[static_cast<std::size_t>(client.member)];
  JuteReader from(body);
  const std::string path(from.text());
  const bool watch = from.boolean();
  code = from.failed() ? err::bad_arguments : err::ok;
  std::string result;
  if (code != 0) return result;
  const auto found = member.tree.find(path);
  const bool is_newer = member.version < 305 && path == "/zookeeper/config";
  if (found == member.tree.end() || is_newer) {
    code = err::no_node;
    if (operation == op::exists && watch) client.data_watches.insert(path);
    return result;
  }
  const auto& node = found->second;
  if (operation != op::exists && !may(node, right_read, client.identities)) {
    code = err::no_auth;
    return result;
  }
  if (operation == op::exists) {
    if (watch) client.data_watches.insert(path);
    add_stat(result, node);
  } else if (operation == op::get) {
    if (watch) client.data_watches.insert(path);
    add_data(result, node.data);
    add_stat(result, node);
  } else {
    if (watch) client.child_watches.insert(path);
    add_names(result, node);
    if (operation == op::children2) add_stat(result, node);
  }
  return result;
}

void Ensemble::read(Client& client, std::int32_t xid, std::int32_t operation,
                    std::string_view body) {
  if (operation == op::auth && !authenticate(client, body)) {
    answer(client, xid, err::auth_failed, "");
    const auto clients = members_[static_cast<std::size_t>(client.member)]->clients;
    for (const auto& one : clients)
      if (one.get() == &client) drop(one, false);
    return;
  }
  std::int32_t code = err::ok;
  std::string result;
  switch (operation) {
    case op::ping:
    case op::auth:
      break;
    case op::exists:
    case op::get:
    case op::children:
    case op::children2:
      result = read_one(client, operation, body, code);
      break;
    case op::set_watches:
    case op::set_watches2:
      set_watches(client, body, operation == op::set_watches2);
      break;
    case op::check_watches:
    case op::remove_watches:
      code = unwatch(client, body, operation == op::remove_watches);
      break;
    case op::multi_read:
      result = multi_read(client, body);
      break;
    default:
      code = read_rest(client, operation, body, result);
  }
  answer(client, xid, code, code == 0 ? result : "");
}

bool Ensemble::authenticate(Client& client, std::string_view body) {
  JuteReader from(body);
  from.integer();
  const std::string scheme(from.text());
  const std::string secret(from.text());
  if (scheme != "digest" || secret.find(':') == std::string::npos) return false;
  client.identities.push_back({.perms = 0, .scheme = scheme, .id = zksh::digest_id(secret)});
  return true;
}

std::int32_t Ensemble::unwatch(Client& client, std::string_view body, bool remove) {
  constexpr std::int32_t of_children = 1;
  constexpr std::int32_t of_data = 2;
  constexpr std::int32_t any_kind = 3;
  JuteReader from(body);
  const std::string path(from.text());
  const auto kind = from.integer();
  bool any = false;
  const auto look = [&](auto& watches) {
    any = any || watches.contains(path);
    if (remove) watches.erase(path);
  };
  if (kind != of_children) look(client.data_watches);
  if (kind != of_data) look(client.child_watches);
  if (kind == any_kind) look(client.persistent);
  return any ? err::ok : err::no_watcher;
}

std::string Ensemble::multi_read(Client& client, std::string_view body) {
  JuteReader from(body);
  std::string result;
  const auto add_header = [&result](std::int32_t type, bool done, std::int32_t code) {
    add_int(result, type);
    add_flag(result, done);
    add_int(result, code);
  };
  while (!from.failed()) {
    const auto type = from.integer();
    const bool done = from.boolean();
    from.integer();
    if (done) break;
    std::string one;
    zksh::add_text(one, from.text());
    add_flag(one, from.boolean());
    std::int32_t code = err::ok;
    const auto part = read_one(client, type, one, code);
    add_header(code == 0 ? type : -1, false, code);
    if (code == 0)
      result += part;
    else
      add_int(result, code);
  }
  add_header(-1, true, -1);
  return result;
}

std::int32_t Ensemble::read_rest(Client& client, std::int32_t operation, std::string_view body,
                                 std::string& result) {
  const auto& tree = members_[static_cast<std::size_t>(client.member)]->tree;
  JuteReader from(body);
  if (operation == op::who_am_i) {
    add_int(result, static_cast<std::int32_t>(client.identities.size()));
    for (const auto& one : client.identities) {
      zksh::add_text(result, one.scheme);
      zksh::add_text(result, one.id);
    }
    return err::ok;
  }
  const std::string path(from.text());
  if (operation == op::ephemerals) {
    std::vector<std::string> own;
    for (const auto& [place, node] : tree)
      if (node.owner == client.session && place.starts_with(path)) own.push_back(place);
    add_int(result, static_cast<std::int32_t>(own.size()));
    for (const auto& place : own) zksh::add_text(result, place);
    return err::ok;
  }
  if (operation == op::add_watch) {
    auto& watch = client.persistent[path];
    if (members_[static_cast<std::size_t>(client.member)]->version < 309) watch = {};
    (from.integer() == 1 ? watch.recursive : watch.exact) = true;
    add_int(result, 0);
    return err::ok;
  }
  if (operation != op::get_acl && operation != op::count) return err::unimplemented;
  const auto found = tree.find(path);
  if (found == tree.end()) return err::no_node;
  if (operation == op::count) {
    const auto below = path == "/" ? path : path + '/';
    const auto is_below = [&](const auto& one) {
      return one.first != path && one.first.starts_with(below);
    };
    add_int(result, static_cast<std::int32_t>(std::ranges::count_if(tree, is_below)));
    return err::ok;
  }
  if (!may(found->second, right_read | right_admin, client.identities)) return err::no_auth;
  add_acl(result, found->second.acl);
  add_stat(result, found->second);
  return err::ok;
}

namespace {

std::string event_frame(std::int32_t type, const std::string& path, std::int64_t zxid) {
  std::string reply;
  add_int(reply, -1);
  add_long(reply, zxid);
  add_int(reply, 0);
  add_int(reply, type);
  add_int(reply, 3);
  zksh::add_text(reply, path);
  std::string whole;
  zksh::add_text(whole, reply);
  return whole;
}

}  // namespace

void Ensemble::set_watches(Client& client, std::string_view body, bool with_persistent) {
  auto& member = *members_[static_cast<std::size_t>(client.member)];
  JuteReader from(body);
  const auto relative = from.long_integer();
  const auto tell = [&](std::int32_t type, const std::string& path) {
    client.connection->send(event_frame(type, path, -1));
  };
  const auto node_at = [&](const std::string& path) {
    const auto found = member.tree.find(path);
    return found == member.tree.end() ? nullptr : &found->second;
  };
  for (const auto& path : take_paths(from)) {
    const auto* const node = node_at(path);
    if (node == nullptr)
      tell(event::deleted, path);
    else if (node->mzxid > relative)
      tell(event::changed, path);
    else
      client.data_watches.insert(path);
  }
  for (const auto& path : take_paths(from)) {
    if (node_at(path) != nullptr)
      tell(event::created, path);
    else
      client.data_watches.insert(path);
  }
  for (const auto& path : take_paths(from)) {
    const auto* const node = node_at(path);
    if (node == nullptr)
      tell(event::deleted, path);
    else if (node->pzxid > relative)
      tell(event::children, path);
    else
      client.child_watches.insert(path);
  }
  if (!with_persistent) return;
  for (const auto& path : take_paths(from)) client.persistent[path].exact = true;
  for (const auto& path : take_paths(from)) client.persistent[path].recursive = true;
}

/// Passes a write on to the leader, in order.
void Ensemble::forward(const ClientPointer& client, std::uint64_t number, std::int32_t operation,
                       std::string body) {
  auto& member = *members_[static_cast<std::size_t>(client->member)];
  if (!member.serving) return;
  const auto way = client->member == leader_ ? 0 : dice().delay(0, usual_lag(client->member));
  member.last_forwarded = std::max(member.last_forwarded, now() + way);
  Forwarded asked{.client = client,
                  .number = number,
                  .operation = operation,
                  .body = std::move(body),
                  .session = client->session,
                  .member = client->member};
  later(client->member, member.last_forwarded - now(),
        [this, asked = std::move(asked), reign = reign_] {
          if (reign != reign_ || !is_with_leader(asked.member)) return;
          if (asked.member == leader_) return lead(asked);
          later(leader_, 0, [this, asked] { lead(asked); });
        });
}

void Ensemble::lead(const Forwarded& asked) {
  if (asked.operation == op::open_session) return open_session(asked);
  if (asked.operation == op::sync) return synchronize(asked);
  Transaction transaction;
  transaction.request = asked.number;
  transaction.session = asked.session;
  transaction.zxid = (epoch_ << 32) | (counter_ + 1);
  transaction.time = (now() + 1'790'000'000LL * second) / millisecond;
  const auto found = sessions_.find(asked.session);
  std::int32_t code = err::ok;
  std::string result;
  if (found == sessions_.end() || found->second.closing)
    code = err::expired;
  else if (found->second.owner != asked.member)
    code = err::moved;
  if (code == 0) {
    // The leader does not touch a session for a request that was passed on.
    std::string_view body = asked.body;
    if (asked.operation == op::close) {
      found->second.closing = true;
      transaction.changes.push_back({.what = Change::What::CloseSession, .owner = asked.session});
    } else if (asked.operation == op::multi) {
      code = plan_multi(asked, transaction, result);
    } else {
      code = plan(asked, asked.operation, body, ahead_, transaction, result);
    }
    if (code != 0) transaction.changes.clear();
  }
  results_[asked.number] = {code, result};
  propose(std::move(transaction));
}

void Ensemble::open_session(const Forwarded& asked) {
  const auto timeout = JuteReader(asked.body).integer();
  auto& session = sessions_[asked.session];
  session.timeout = timeout;
  session.owner = asked.member;
  session.password.assign(16, '\0');
  for (auto& byte : session.password) byte = static_cast<char>(dice().number(255));
  touch(*members_[static_cast<std::size_t>(leader_)], asked.session);
  Transaction transaction;
  transaction.session = asked.session;
  transaction.changes.push_back(
      {.what = Change::What::OpenSession, .owner = asked.session, .timeout = timeout});
  propose(std::move(transaction));
}

/// A sync is answered when its member has all that was proposed by now.
void Ensemble::synchronize(const Forwarded& asked) {
  const auto until = log_.size() + proposed_.size();
  later(asked.member, dice().delay(0, usual_lag(asked.member)),
        [this, asked, until] { answer_sync(asked.client, asked.number, asked.body, until); });
}

void Ensemble::answer_sync(const ClientPointer& client, std::uint64_t number,
                           const std::string& body, std::size_t until) {
  if (client->gone || !is_with_leader(client->member)) return;
  if (members_[static_cast<std::size_t>(client->member)]->applied < until)
    return later(client->member, millisecond,
                 [=, this] { answer_sync(client, number, body, until); });
  for (auto& one : client->queue) {
    if (one.number != number) continue;
    one.done = true;
    one.answer = body;
  }
  serve_queue(client);
}

/// Of all parts, or of none. Returns the code of the first that cannot be done.
std::int32_t Ensemble::plan_multi(const Forwarded& asked, Transaction& into, std::string& result) {
  ServerTree changed;
  auto* tree = &ahead_;
  std::vector<std::pair<std::int32_t, std::string>> parts;
  std::string_view body = asked.body;
  std::size_t failed_at = SIZE_MAX;
  std::int32_t code = err::ok;
  while (true) {
    JuteReader header(body);
    const auto type = header.integer();
    const bool done = header.boolean();
    header.integer();
    if (done || header.failed()) break;
    body = header.rest();
    Transaction one;
    one.zxid = into.zxid;
    one.time = into.time;
    std::string part;
    const auto part_code = plan(asked, type, body, *tree, one, part);
    if (failed_at == SIZE_MAX && part_code != 0) {
      failed_at = parts.size();
      code = part_code;
    }
    if (failed_at == SIZE_MAX && !one.changes.empty()) {
      if (tree == &ahead_) changed = ahead_;
      tree = &changed;
      apply_to(changed, one);
    }
    for (auto& change : one.changes) into.changes.push_back(std::move(change));
    parts.emplace_back(type, std::move(part));
  }
  const auto add_header = [&result](std::int32_t type, bool done, std::int32_t of_part) {
    add_int(result, type);
    add_flag(result, done);
    add_int(result, of_part);
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (code == 0) {
      add_header(parts[i].first, false, 0);
      result += parts[i].second;
      continue;
    }
    const auto of_part = i < failed_at ? 0 : i == failed_at ? code : err::inconsistency;
    add_header(-1, false, of_part);
    add_int(result, of_part);
  }
  add_header(-1, true, -1);
  return code;
}

std::int32_t Ensemble::plan_create(const Forwarded& asked, std::int32_t operation,
                                   std::string_view& body, const ServerTree& tree,
                                   Transaction& into, std::string& result) {
  JuteReader from(body);
  Change change{.path = std::string(from.text())};
  change.data = take_data(from);
  change.acl = take_acl(from);
  const auto flags = from.integer();
  if (operation == op::create_ttl) from.long_integer();
  body = from.rest();
  const auto parent = tree.find(parent_of(change.path));
  if (parent == tree.end()) return err::no_node;
  if (!may(parent->second, right_create, asked.client->identities)) return err::no_auth;
  const bool is_sequential = flags == 2 || flags == 3 || flags == 6;
  if (is_sequential) change.path += fmt::format("{:010d}", parent->second.creations);
  if (tree.contains(change.path)) return err::exists;
  if (parent->second.owner != 0) return err::ephemeral_parent;
  change.owner = flags == 1 || flags == 3 ? asked.session : 0;
  change.is_container = flags == 4;
  zksh::add_text(result, change.path);
  if (operation != op::create) {
    ServerNode made{.data = change.data};
    made.czxid = made.mzxid = made.pzxid = into.zxid;
    made.ctime = made.mtime = into.time;
    made.owner = change.owner;
    add_stat(result, made);
  }
  into.changes.push_back(std::move(change));
  return err::ok;
}

/// What a write would do in the tree. Returns its code.
std::int32_t Ensemble::plan(const Forwarded& asked, std::int32_t operation, std::string_view& body,
                            ServerTree& tree, Transaction& into, std::string& result) {
  const bool creates = operation == op::create || operation == op::create2 ||
                       operation == op::create_container || operation == op::create_ttl;
  if (creates) return plan_create(asked, operation, body, tree, into, result);
  const bool sets_acl = operation == op::set_acl;
  JuteReader from(body);
  Change change{.path = std::string(from.text())};
  if (operation == op::set) change.data = take_data(from);
  if (sets_acl) change.acl = take_acl(from);
  const auto version = from.integer();
  body = from.rest();
  const auto found = tree.find(change.path);
  if (found == tree.end()) return err::no_node;
  auto node = found->second;
  const auto has = [&](const ServerNode& of, std::int32_t right) {
    return may(of, right, asked.client->identities);
  };
  if (operation == op::remove && !has(tree[parent_of(change.path)], right_delete))
    return err::no_auth;
  if (operation == op::set && !has(node, right_write)) return err::no_auth;
  if (sets_acl && !has(node, right_admin)) return err::no_auth;
  auto& present = sets_acl ? node.aversion : node.version;
  if (version != -1 && version != present) return err::bad_version;
  switch (operation) {
    case op::check:
      return err::ok;
    case op::remove:
      if (!node.children.empty()) return err::not_empty;
      change.what = Change::What::Remove;
      break;
    case op::set:
      change.what = Change::What::Set;
      node.data = change.data;
      node.mzxid = into.zxid;
      node.mtime = into.time;
      break;
    case op::set_acl:
      change.what = Change::What::SetAcl;
      break;
    default:
      return err::unimplemented;
  }
  if (operation != op::remove) {
    change.version = ++present;
    add_stat(result, node);
  }
  into.changes.push_back(std::move(change));
  return err::ok;
}

void Ensemble::propose(Transaction transaction) {
  transaction.zxid = (epoch_ << 32) | ++counter_;
  // The end of a session removes what it has by then.
  for (std::size_t i = 0; i < transaction.changes.size(); ++i) {
    if (transaction.changes[i].what != Change::What::CloseSession) continue;
    const auto owner = transaction.changes[i].owner;
    for (const auto& [path, node] : ahead_)
      if (node.owner == owner)
        transaction.changes.push_back({.what = Change::What::Remove, .path = path});
    break;
  }
  apply_to(ahead_, transaction);
  proposed_.push_back(std::move(transaction));
  later(leader_, dice().delay(50 * microsecond, settings_.lag), [this] { commit(); });
}

/// Agrees on the oldest proposal if a quorum can be asked.
void Ensemble::commit() {
  if (proposed_.empty() || leader_ < 0) return;
  if (!reaches_quorum(leader_)) return later(leader_, 10 * millisecond, [this] { commit(); });
  while (!proposed_.empty()) {
    log_.push_back(std::move(proposed_.front()));
    proposed_.pop_front();
    if (agreed) agreed(log_.back());
    for (const auto& change : log_.back().changes)
      if (change.what == Change::What::CloseSession) sessions_.erase(change.owner);
    if (dice().happens(0.5)) break;
  }
  for (int i = 0; i < settings_.members; ++i) tell(i);
  if (!proposed_.empty())
    later(leader_, dice().delay(50 * microsecond, settings_.lag), [this] { commit(); });
}

/// Has a member learn what is agreed on by now.
void Ensemble::tell(int number) {
  auto& member = *members_[static_cast<std::size_t>(number)];
  if (!is_with_leader(number) || !member.serving) return;
  const auto lag = number == leader_
                       ? 0
                       : dice().delay(50 * microsecond, dice().happens(0.02) ? settings_.longest_lag
                                                                             : usual_lag(number));
  member.last_told = std::max(member.last_told, now() + lag);
  later(number, member.last_told - now(), [this, number, until = log_.size(), wipes = wipes_] {
    if (wipes == wipes_ && is_with_leader(number)) catch_up(number, until);
  });
}

void Ensemble::catch_up(int number, std::size_t until) {
  auto& member = *members_[static_cast<std::size_t>(number)];
  while (member.applied < until) {
    const auto transaction = log_[member.applied++];
    member.last_zxid = transaction.zxid;
    apply(member, transaction);
  }
}

void Ensemble::notify(Member& member, std::int32_t type, const std::string& path, std::int64_t zxid,
                      std::set<Client*>* told) {
  const auto text = event_frame(type, path, member.version >= 309 ? zxid : -1);
  for (const auto& client : member.clients) {
    bool tells = false;
    if (type != event::children && client->data_watches.erase(path) > 0) tells = true;
    if ((type == event::children || type == event::deleted) &&
        client->child_watches.erase(path) > 0)
      tells = true;
    for (const auto& [root, watch] : client->persistent) {
      if (watch.exact && root == path) tells = true;
      if (watch.recursive && type != event::children &&
          (root == path || path.starts_with(root == "/" ? root : root + '/')))
        tells = true;
    }
    if (!tells || (told != nullptr && !told->insert(client.get()).second)) continue;
    client->connection->send(text);
  }
}

void Ensemble::apply(Member& member, const Transaction& transaction) {
  apply_to(member.tree, transaction);
  for (const auto& change : transaction.changes) {
    switch (change.what) {
      case Change::What::OpenSession:
        member.sessions[change.owner] = change.timeout;
        for (const auto& client : std::vector(member.clients))
          if (!client->gone && client->greeted && !client->welcomed &&
              client->session == change.owner)
            welcome(client, change.owner, change.timeout);
        break;
      case Change::What::CloseSession:
        member.sessions.erase(change.owner);
        break;
      case Change::What::Create:
        notify(member, event::created, change.path, transaction.zxid, nullptr);
        notify(member, event::children, parent_of(change.path), transaction.zxid, nullptr);
        break;
      case Change::What::Remove:
        notify(member, event::deleted, change.path, transaction.zxid, nullptr);
        notify(member, event::children, parent_of(change.path), transaction.zxid, nullptr);
        break;
      case Change::What::Set:
        notify(member, event::changed, change.path, transaction.zxid, nullptr);
        break;
      case Change::What::SetAcl:
        break;
    }
  }
  const auto result = results_.find(transaction.request);
  for (const auto& client : std::vector(member.clients)) {
    if (client->gone) continue;
    if (transaction.request != 0 && client->session == transaction.session &&
        result != results_.end()) {
      for (auto& asked : client->queue) {
        if (asked.number != transaction.request) continue;
        asked.done = true;
        std::tie(asked.code, asked.answer) = result->second;
      }
      serve_queue(client);
    }
    const bool is_closed = std::ranges::any_of(transaction.changes, [&](const auto& change) {
      return change.what == Change::What::CloseSession && change.owner == client->session;
    });
    if (is_closed && !client->gone) drop(client, false);
  }
}

bool Ensemble::is_with_leader(int member) const {
  const auto& one = *members_[static_cast<std::size_t>(member)];
  return leader_ >= 0 && one.up && (member == leader_ || !is_cut(member, leader_));
}

bool Ensemble::reaches_quorum(int member) const {
  int reached = 0;
  for (int i = 0; i < voters(); ++i) {
    const auto& one = *members_[static_cast<std::size_t>(i)];
    if (one.up && (i == member || !is_cut(i, member)) && one.frozen_until <= now()) ++reached;
  }
  return reached > voters() / 2;
}

bool Ensemble::can_lead() const {
  return leader_ >= 0 && members_[static_cast<std::size_t>(leader_)]->frozen_until <= now();
}

std::string Ensemble::enter_queue(const std::string& lock) {
  const auto parent = ahead_.find(lock);
  if (!can_lead() || parent == ahead_.end()) return {};
  constexpr std::int64_t owner = 0x7700000000000001;  // a session that never ends
  auto path = fmt::format("{}/_c_{:08x}-0000-4000-8000-{:012x}-lock-{:010d}", lock,
                          dice().bits() >> 32U, dice().bits() >> 16U, parent->second.creations);
  Transaction creation;
  creation.changes.push_back(
      {.what = Change::What::Create, .path = path, .data = "", .acl = {Entry{}}, .owner = owner});
  propose(std::move(creation));
  return path;
}

bool Ensemble::leave_queue(const std::string& node) {
  if (!can_lead() || !ahead_.contains(node)) return false;
  Transaction removal;
  removal.changes.push_back({.what = Change::What::Remove, .path = node});
  propose(std::move(removal));
  return true;
}

bool Ensemble::write_into(const std::string& node, const std::string& data) {
  const auto found = ahead_.find(node);
  if (!can_lead() || found == ahead_.end()) return false;
  Transaction change;
  change.time = (now() + 1'790'000'000LL * second) / millisecond;
  change.changes.push_back({.what = Change::What::Set,
                            .path = node,
                            .data = data,
                            .version = found->second.version + 1});
  propose(std::move(change));
  return true;
}

bool Ensemble::serves_since(int number, Time since) const {
  const auto& member = *members_[static_cast<std::size_t>(number)];
  return member.serving && member.serving_since <= since && has_leader() &&
         is_with_leader(number) && member.frozen_until <= now();
}

bool Ensemble::has_leader() const { return leader_ >= 0 && reaches_quorum(leader_); }

/// Half a tick has passed.
void Ensemble::beat() {
  const auto patience = settings_.sync_limit * settings_.tick;
  if (leader_ >= 0) {
    auto& leader = *members_[static_cast<std::size_t>(leader_)];
    if (leader.frozen_until <= now()) {
      if (reaches_quorum(leader_)) leader.heard = now();
      hear_members();
      end_what_is_over();
    } else {
      for (int i = 0; i < settings_.members; ++i) unheard_.insert(i);
    }
    if (now() - leader.heard > patience) step_down();
  }
  for (int i = 0; i < settings_.members; ++i) {
    auto& member = *members_[static_cast<std::size_t>(i)];
    if (i == leader_ || !member.serving || now() - member.heard <= patience) continue;
    member.serving = false;
    ++member.life;
    member.touched.clear();
    drop_all(member, false);
  }
  look_for_leader();
  begin_read_only();
  after(settings_.tick / 2, [this] { beat(); });
}

/// Members that have looked for a leader for a while.
void Ensemble::begin_read_only() {
  for (int i = 0; i < settings_.members; ++i) {
    auto& member = *members_[static_cast<std::size_t>(i)];
    if (!member.up || member.serving || i == leader_)
      member.looks_since = never;
    else
      member.looks_since = std::min(member.looks_since, now());
    if (member.read_only && reads_only)
      for (const auto& client : member.clients)
        if (client->welcomed) reads_only(client->connection->client(), client->welcomed_at);
    const auto grace = std::max(settings_.tick, 2 * second);
    if (member.looks_since == never || now() - member.looks_since < grace) continue;
    if (settings_.serves_read_only && member.frozen_until <= now()) member.read_only = true;
  }
}

/// It has found a leader, or is stopped.
void Ensemble::end_read_only(Member& member) {
  member.looks_since = never;
  if (!std::exchange(member.read_only, false)) return;
  ++member.life;
  member.local_sessions.clear();
  drop_all(member, false);
}

/// The leader's pings, whose answers name the sessions that members have heard of.
void Ensemble::hear_members() {
  for (int i = 0; i < settings_.members; ++i)
    if (i != leader_) hear(i);
}

/// Pings that were held up arrive as soon as they can: before what their members, or the leader,
/// send from then on, since a connection between servers keeps the order.
void Ensemble::hear_late() {
  if (!can_lead()) return;
  for (const int number : std::exchange(unheard_, {}))
    if (number != leader_) hear(number);
}

void Ensemble::hear(int number) {
  auto& leader = *members_[static_cast<std::size_t>(leader_)];
  auto& member = *members_[static_cast<std::size_t>(number)];
  if (!is_with_leader(number) || member.frozen_until > now()) {
    unheard_.insert(number);
    return;
  }
  member.heard = now();
  if (member.serving) {
    for (const auto session : std::exchange(member.touched, {})) touch(leader, session);
    return tell(number);
  }
  // It joins: first it takes what it has not got.
  end_read_only(member);
  later(number, dice().delay(10 * millisecond, second), [this, number, reign = reign_] {
    auto& joining = *members_[static_cast<std::size_t>(number)];
    if (reign != reign_ || joining.serving || !is_with_leader(number)) return;
    catch_up(number, log_.size());
    joining.serving = true;
    joining.serving_since = now();
  });
}

/// Sessions whose time has passed, and containers that are empty.
void Ensemble::end_what_is_over() {
  for (auto& [id, session] : sessions_) {
    if (session.closing || session.deadline > now()) continue;
    session.closing = true;
    Transaction end;
    end.changes.push_back({.what = Change::What::CloseSession, .owner = id});
    propose(std::move(end));
  }
  if (!dice().happens(0.02)) return;
  std::vector<std::string> empty;
  for (const auto& [path, node] : ahead_)
    if (node.is_container && node.children.empty() && node.creations > 0) empty.push_back(path);
  for (const auto& path : empty) {
    Transaction removal;
    removal.changes.push_back({.what = Change::What::Remove, .path = path});
    propose(std::move(removal));
  }
}

void Ensemble::step_down() {
  auto& old = *members_[static_cast<std::size_t>(leader_)];
  ++old.life;
  old.serving = false;
  drop_all(old, false);
  leader_ = -1;
  ++reign_;
}

/// Members that have no leader elect one if they are a quorum.
void Ensemble::look_for_leader() {
  const auto is_looking = [&](int i) {
    const auto& one = *members_[static_cast<std::size_t>(i)];
    return one.up && !one.serving && one.frozen_until <= now() && i != leader_;
  };
  if (leader_ >= 0 && reaches_quorum(leader_) &&
      members_[static_cast<std::size_t>(leader_)]->frozen_until <= now())
    return;
  for (int i = 0; i < voters(); ++i) {
    if (!is_looking(i)) continue;
    int votes = 0;
    int best = i;
    for (int j = 0; j < voters(); ++j) {
      if (!is_looking(j) || (i != j && is_cut(i, j))) continue;
      ++votes;
      if (members_[static_cast<std::size_t>(j)]->applied >
          members_[static_cast<std::size_t>(best)]->applied)
        best = j;
    }
    if (votes <= voters() / 2) continue;
    if (dice().happens(0.3)) return;  // this round gave no result
    return elect(best);
  }
}

void Ensemble::elect(int candidate) {
  if (leader_ >= 0) step_down();
  leader_ = candidate;
  ++reign_;
  ++epoch_;
  counter_ = 0;
  auto& leader = *members_[static_cast<std::size_t>(candidate)];
  ++leader.life;
  // What the old leader had proposed survives if one of the new quorum had it: up to some point.
  while (!proposed_.empty() && dice().happens(0.5)) {
    log_.push_back(std::move(proposed_.front()));
    proposed_.pop_front();
    if (agreed) agreed(log_.back());
    for (const auto& change : log_.back().changes)
      if (change.what == Change::What::CloseSession) sessions_.erase(change.owner);
  }
  proposed_.clear();
  end_read_only(leader);
  leader.serving = true;
  leader.serving_since = leader.heard = now();
  catch_up(candidate, log_.size());
  ahead_ = leader.tree;
  std::map<std::int64_t, Session> kept;
  for (auto& [id, session] : sessions_) {
    if (!leader.sessions.contains(id)) continue;
    session.closing = false;
    kept[id] = session;
  }
  sessions_ = std::move(kept);
  for (auto& [id, session] : sessions_) touch(leader, id);
  for (int i = 0; i < settings_.members; ++i) {
    auto& member = *members_[static_cast<std::size_t>(i)];
    if (i == candidate || !member.serving) continue;
    member.serving = false;  // it joins with the next beat
    ++member.life;
    drop_all(member, false);
  }
}

void Ensemble::stop(int number) {
  auto& member = *members_[static_cast<std::size_t>(number)];
  if (!member.up) return;
  member.up = false;
  member.serving = false;
  end_read_only(member);
  ++member.life;
  member.touched.clear();
  drop_all(member, true);
  listen(number, {});
  if (number == leader_) step_down();
}

void Ensemble::start(int number) {
  auto& member = *members_[static_cast<std::size_t>(number)];
  if (member.up) return;
  member.up = true;
  ++member.life;
  member.heard = now();
  listen(number,
         [this, number](Connection::Pointer connection) { accept(number, std::move(connection)); });
}

void Ensemble::cut(int one, int other, bool is_cut) {
  const std::pair key{std::min(one, other), std::max(one, other)};
  if (is_cut)
    cuts_.insert(key);
  else
    cuts_.erase(key);
  if (!is_cut) hear_late();
}

void Ensemble::freeze(int number, Time time) {
  auto& member = *members_[static_cast<std::size_t>(number)];
  member.frozen_until = std::max(member.frozen_until, now() + time);
  after(time, [this] { hear_late(); });
}

void Ensemble::wipe() {
  for (int i = 0; i < settings_.members; ++i) stop(i);
  ++wipes_;
  log_.clear();
  proposed_.clear();
  sessions_.clear();
  results_.clear();
  ahead_ = empty_tree();
  epoch_ = 0;
  for (auto& member : members_) {
    member->tree = empty_tree();
    member->sessions.clear();
    member->applied = 0;
    member->last_zxid = 0;
    member->frozen_until = 0;
  }
  if (wiped) wiped();
  for (int i = 0; i < settings_.members; ++i) start(i);
}

void Ensemble::heal() {
  cuts_.clear();
  for (int i = 0; i < settings_.members; ++i) start(i);
}

const ServerTree& Ensemble::tree() const { return ahead_; }

bool Ensemble::is_settled() const {
  return leader_ >= 0 && proposed_.empty() &&
         std::ranges::all_of(members_, [&](const auto& member) {
           return member->serving && member->applied == log_.size();
         });
}

std::int64_t Ensemble::last_zxid() const { return log_.empty() ? 0 : log_.back().zxid; }

bool Ensemble::has_session(std::int64_t id) const { return sessions_.contains(id); }

std::string Ensemble::description() const {
  std::string text = fmt::format("leader {}, {} transactions, {} proposed", leader_, log_.size(),
                                 proposed_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& member = *members_[i];
    text += fmt::format("; s{} 3.{} {}{}applied {}", i, member.version % 100,
                        member.up ? "" : "stopped ",
                        member.serving     ? "serving "
                        : member.read_only ? "read-only "
                                           : "",
                        member.applied);
  }
  return text;
}

}  // namespace simulation
