// Session's requests: what each of the C client's asynchronous calls needs.
#pragma once

#include "base/afterwards.h"
#include "session/session_handle.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace zksh {

/// Settles a call, which a completion was given as its data. Once for each call.
template <class T>
void conclude(const void* data, int rc, T value) {
  // The C client hands back, as const, the pointer that was given to it.
  const std::unique_ptr<CallOf<T>> call(static_cast<CallOf<T>*>(const_cast<void*>(data)));
  auto& handle = *call->handle;
  handle.session.monitor().change_of(call->pending.get(), [&](const Monitor::Held& held) {
    handle.calls.erase(call->place);
    if (const auto& watching = call->watching) {
      const bool left = rc == ZOK || (watching->on_missing && rc == ZNONODE);
      handle.watchers.answered(watching->path, watching->kind, watching->who, left);
    }
    call->settle(held, rc, std::move(value));
  });
}

/// For the C client's completions: settles the call, and does what its answer made possible.
template <class T>
void answer(const void* data, int rc, T value) {
  const Afterwards afterwards;
  conclude<T>(data, rc, std::move(value));
}

/// Takes a call down before its request is sent.
inline void enlist(const Monitor::Held& /*held*/, Session::Handle& handle, Call& call) {
  call.handle = &handle;
  call.place = handle.calls.insert(handle.calls.end(), &call);
  if (const auto& watching = call.watching)
    handle.watchers.asked(watching->path, watching->kind, watching->who);
}

/// Registers a call and sends its request with `send(zh, call)`. Without a handle, or when the C
/// client refuses it, the answer is there at once. The handle is in use until this returns.
template <class T, class Send>
Pending<T> start(Monitor& monitor, Session::Handle* handle, std::unique_ptr<CallOf<T>> call,
                 Send&& send) {
  auto pending = call->pending;
  if (!handle) {
    monitor.change(
        [&](const Monitor::Held& held) { call->settle_error(held, code::invalid_state); });
    return pending;
  }
  monitor.look([&](const Monitor::Held& held) { enlist(held, *handle, *call); });
  CallOf<T>* sent = call.release();  // the answer owns it now
  const int rc = send(handle->zh, sent);
  if (rc != ZOK) conclude<T>(sent, rc, T{});
  return pending;
}

/// For start_newer: asks the server that `on` is connected to, and calls one of the two when the
/// answer is there: on the C client's thread; `fail` under the monitor.
void learn_of_server(Session& session, Session::Handle* on, std::function<void(bool newer)> go,
                     std::function<void(const Monitor::Held&, int rc)> fail);

template <class T, class Newer, class Older>
Pending<T> Session::start_newer(std::unique_ptr<CallOf<T>> call, Newer newer, Older older) {
  const Use on(*this);
  const auto send = [this, newer, older](Handle* handle, std::unique_ptr<CallOf<T>> now,
                                         bool is_newer) {
    return is_newer ? start(monitor_, handle, std::move(now), newer)
                    : start(monitor_, handle, std::move(now), older);
  };
  if (const auto known = server_is_newer(on.get())) return send(on.get(), std::move(call), *known);
  auto pending = call->pending;
  // A function must be copyable.
  const auto waiting = std::make_shared<std::unique_ptr<CallOf<T>>>(std::move(call));
  learn_of_server(
      *this, on.get(),
      // On a thread of the handle, which is not closed before that has ended.
      [send, waiting, handle = on.get()](bool is_newer) {
        send(handle, std::move(*waiting), is_newer);
      },
      [waiting](const Monitor::Held& held, int rc) { (*waiting)->settle_error(held, rc); });
  return pending;
}

/// An older server is spared the request, and the session the end of its connection.
template <class T, class Newer>
Pending<T> Session::start_newer(std::unique_ptr<CallOf<T>> call, Newer newer) {
  return start_newer(std::move(call), std::move(newer),
                     [](zhandle_t* /*zh*/, const void* /*data*/) -> int { return ZUNIMPLEMENTED; });
}

inline Stat stat_of(const ::Stat* from) {
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

inline const char* bytes_of(const Data& data) { return data ? data->data() : nullptr; }
inline int size_of(const Data& data) { return data ? static_cast<int>(data->size()) : -1; }

/// The C client's view of an ACL; it borrows the strings and only reads them.
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

inline int mode_of(const CreateOp& op) {
  if (op.mode == CreateMode::Container) return ZOO_CONTAINER;
  if (op.ttl > 0)
    return op.sequential ? ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL : ZOO_PERSISTENT_WITH_TTL;
  if (op.mode == CreateMode::Ephemeral)
    return op.sequential ? ZOO_EPHEMERAL_SEQUENTIAL : ZOO_EPHEMERAL;
  return op.sequential ? ZOO_PERSISTENT_SEQUENTIAL : ZOO_PERSISTENT;
}

}  // namespace zksh
