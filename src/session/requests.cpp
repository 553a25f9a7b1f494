// Session's requests: those that the C client can make, and those that it cannot.
#include "client/lease_renewal.h"
#include "client/node_path.h"
#include "session/handle.h"
#include "session/marshalling.h"

#include <functional>
#include <iterator>
#include <new>
#include <variant>

namespace zksh {
namespace {

/// The read of /zookeeper/config that another call waits for. It owns that call until `go` sends
/// it.
struct LearningCall : CallOf<Nothing> {
  std::string server{};  ///< its address; empty if not known
  std::unique_ptr<Call> waiting{};
  std::function<void(Call* waiting, bool newer)> go{};  ///< takes ownership

  void settle_error(const Monitor::Held& held, int rc) override {
    if (const auto failed = std::move(waiting)) failed->settle_error(held, rc);
    CallOf<Nothing>::settle_error(held, rc);
  }
};

void config_read(int rc, const char* /*bytes*/, int /*size*/, const ::Stat* /*stat*/,
                 const void* data) {
  auto& call = const_cast<LearningCall&>(
      static_cast<const LearningCall&>(*static_cast<const CallOf<Nothing>*>(data)));
  auto& session = call.handle->session;
  auto waiting = std::move(call.waiting);
  const bool answered = rc == ZOK || rc == ZNONODE || rc == ZNOAUTH;
  session.monitor().change([&](const Monitor::Held& held) {
    if (!answered)
      waiting->settle_error(held, rc);
    else if (!call.server.empty())
      session.known_servers().newer[call.server] = rc != ZNONODE;
  });
  // Before this call is settled: closing the handle waits until no call is left.
  if (answered) call.go(waiting.release(), rc != ZNONODE);
  conclude<Nothing>(data, rc, {});
}

/// For start_newer: asks the server that `on` is connected to. `go` is called on the wires' thread
/// when the answer arrives.
void learn_of_server(Session& session, Session::Handle* on, std::unique_ptr<LearningCall> call) {
  auto& server = call->server;
  start(session.monitor(), on, std::unique_ptr<CallOf<Nothing>>(std::move(call)),
        [&](zhandle_t* zh, const void* data) {
          if (const auto address = address_of_server(on)) server = address->server().text();
          const int rc = zoo_awgetconfig(zh, nullptr, nullptr, config_read, data);
          if (rc == ZOK) return rc;
          config_read(rc, nullptr, 0, nullptr, data);
          return static_cast<int>(ZOK);
        });
}

/// Sends a request that servers before 3.5 do not support, or the older one to such a server. If
/// the server's version is not known yet, the call waits for a read that shows it; later calls do
/// not.
template <class T, class Newer, class Older>
Pending<T> start_newer(Session& session, std::unique_ptr<CallOf<T>> call, Newer newer,
                       Older older) {
  auto& monitor = session.monitor();
  const auto on = session.open_handle();
  std::optional<Wire::Hold> hold;  // so that it is sent to the server that is looked up
  if (on) hold.emplace(on->wire);
  const auto send = [&monitor, newer, older](Session::Handle* handle,
                                             std::unique_ptr<CallOf<T>> now, bool is_newer) {
    return is_newer ? start(monitor, handle, std::move(now), newer)
                    : start(monitor, handle, std::move(now), older);
  };
  if (const auto address = address_of_server(on.get())) {
    const auto known = monitor.with_lock([&](const Monitor::Held&) {
      return found_in(session.known_servers().newer, address->server().text());
    });
    if (known) return send(on.get(), std::move(call), *known);
  }
  auto pending = call->pending;
  auto learning = std::make_unique<LearningCall>();
  learning->waiting = std::move(call);
  // Runs when the handle completes a call, and so before it is gone.
  learning->go = [send, handle = on.get()](Call* waiting, bool is_newer) {
    send(handle, std::unique_ptr<CallOf<T>>(static_cast<CallOf<T>*>(waiting)), is_newer);
  };
  learn_of_server(session, on.get(), std::move(learning));
  return pending;
}

/// For a request that has no older form: an older server would end the connection at it.
int send_nothing(zhandle_t* /*zh*/, const void* /*data*/) { return ZUNIMPLEMENTED; }

/// Sends a request with `send(zh, data)`.
template <class T, class Send>
Pending<T> request(Session& session, Send&& send) {
  return start(session.monitor(), session.open_handle().get(), std::make_unique<CallOf<T>>(), send);
}

Stat stat_of(const ::Stat* from) {
  if (!from) return {};
  return {.czxid = from->czxid,
          .mzxid = from->mzxid,
          .ctime = from->ctime,
          .mtime = from->mtime,
          .version = from->version,
          .cversion = from->cversion,
          .aversion = from->aversion,
          .ephemeral_owner = from->ephemeralOwner,
          .data_length = from->dataLength,
          .num_children = from->numChildren,
          .pzxid = from->pzxid};
}

const char* bytes_of(const Data& data) { return data ? data->data() : nullptr; }
int size_of(const Data& data) { return data ? static_cast<int>(data->size()) : -1; }

/// The C client's view of an ACL; borrows the strings, which are only read.
class AclView {
 public:
  explicit AclView(const Acl& acl) {
    for (const auto& entry : acl)
      entries_.push_back({.perms = entry.perms,
                          .id = {.scheme = const_cast<char*>(entry.scheme.c_str()),
                                 .id = const_cast<char*>(entry.id.c_str())}});
    vector_ = {.count = static_cast<int>(entries_.size()), .data = entries_.data()};
  }
  const ACL_vector* get() const { return &vector_; }

