// Session: the requests, each sent with an asynchronous call of the C client.
#include "session/session_calls.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace zksh {
namespace {

void nothing_done(int rc, const void* data) { answer<Nothing>(data, rc, {}); }
void stat_done(int rc, const ::Stat* stat, const void* data) {
  answer<Stat>(data, rc, stat_of(stat));
}
void node_done(int rc, const char* bytes, int size, const ::Stat* stat, const void* data) {
  Node node{.data = std::nullopt, .stat = stat_of(stat)};
  if (rc == ZOK && size >= 0) node.data.emplace(bytes ? bytes : "", static_cast<std::size_t>(size));
  answer<Node>(data, rc, std::move(node));
}

/// The watcher function and its context, as the C client takes them; none for no watch.
struct Watcher {
  watcher_fn function = nullptr;
  void* context = nullptr;
};

ZooWatcherType server_kind(WatchKind kind) {
  return kind == WatchKind::OfChildren ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA;
}

/// The C client only hands it back.
void* as_context(std::uintptr_t mailbox_id) {
  return reinterpret_cast<void*>(mailbox_id);  // NOLINT(performance-no-int-to-ptr)
}

Watcher watcher_for(const Watch& watch, Monitor& monitor, Session::Handle* handle) {
  if (!handle || !watch.is_set()) return {};
  // The same function and context as the handle's own: the C client, like Java's, then fires one
  // event for a node's data, exists and child watches.
  if (watch.is_printed()) return {Session::Handle::on_event, handle};
  const auto id =
      monitor.look([&](const Monitor::Held& held) { return handle->id_of(held, watch.mailbox()); });
  return {Session::Handle::on_private_watch, as_context(id)};
}

/// What the call of a read says of its watch.
std::optional<Call::Watching> watching(const std::string& path, WatchKind kind,
                                       const Watcher& watcher, bool on_missing = false) {
  if (!watcher.function) return std::nullopt;
  return Call::Watching{
      .path = path, .kind = kind, .who = watcher.context, .on_missing = on_missing};
}

void take_names(const String_vector& from, std::vector<std::string>& to) {
  to.assign(from.data, from.data + from.count);
}

void take_names(const String_vector& from, NameList& to) {
  std::size_t bytes = 0;
  for (int i = 0; i < from.count; ++i) bytes += std::strlen(from.data[i]);
  to.reserve(static_cast<std::size_t>(from.count), bytes);
  for (int i = 0; i < from.count; ++i) to.add(from.data[i]);
}

}  // namespace

Pending<Nothing> Session::start_remove(const RemoveOp& op) {
  return start(monitor_, Use(*this).get(), std::make_unique<CallOf<Nothing>>(),
               [&](zhandle_t* zh, const void* data) {
                 return zoo_adelete(zh, op.path.c_str(), op.version, nothing_done, data);
               });
}

Pending<Stat> Session::start_set(const SetOp& op) {
  return start(monitor_, Use(*this).get(), std::make_unique<CallOf<Stat>>(),
               [&](zhandle_t* zh, const void* data) {
                 return zoo_aset(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data),
                                 op.version, stat_done, data);
               });
}

Pending<Stat> Session::start_exists(const std::string& path, const Watch& watch) {
  const Use on(*this);
  auto call = std::make_unique<CallOf<Stat>>();
  const auto watcher = watcher_for(watch, monitor_, on.get());
  call->watching = watching(path, WatchKind::OfData, watcher, true);
  return start(monitor_, on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    return zoo_awexists(zh, path.c_str(), watcher.function, watcher.context, stat_done, data);
  });
}

Pending<Node> Session::start_get(const std::string& path, const Watch& watch) {
  const Use on(*this);
  auto call = std::make_unique<CallOf<Node>>();
  const auto watcher = watcher_for(watch, monitor_, on.get());
  call->watching = watching(path, WatchKind::OfData, watcher);
  return start(monitor_, on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    return zoo_awget(zh, path.c_str(), watcher.function, watcher.context, node_done, data);
  });
}