 private:
  std::vector<::ACL> entries_;
  ACL_vector vector_{};
};

int mode_of(const CreateOp& op) {
  if (op.mode == CreateMode::Container) return ZOO_CONTAINER;
  if (op.ttl > 0)
    return op.sequential ? ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL : ZOO_PERSISTENT_WITH_TTL;
  if (op.mode == CreateMode::Ephemeral)
    return op.sequential ? ZOO_EPHEMERAL_SEQUENTIAL : ZOO_EPHEMERAL;
  return op.sequential ? ZOO_PERSISTENT_SEQUENTIAL : ZOO_PERSISTENT;
}

void nothing_done(int rc, const void* data) { conclude<Nothing>(data, rc, {}); }
void stat_done(int rc, const ::Stat* stat, const void* data) {
  conclude<Stat>(data, rc, stat_of(stat));
}
void node_done(int rc, const char* bytes, int size, const ::Stat* stat, const void* data) {
  Node node{.data = std::nullopt, .stat = stat_of(stat)};
  if (rc == ZOK && size >= 0)
    node.data = bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
  conclude<Node>(data, rc, std::move(node));
}

/// A watcher function and its context for the C client; null for no watch.
struct Watcher {
  watcher_fn function = nullptr;
  void* context = nullptr;
};

ZooWatcherType server_kind(WatchKind kind) {
  return kind == WatchKind::OfChildren ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA;
}

Watcher watcher_for(const Watch& watch, Session::Handle* handle) {
  if (!handle || !watch.is_set()) return {};
  // With the same function and context as the handle's own, the C client, like Java's, fires one
  // event for a node's data, exists and child watches.
  if (watch.is_printed()) return {Session::Handle::on_event, handle};
  return {Session::Handle::on_private_watch, handle->context_of(watch.mailbox())};
}

/// Sends a read, which may set a watch, with `send(zh, watcher, data)`; keeps a copy of `send` if
/// the read must wait.
template <class T, class Send>
Pending<T> read(Session& session, Call::Watching place, const Watch& watch, Send send) {
  const auto on = session.open_handle();
  auto call = std::make_unique<CallOf<T>>();
  const auto watcher = watcher_for(watch, on.get());
  place.who = watcher.context;
  if (watcher.function) call->watching = place;
  return start(session.monitor(), on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    const bool is_in_doubt =
        watcher.function && session.monitor().with_lock([&](const Monitor::Held&) {
          return on->watchers.is_in_doubt(place.path);
        });
    if (!is_in_doubt) return send(zh, watcher, data);
    on->waiting.emplace(place.path, [send, watcher, data](zhandle_t* now) {
      const int rc = now ? send(now, watcher, data) : static_cast<int>(ZCLOSING);
      if (rc != ZOK) conclude<T>(data, now ? reason_unsent(now, rc) : rc, T{});
    });
    return static_cast<int>(ZOK);
  });
}

/// Removes the watches that report to a mailbox, without asking the server.
void forget_here(Session::Handle& handle, const std::string& path, void* who) {
  handle.session.monitor().with_lock([&](const Monitor::Held&) {
    for (const auto kind : {WatchKind::OfData, WatchKind::OfChildren})
      handle.watchers.forgotten(path, kind, who);
  });
  const Wire::Hold hold(handle.wire);
  if (hold.get())  // sends nothing, and calls nothing back
    zoo_aremove_watches(hold.get(), path.c_str(), ZWATCHTYPE_ANY, Session::Handle::on_private_watch,
                        who, 1, nullptr, nullptr);
}

/// A request that the C client does not make.
template <class T>
struct OwnCall : CallOf<T> {
  std::function<T(const AnswerHeader& answer)> result{};  ///< empty: a default value
  bool is_newer = true;  ///< than the servers that the C client was made for
};

template <class T>
void own_done(const AnswerHeader& answer, const void* data) {
  int rc = answer.code;
  const auto& call = static_cast<const OwnCall<T>&>(*static_cast<const CallOf<T>*>(data));
  // The server does not have the version that it says it has, and closes the connection.
  if (rc == ZUNIMPLEMENTED && call.is_newer) {
    auto& session = call.handle->session;
    session.monitor().with_lock([&](const Monitor::Held&) {
      session.known_servers().versions[call.handle->address] = {.is_false = true};
    });
    rc = ZCONNECTIONLOSS;
  }
  T value{};
  try {
    if (rc == ZOK && call.result) value = call.result(answer);
  } catch (const std::bad_alloc&) {
    rc = ZSYSTEMERROR;
  }
  conclude(data, rc, std::move(value));
}

/// As read, for what may be large: the C client would copy it twice, so it makes only the reads
/// that set a watch, or must wait for a connection.
template <class T, class Result, class Send>
Pending<T> read_content(Session& session, std::int32_t operation, const Call::Watching& place,
                        const Watch& watch, Result result, Send send) {
  if (watch.is_set()) return read<T>(session, place, watch, send);
  const auto on = session.open_handle();
  auto call = std::make_unique<OwnCall<T>>();
  call->result = std::move(result);
  call->is_newer = false;
  return start(session.monitor(), on.get(), std::unique_ptr<CallOf<T>>(std::move(call)),
               [&](zhandle_t* zh, const void* data) {
                 if (path_flaw(place.path)) return send(zh, Watcher(), data);  // it says so
                 const auto body = path_request(on->servers.chroot, place.path) + '\0';
                 const int rc = on->wire.ask(operation, body, own_done<T>, data);
                 return rc == ZCONNECTIONLOSS ? send(zh, Watcher(), data) : rc;
               });
}

/// The node in a valid answer; moves a large value out of it.
Node node_in(const AnswerHeader& answer) {
  constexpr std::size_t large = 1 << 16;
  AnswerReader from(answer.body);
  const auto bytes = from.data();
  Node node{.data = std::nullopt, .stat = from.stat()};
  if (!bytes) return node;
  if (bytes->size() < large) {
    node.data = std::string(*bytes);
    return node;
  }
  const auto size = bytes->size();
  answer.frame->erase(0, static_cast<std::size_t>(bytes->data() - answer.frame->data()));
  answer.frame->resize(size);
  node.data = std::move(*answer.frame);
  return node;
}

/// The list in a valid answer.
Children children_in(const AnswerHeader& answer) {
  Children list;
  AnswerReader count(answer.body);
  const auto names = static_cast<std::size_t>(count.number());
  list.names.reserve(names, count.rest().size() - 4 * names);
  AnswerReader from(answer.body);
  from.list([&] { list.names.add(from.text()); });
  list.stat = from.stat();
  return list;
}

/// `result` gets a valid answer; it is empty if that only says that the request was done.
template <class T>
Pending<T> ask_own(Session& session, Session::Handle* on, std::int32_t operation,
                   const std::string& body, std::function<T(const AnswerHeader&)> result = {},
                   const std::optional<Call::Persistent>& persistent = {}) {
  auto call = std::make_unique<OwnCall<T>>();
  call->persistent = persistent;
  call->result = std::move(result);
  return start(session.monitor(), on, std::unique_ptr<CallOf<T>>(std::move(call)),
               [&](zhandle_t* /*zh*/, const void* data) {
                 return on->wire.ask(operation, body, own_done<T>, data);
               });
}

/// The reads of the parts, one after the other.
Reads joined(std::vector<Reads> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  using Answers = Answer<std::vector<ReadResult>>;
  const auto count = parts.size();
  auto join = [parts = std::move(parts)](const Monitor::Held& held) -> Answers::Value {
    Outcome<std::vector<ReadResult>> all;
    for (const auto& part : parts)
      if (!(*part.answer)(held)) return std::nullopt;
    for (const auto& part : parts) {
      auto& [code, results, culprit] = *(*part.answer)(held);
      if (code != code::ok) all.code = code;
      std::ranges::move(results, std::back_inserter(all.value));
    }
    return all;
  };
  return {.answer = std::make_shared<Answers>(std::move(join)), .requests = count};
}

}  // namespace

/// An idle session sends a read as often as a waiting contender, so that a lock that is requested
/// later is safe at once (SessionLease::lasts): pings, three in a session timeout, are too rare.
Clock::time_point Session::Handle::tend() {
  constexpr std::chrono::seconds look_again{1};
  limit_sasl();
  look_for_restored_servers();
  std::shared_ptr<SessionLease> idle;
  session.monitor_.with_lock([&](const Monitor::Held&) {
    if (is_connected(state) && calls == 0) idle = lease;
  });
  if (!idle) return Clock::now() + look_again;
  const auto interval = LeaseRenewal::interval(idle->timeout());
  if (BootClock::now() >= std::max(idle->last_sent(), beat) + interval) {
    beat = BootClock::now();
    start(session.monitor_, this, std::make_unique<CallOf<Stat>>(),
          [](zhandle_t* zh, const void* data) { return zoo_aexists(zh, "/", 0, stat_done, data); });
  }
  return wait_until(std::max(idle->last_sent(), beat) + interval);
}

namespace {

/// Notes in a call which of the session's ephemerals it removes.
void note_removals(Session::Handle& on, Call& call, const std::vector<Op>& ops) {
  on.session.monitor().with_lock([&](const Monitor::Held&) {
    if (on.ephemerals.empty()) return;
    for (const auto& op : ops)
      if (const auto* removal = std::get_if<RemoveOp>(&op);
          removal && on.ephemerals.contains(removal->path))
        call.removals.push_back(removal->path);
  });
}

}  // namespace