template <class T>
Pending<T> Session::start_list(const std::string& path, const Watch& watch) {
  const auto done = [](int rc, const String_vector* names, const ::Stat* stat, const void* data) {
    T list{.names = {}, .stat = stat_of(stat)};
    if (names) take_names(*names, list.names);
    answer<T>(data, rc, std::move(list));
  };
  const Use on(*this);
  auto call = std::make_unique<CallOf<T>>();
  const auto watcher = watcher_for(watch, monitor_, on.get());
  call->watching = watching(path, WatchKind::OfChildren, watcher);
  return start(monitor_, on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    return zoo_awget_children2(zh, path.c_str(), watcher.function, watcher.context, done, data);
  });
}

Pending<Children> Session::start_children(const std::string& path, const Watch& watch) {
  return start_list<Children>(path, watch);
}

Pending<Listing> Session::start_names(const std::string& path, const Watch& watch) {
  return start_list<Listing>(path, watch);
}

Pending<NodeAcl> Session::start_get_acl(const std::string& path) {
  const auto done = [](int rc, ACL_vector* acl, ::Stat* stat, const void* data) {
    NodeAcl result{.acl = {}, .stat = stat_of(stat)};
    for (int i = 0; acl && i < acl->count; ++i)
      result.acl.push_back({acl->data[i].perms, acl->data[i].id.scheme, acl->data[i].id.id});
    answer<NodeAcl>(data, rc, std::move(result));
  };
  return start(
      monitor_, Use(*this).get(), std::make_unique<CallOf<NodeAcl>>(),
      [&](zhandle_t* zh, const void* data) { return zoo_aget_acl(zh, path.c_str(), done, data); });
}

Pending<Nothing> Session::start_set_acl(const std::string& path, const Acl& acl,
                                        std::int32_t version) {
  // The C client reads the vector only, but its type says otherwise.
  const AclView view(acl);
  return start(monitor_, Use(*this).get(), std::make_unique<CallOf<Nothing>>(),
               [&](zhandle_t* zh, const void* data) {
                 return zoo_aset_acl(zh, path.c_str(), version, const_cast<ACL_vector*>(view.get()),
                                     nothing_done, data);
               });
}

Pending<Nothing> Session::start_sync(const std::string& path) {
  const auto done = [](int rc, const char* /*path*/, const void* data) {
    answer<Nothing>(data, rc, {});
  };
  return start(
      monitor_, Use(*this).get(), std::make_unique<CallOf<Nothing>>(),
      [&](zhandle_t* zh, const void* data) { return zoo_async(zh, path.c_str(), done, data); });
}

Pending<Nothing> Session::start_add_auth(const std::string& scheme, const std::string& auth) {
  return add_auth_to(Use(*this).get(), {.scheme = scheme, .secret = auth});
}

Pending<Nothing> Session::add_auth_to(Handle* on, const Credential& credential) {
  struct AuthCall : CallOf<Nothing> {
    Credential credential;
  };
  const auto done = [](int rc, const void* data) {
    const auto* call = static_cast<const AuthCall*>(static_cast<const CallOf<Nothing>*>(data));
    if (rc == ZOK) call->handle->accepted(call->credential);
    answer<Nothing>(data, rc, {});
  };
  auto call = std::make_unique<AuthCall>();
  call->credential = credential;
  const auto& [scheme, secret] = credential;
  if (on && std::ranges::count(settings_.credentials, credential) == 0)
    monitor_.look([&](const Monitor::Held&) { on->other_credentials = true; });
  return start(monitor_, on, std::unique_ptr<CallOf<Nothing>>(std::move(call)),
               [&, bytes = secret.data(), size = static_cast<int>(secret.size()),
                name = scheme.c_str()](zhandle_t* zh, const void* data) {
                 return zoo_add_auth(zh, name, bytes, size, done, data);
               });
}