Pending<Nothing> Session::start_remove(const RemoveOp& op) {
  const auto on = open_handle();
  auto call = std::make_unique<CallOf<Nothing>>();
  if (on) note_removals(*on, *call, {op});
  return start(monitor_, on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    if (removes_root(op)) return static_cast<int>(ZBADARGUMENTS);
    return zoo_adelete(zh, op.path.c_str(), op.version, nothing_done, data);
  });
}

Pending<Stat> Session::start_set(const SetOp& op) {
  return request<Stat>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_aset(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data), op.version, stat_done,
                    data);
  });
}

Pending<Stat> Session::start_exists(const std::string& path, const Watch& watch) {
  return read<Stat>(*this, {.path = path, .on_missing = true}, watch,
                    [path](zhandle_t* zh, const Watcher& watcher, const void* data) {
                      return zoo_awexists(zh, path.c_str(), watcher.function, watcher.context,
                                          stat_done, data);
                    });
}

Pending<Node> Session::start_get(const std::string& path, const Watch& watch) {
  return read_content<Node>(*this, operation::get, {.path = path}, watch, node_in,
                            [path](zhandle_t* zh, const Watcher& watcher, const void* data) {
                              return zoo_awget(zh, path.c_str(), watcher.function, watcher.context,
                                               node_done, data);
                            });
}

Pending<Node> Session::start_get_config(const Watch& watch) {
  // Through a chroot at or above the node, that is an ordinary node, and its events name it so.
  const auto own = monitor_.with_lock([&](const Monitor::Held&) {
    const auto open = state_->open_handle();
    return open ? path_through(open->servers.chroot, config_node) : std::nullopt;
  });
  if (own) return start_get(*own, watch);
  return read<Node>(*this, {.path = std::string(config_node)}, watch,
                    [](zhandle_t* zh, const Watcher& watcher, const void* data) {
                      return zoo_awgetconfig(zh, watcher.function, watcher.context, node_done,
                                             data);
                    });
}

Pending<Children> Session::start_children(const std::string& path, const Watch& watch) {
  const auto done = [](int rc, const String_vector* names, const ::Stat* stat, const void* data) {
    Children list{.names = {}, .stat = stat_of(stat)};
    for (int i = 0; names && i < names->count; ++i) list.names.add(names->data[i]);
    conclude<Children>(data, rc, std::move(list));
  };
  return read_content<Children>(
      *this, operation::children_and_stat, {.path = path, .kind = WatchKind::OfChildren}, watch,
      children_in, [path, done](zhandle_t* zh, const Watcher& watcher, const void* data) {
        return zoo_awget_children2(zh, path.c_str(), watcher.function, watcher.context, done, data);
      });
}

Pending<NodeAcl> Session::start_get_acl(const std::string& path) {
  const auto done = [](int rc, ACL_vector* acl, ::Stat* stat, const void* data) {
    NodeAcl result{.acl = {}, .stat = stat_of(stat)};
    for (int i = 0; acl && i < acl->count; ++i)
      result.acl.push_back({acl->data[i].perms, acl->data[i].id.scheme, acl->data[i].id.id});
    conclude<NodeAcl>(data, rc, std::move(result));
  };
  return request<NodeAcl>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_aget_acl(zh, path.c_str(), done, data);
  });
}

Pending<Nothing> Session::start_set_acl(const std::string& path, const Acl& acl,
                                        std::int32_t version) {
  // The C client only reads the vector, despite its type.
  const AclView view(acl);
  return request<Nothing>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_aset_acl(zh, path.c_str(), version, const_cast<ACL_vector*>(view.get()),
                        nothing_done, data);
  });
}

Pending<Nothing> Session::start_sync(const std::string& path) {
  const auto done = [](int rc, const char* /*path*/, const void* data) {
    conclude<Nothing>(data, rc, {});
  };
  return request<Nothing>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_async(zh, path.c_str(), done, data);
  });
}

Pending<Nothing> Session::start_add_auth(const std::string& scheme, const std::string& auth) {
  return add_auth_to(open_handle().get(), {.scheme = scheme, .secret = auth});
}

Pending<Nothing> Session::add_auth_to(Handle* on, const Credential& credential) {
  struct AuthCall : CallOf<Nothing> {
    Credential credential;
  };
  const auto done = [](int rc, const void* data) {
    const auto* call = static_cast<const AuthCall*>(static_cast<const CallOf<Nothing>*>(data));
    if (rc == ZOK) call->handle->accepted(call->credential);
    conclude<Nothing>(data, rc, {});
  };
  auto call = std::make_unique<AuthCall>();
  call->credential = credential;
  const auto& [scheme, secret] = credential;
  if (on && std::ranges::count(settings_.credentials, credential) == 0)
    monitor_.with_lock([&](const Monitor::Held&) { on->other_credentials = true; });
  return start(monitor_, on, std::unique_ptr<CallOf<Nothing>>(std::move(call)),
               [&, bytes = secret.data(), size = static_cast<int>(secret.size()),
                name = scheme.c_str()](zhandle_t* zh, const void* data) {
                 return zoo_add_auth(zh, name, bytes, size, done, data);
               });
}

Pending<Node> Session::start_reconfigure(const Reconfiguration& change) {
  const auto text = [](const std::optional<std::string>& part) {
    return part ? part->c_str() : nullptr;
  };
  return start_newer(
      *this, std::make_unique<CallOf<Node>>(),
      [change, text](zhandle_t* zh, const void* data) {
        return zoo_areconfig(zh, text(change.joining), text(change.leaving), text(change.members),
                             change.version, node_done, data);
      },
      send_nothing);
}

Pending<Nothing> Session::start_remove_watches(const std::string& path, WatchKind kind,
                                               bool local) {
  const auto type = server_kind(kind);
  const auto here = [path, type](zhandle_t* zh, const void* data) {
    // It sends nothing, and calls nothing back.
    const int rc = zoo_aremove_watches(zh, path.c_str(), type, Handle::on_event,
                                       const_cast<void*>(zoo_get_context(zh)), 1, nullptr, nullptr);
    if (rc == ZOK) nothing_done(rc, data);
    return rc;
  };
  const auto on = open_handle();
  auto call = std::make_unique<CallOf<Nothing>>();
  call->unwatching = Call::Watching{.path = path, .kind = kind, .who = on.get()};
  if (local) return start(monitor_, on.get(), std::move(call), here);
  const auto there = [path, type, kind, here, handle = on.get()](zhandle_t* zh, const void* data) {
    const bool is_persistent = handle->session.monitor().with_lock(
        [&](const Monitor::Held&) { return handle->watchers.reports(path, kind, true); });
    if (is_persistent) return here(zh, data);  // the server has no other
    // The C client's type is a pointer to the completion, but it calls what it is given.
    return zoo_aremove_watches(zh, path.c_str(), type, Handle::on_event,
                               const_cast<void*>(zoo_get_context(zh)), 0,
                               reinterpret_cast<void_completion_t*>(nothing_done), data);
  };
  return start_newer(*this, std::move(call), there, here);
}

OpenWatches Session::open_watches(const Mailbox& without) {
  return monitor_.with_lock([&](const Monitor::Held&) -> OpenWatches {
    const auto open = state_->open_handle();
    if (!open) return {};
    const auto found =
        std::ranges::find(open->mailboxes, without, [](const auto& entry) { return entry.second; });
    return open->watchers.open(found == open->mailboxes.end() ? nullptr : found->first);
  });
}

void Session::forget_watches(const std::string& path, const Mailbox& mailbox) {
  const auto on = open_handle();
  if (on) forget_here(*on, path, on->context_of(mailbox));
}

void Session::drop_watches(const std::string& path, const Mailbox& mailbox, WatchKind kind) {
  const auto on = open_handle();
  if (!on) return;
  auto* const who = on->context_of(mailbox);
  // The watch stays at the server; its events are dropped.
  const auto here = [path, who, handle = on.get()](zhandle_t* /*zh*/, const void* data) -> int {
    forget_here(*handle, path, who);
    nothing_done(ZOK, data);
    return ZOK;
  };
  const auto there = [=, this, handle = on.get()](zhandle_t* zh, const void* data) -> int {
    // With the wire's Hold: a read that sets a watch is sent either before, and seen here, or
    // after.
    const bool is_only = monitor_.with_lock([&](const Monitor::Held&) {
      if (handle->watchers.reports(path, kind, true) || !handle->watchers.only(path, kind, who))
        return false;
      handle->watchers.forgotten(path, kind, who);
      return true;
    });
    if (!is_only) return here(zh, data);
    // zoo_aremove_watches of a single watcher would leave the server's watch.
    return zoo_aremove_all_watches(zh, path.c_str(), server_kind(kind), 0,
                                   reinterpret_cast<void_completion_t*>(nothing_done), data);
  };
  start_newer(*this, std::make_unique<CallOf<Nothing>>(), there, here);
}