Pending<Node> Session::start_get_config(const Watch& watch) {
  const Use on(*this);
  auto call = std::make_unique<CallOf<Node>>();
  const auto watcher = watcher_for(watch, monitor_, on.get());
  return start(monitor_, on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    return zoo_awgetconfig(zh, watcher.function, watcher.context, node_done, data);
  });
}

Pending<Node> Session::start_reconfigure(const Reconfiguration& change) {
  const auto text = [](const std::optional<std::string>& part) {
    return part ? part->c_str() : nullptr;
  };
  return start_newer(std::make_unique<CallOf<Node>>(),
                     [change, text](zhandle_t* zh, const void* data) {
                       return zoo_areconfig(zh, text(change.joining), text(change.leaving),
                                            text(change.members), change.version, node_done, data);
                     });
}

Pending<Nothing> Session::start_remove_watches(const std::string& path, WatchKind kind,
                                               bool local) {
  const auto type = server_kind(kind);
  const auto here = [path, type](zhandle_t* zh, const void* data) {
    // The asynchronous call would take `data` for a record of its own; this one sends nothing, and
    // so does not wait.
    const int rc = zoo_remove_watches(zh, path.c_str(), type, Handle::on_event,
                                      const_cast<void*>(zoo_get_context(zh)), 1);
    if (rc == ZOK) nothing_done(rc, data);
    return rc;
  };
  auto call = std::make_unique<CallOf<Nothing>>();
  if (local) return start(monitor_, Use(*this).get(), std::move(call), here);
  const auto there = [path, type](zhandle_t* zh, const void* data) {
    // The C client's type says a pointer to the completion, but it calls what it is given.
    return zoo_aremove_watches(zh, path.c_str(), type, Handle::on_event,
                               const_cast<void*>(zoo_get_context(zh)), 0,
                               reinterpret_cast<void_completion_t*>(nothing_done), data);
  };
  return start_newer(std::move(call), there, here);
}

namespace {

/// Takes away the watches that report to a mailbox, without asking a server.
void forget_here(Session::Handle& handle, const std::string& path, void* who) {
  handle.session.monitor().look([&](const Monitor::Held&) {
    for (const auto kind : {WatchKind::OfData, WatchKind::OfChildren})
      handle.watchers.forgotten(path, kind, who);
  });
  zoo_remove_watches(handle.zh, path.c_str(), ZWATCHTYPE_ANY, Session::Handle::on_private_watch,
                     who, 1);
}

}  // namespace

void Session::forget_watches(const std::string& path, const Mailbox& mailbox) {
  const Use on(*this);
  if (!on) return;
  auto* const who = as_context(
      monitor_.look([&](const Monitor::Held& held) { return on->id_of(held, mailbox); }));
  forget_here(*on.get(), path, who);
}

void Session::drop_watches(const std::string& path, const Mailbox& mailbox, WatchKind kind) {
  const Use on(*this);
  if (!on) return;
  auto* const who = as_context(
      monitor_.look([&](const Monitor::Held& held) { return on->id_of(held, mailbox); }));
  // The watch stays at the server, and what it reports is dropped.
  const auto here = [path, who, handle = on.get()](zhandle_t* /*zh*/, const void* data) -> int {
    forget_here(*handle, path, who);
    nothing_done(ZOK, data);
    return ZOK;
  };
  const auto there = [=, this, handle = on.get()](zhandle_t* zh, const void* data) -> int {
    // Decided and sent at once: a read that leaves a watch is sent before, and seen, or behind it.
    const auto sent = monitor_.look([&](const Monitor::Held&) -> std::optional<int> {
      if (!handle->watchers.only(path, kind, who)) return std::nullopt;
      handle->watchers.forgotten(path, kind, who);
      // Not the call that takes away one watcher's: that one leaves the server's watch where it is.
      return zoo_aremove_all_watches(zh, path.c_str(), server_kind(kind), 0,
                                     reinterpret_cast<void_completion_t*>(nothing_done), data);
    });
    return sent ? *sent : here(zh, data);
  };
  start_newer(std::make_unique<CallOf<Nothing>>(), there, here);
}

}  // namespace zksh