Pending<Created> Session::start_create(const CreateOp& op) {
  if (op.mode == CreateMode::Ephemeral) made_ephemerals_ = true;
  if (!fits_multi(op)) {
    const auto send = [op](zhandle_t* zh, const void* data) {
      const auto done = [](int rc, const char* path, const ::Stat* stat, const void* sent) {
        conclude<Created>(sent, rc, {.path = path ? path : "", .stat = stat_of(stat)});
      };
      return zoo_acreate2_ttl(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data),
                              AclView(op.acl).get(), mode_of(op), op.ttl > 0 ? op.ttl : -1, done,
                              data);
    };
    return start_newer(*this, std::make_unique<CallOf<Created>>(), send, send_nothing);
  }
  auto call = std::make_unique<CallOf<Created>>();
  call->makes_ephemerals = op.mode == CreateMode::Ephemeral;
  return start(monitor_, open_handle().get(), std::move(call),
               [&](zhandle_t* zh, const void* data) {
                 const auto done = [](int rc, const char* path, const void* sent) {
                   Created created{.path = path ? path : "", .stat = {}};
                   auto& handle = *static_cast<const CallOf<Created>*>(sent)->handle;
                   if (rc == ZOK) created.stat.czxid = handle.czxid_of(created.path);
                   conclude<Created>(sent, rc, std::move(created));
                 };
                 return zoo_acreate(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data),
                                    AclView(op.acl).get(), mode_of(op), done, data);
               });
}

Pending<Nothing> Session::start_probe_newer() {
  const auto send = [](zhandle_t* /*zh*/, const void* data) {
    conclude<Nothing>(data, ZOK, {});
    return static_cast<int>(ZOK);
  };
  return start_newer(*this, std::make_unique<CallOf<Nothing>>(), send, send_nothing);
}

namespace {

/// The operations and results of a multi, and the buffers that they point to until the answer
/// arrives.
struct MultiCall : CallOf<std::vector<OpResult>> {
  std::vector<AclView> acls;
  std::vector<std::string> created;
  std::vector<::Stat> stats;
  std::vector<zoo_op_t> ops;
  std::vector<zoo_op_result_t> results;

  explicit MultiCall(const std::vector<Op>& requested)
      : created(requested.size()),
        stats(requested.size()),
        ops(requested.size()),
        results(requested.size()) {
    acls.reserve(requested.size());  // the C client makes no copy, so nothing may move
    for (std::size_t i = 0; i < requested.size(); ++i)
      std::visit([&](const auto& op) { add(i, op); }, requested[i]);
  }

  void add(std::size_t i, const CreateOp& op) {
    constexpr std::size_t longest_suffix = sizeof "-2147483648";
    created[i].resize(op.path.size() + longest_suffix);
    acls.emplace_back(op.acl);
    zoo_create_op_init(&ops[i], op.path.c_str(), bytes_of(op.data), size_of(op.data),
                       acls.back().get(), mode_of(op), created[i].data(),
                       static_cast<int>(created[i].size()));
  }
  void add(std::size_t i, const RemoveOp& op) {
    zoo_delete_op_init(&ops[i], op.path.c_str(), op.version);
  }
  void add(std::size_t i, const SetOp& op) {
    zoo_set_op_init(&ops[i], op.path.c_str(), bytes_of(op.data), size_of(op.data), op.version,
                    &stats[i]);
  }
  void add(std::size_t i, const CheckOp& op) {
    zoo_check_op_init(&ops[i], op.path.c_str(), op.version);
  }

  std::vector<OpResult> outcome() const {
    std::vector<OpResult> all(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
      all[i] = {.code = results[i].err,
                .path = created[i].substr(0, created[i].find('\0')),
                .stat = stat_of(&stats[i])};
    return all;
  }
};

void multi_done(int rc, const void* data) {
  const auto& call =
      static_cast<const MultiCall&>(*static_cast<const CallOf<std::vector<OpResult>>*>(data));
  auto results = call.outcome();
  const auto created =
      std::ranges::find_if(results, [](const OpResult& result) { return !result.path.empty(); });
  if (rc == ZOK && created != results.end()) {
    const auto czxid = call.handle->czxid_of(created->path);
    for (auto& result : results)
      if (!result.path.empty()) result.stat.czxid = czxid;
  }
  conclude<std::vector<OpResult>>(data, rc, std::move(results));
}

/// Refuses what zoo_amulti cannot handle: if it refuses an operation itself (a path, a dead handle)
/// it frees memory twice, and it aborts on the answer to a container's creation (3.8.0, whose
/// transactions do not support TTLs either).
int refusal(zhandle_t* zh, const std::vector<Op>& ops) {
  if (is_unrecoverable(zh) != ZOK) return code::invalid_state;
  const auto malformed = [](const Op& op) {
    const auto* created = std::get_if<CreateOp>(&op);
    return path_flaw(created && created->sequential ? created->path + '1' : path_of(op))
        .has_value();
  };
  const auto unknown = [](const Op& op) {
    const auto* created = std::get_if<CreateOp>(&op);
    return created && !fits_multi(*created);
  };
  if (std::ranges::any_of(ops, malformed)) return code::bad_arguments;
  if (std::ranges::any_of(ops, unknown)) return code::unimplemented;
  return code::ok;
}

/// The answer to a transaction that removes /. In a failed one, the other operations are undone or
/// not tried.
std::vector<OpResult> outcome_with_root(const std::vector<Op>& ops) {
  std::vector<OpResult> results(ops.size(),
                                {.code = code::runtime_inconsistency, .path = {}, .stat = {}});
  const auto culprit = std::ranges::find_if(ops, removes_root) - ops.begin();
  results[static_cast<std::size_t>(culprit)].code = code::bad_arguments;
  return results;
}

}  // namespace

Pending<std::vector<OpResult>> Session::start_multi(const std::vector<Op>& ops) {
  const auto on = open_handle();
  auto call = std::make_unique<MultiCall>(ops);
  auto& multi = *call;
  call->makes_ephemerals = std::ranges::any_of(ops, [](const Op& op) {
    const auto* const creation = std::get_if<CreateOp>(&op);
    return creation && creation->mode == CreateMode::Ephemeral;
  });
  if (on) note_removals(*on, *call, ops);
  return start(monitor_, on.get(), std::unique_ptr<CallOf<std::vector<OpResult>>>(std::move(call)),
               [&](zhandle_t* zh, const void* data) {
                 if (std::ranges::any_of(ops, removes_root)) {
                   conclude(data, ZBADARGUMENTS, outcome_with_root(ops));
                   return static_cast<int>(ZOK);
                 }
                 const int refused = refusal(zh, ops);
                 if (refused != code::ok) return refused;
                 return zoo_amulti(zh, static_cast<int>(multi.ops.size()), multi.ops.data(),
                                   multi.results.data(), multi_done, data);
               });
}

Reads Session::start_reads(const std::vector<ReadOp>& ops) {
  constexpr std::size_t most_bytes = 65536;  // servers refuse requests of more than jute.maxbuffer
  const auto on = open_handle();
  if (!on || ops.size() < 2) return Client::start_reads(ops);
  const Wire::Hold hold(on->wire);
  if (!has_version(on.get(), 3, 6)) return Client::start_reads(ops);
  std::vector<Reads> parts;
  for (auto first = ops.begin(); first != ops.end();) {
    auto end = first;
    for (std::size_t bytes = 0; end != ops.end() && (end == first || bytes < most_bytes); ++end)
      bytes += multi_read::size_of(*end);
    std::vector<ReadOp> some(first, end);
    first = end;
    const auto body = multi_read::request(on->servers.chroot, some);
    auto answer =
        ask_own<std::vector<ReadResult>>(*this, on.get(), operation::multi_read, body,
                                         [some = std::move(some)](const AnswerHeader& header) {
                                           return multi_read::results(header.body, some);
                                         });
    parts.push_back({.answer = std::move(answer), .requests = 1});
  }
  return joined(std::move(parts));
}

void Session::Handle::ask_zxid() {
  const bool is_asked = zxid_question && session.monitor_.with_lock([&](const Monitor::Held& held) {
    return !(*zxid_question)(held).has_value();
  });
  if (is_asked) return;
  const auto without_watch = path_request(servers.chroot, "/") + '\0';
  zxid_question = ask_own<Nothing>(session, this, operation::exists, without_watch);
}

Pending<Nothing> Session::start_end(const std::shared_ptr<Handle>& on) {
  return ask_own<Nothing>(*this, on.get(), operation::close, "");
}

Pending<std::vector<std::string>> Session::start_get_ephemerals(const std::string& prefix) {
  using Paths = std::vector<std::string>;
  const auto on = open_handle();
  if (!on) return Client::start_get_ephemerals(prefix);
  const Wire::Hold hold(on->wire);
  if (!has_version(on.get(), 3, 6)) return Client::start_get_ephemerals(prefix);
  const auto& chroot = on->servers.chroot;
  return ask_own<Paths>(
      *this, on.get(), operation::get_ephemerals, path_request(chroot, prefix),
      [chroot](const AnswerHeader& answer) { return ephemerals_in(answer.body, chroot); });
}

Pending<std::int64_t> Session::start_count_descendants(const std::string& path) {
  const auto on = open_handle();
  if (!on) return Client::start_count_descendants(path);
  const Wire::Hold hold(on->wire);
  if (!has_version(on.get(), 3, 6)) return Client::start_count_descendants(path);
  return ask_own<std::int64_t>(*this, on.get(), operation::count_descendants,
                               path_request(on->servers.chroot, path),
                               [](const AnswerHeader& answer) { return number_in(answer.body); });
}

Pending<std::vector<Identity>> Session::start_who_am_i() {
  using Identities = std::vector<Identity>;
  const auto on = open_handle();
  if (!on) return Client::start_who_am_i();
  const Wire::Hold hold(on->wire);
  if (!has_version(on.get(), 3, 7)) return Client::start_who_am_i();
  return ask_own<Identities>(*this, on.get(), operation::who_am_i, "",
                             [](const AnswerHeader& answer) { return identities_in(answer.body); });
}

/// Up to 3.8 a server has one mode for a session and a path: a one-shot watch would replace the
/// persistent one, and the other way round. So a one-shot watch is not sent if the persistent one
/// reports what it would (WireOwner::is_reported): the C client gets these events all the same.
/// Until the server has granted the persistent one, which it may refuse, such a read waits. A
/// recursive one does not report the list of children; the server keeps the mode for that apart,
/// and the one-shot watch must be set after the recursive one.
Pending<std::int64_t> Session::start_add_watch(const std::string& path, WatchMode mode,
                                               const Mailbox& mailbox) {
  const auto on = open_handle();
  if (!on) return Client::start_add_watch(path, mode, mailbox);
  const Wire::Hold hold(on->wire);  // what is noted is what is sent
  bool is_alone = false;
  bool has_list = false;
  monitor_.with_lock([&](const Monitor::Held&) {
    is_alone = on->watchers.agree(path, mode, mailbox);
    has_list = on->watchers.has(path, WatchKind::OfChildren);
  });
  if (!has_version(on.get(), 3, 6) || (!is_alone && !has_version(on.get(), 3, 9)))
    return Client::start_add_watch(path, mode, mailbox);
  const auto& chroot = on->servers.chroot;
  auto answer = ask_own<std::int64_t>(
      *this, on.get(), operation::add_watch, add_watch_request(chroot, path, mode),
      [](const AnswerHeader& header) { return header.zxid; },
      Call::Persistent{.path = path, .mode = mode, .mailbox = mailbox});
  if (has_list && mode == WatchMode::Recursive)  // sets it, or sets it again
    ask_own<Nothing>(*this, on.get(), operation::children, watching_request(chroot, path));
  return answer;
}

/// On this side the watch ends when the request is sent, not when it is answered: requests that
/// follow find what the server has by then. If the server refuses, its events are dropped.
Pending<Nothing> Session::start_end_watch(const std::string& path, const Mailbox& mailbox) {
  const auto on = open_handle();
  if (!on) return settled<Nothing>(code::no_watcher);
  const Wire::Hold hold(on->wire);
  bool has_ended = false;
  bool is_needed = false;
  monitor_.with_lock([&](const Monitor::Held&) {
    auto& watchers = on->watchers;
    has_ended = watchers.end_persistent(path, mailbox);
    // The server would remove the one-shot watches too, and has only one for all who watch.
    is_needed = watchers.has_persistent(path) || watchers.has(path, WatchKind::OfData) ||
                watchers.has(path, WatchKind::OfChildren);
  });
  on->send_waiting(path);
  if (!has_ended) return settled<Nothing>(code::no_watcher);
  if (is_needed) return settled<Nothing>(code::ok);
  return ask_own<Nothing>(*this, on.get(), operation::remove_watches,
                          remove_watches_request(on->servers.chroot, path));
}

std::int64_t Session::last_zxid(const Monitor::Held& /*held*/) {
  const auto open = state_->open_handle();
  return open ? open->wire.socket().last_zxid() : 0;
}

void Session::learn_server(const std::string& path, const std::stop_token& stop) {
  constexpr std::chrono::seconds patience{5};
  constexpr std::chrono::seconds until_asked_again{1};
  await_connection(path, stop);
  const auto on = open_handle();
  const auto until = Clock::now() + patience;
  for (bool is_over = !on; !is_over && !has_version(on.get(), 0, 0) && Clock::now() < until;) {
    is_over = monitor_.wait_until(
        stop, std::min(until, Clock::now() + until_asked_again), [&](const Monitor::Held&) {
          return known_servers().version_of(on->address) || state_->open_handle() != on;
        });
    if (stop.stop_requested()) throw Cancelled();
  }
}

}  // namespace zksh
