// Client: the ZooKeeper operations that zksh uses. The seam between zksh and the C client.
#pragma once

#include "base/monitor.h"
#include "base/name_list.h"
#include "base/time.h"
#include "client/watch.h"
#include "client/zk_error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace zksh {

/// A znode's metadata, as the server keeps it. Times in milliseconds since 1970 UTC.
struct Stat {
  std::int64_t czxid = 0;
  std::int64_t mzxid = 0;
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int32_t version = 0;
  std::int32_t cversion = 0;
  std::int32_t aversion = 0;
  std::int64_t ephemeral_owner = 0;
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;
  std::int64_t pzxid = 0;
};

/// A znode's value: bytes, or null, which is not the same as empty.
using Data = std::optional<std::string>;

struct Node {
  Data data;
  Stat stat;
};

struct Children {
  std::vector<std::string> names;  ///< in the server's order
  Stat stat;                       ///< the parent's
};

/// As Children, of any number.
struct Listing {
  NameList names;  ///< in the server's order
  Stat stat;       ///< the parent's
};

namespace perm {
inline constexpr int read = 1;
inline constexpr int write = 2;
inline constexpr int create = 4;
inline constexpr int remove = 8;
inline constexpr int admin = 16;
inline constexpr int all = 31;
}  // namespace perm

struct AclEntry {
  int perms = 0;
  std::string scheme;
  std::string id;

  bool operator==(const AclEntry&) const = default;
};
using Acl = std::vector<AclEntry>;

/// world:anyone with every permission.
inline Acl open_acl() { return {{.perms = perm::all, .scheme = "world", .id = "anyone"}}; }

struct NodeAcl {
  Acl acl;
  Stat stat;
};

/// Who a session is to the servers: what they compare with the entries of an ACL.
struct Identity {
  std::string scheme;
  std::string id;  ///< of digest: the user, a colon and a hash; never the password

  bool operator==(const Identity&) const = default;
};

/// What makes a session to be somebody: of digest, a user, a colon and the password.
struct Credential {
  std::string scheme;
  std::string secret;

  bool operator==(const Credential&) const = default;
};

enum class CreateMode { Persistent, Ephemeral, Container };

struct CreateOp {
  std::string path;
  Data data;
  Acl acl = open_acl();
  CreateMode mode = CreateMode::Persistent;
  bool sequential = false;
  std::int64_t ttl = 0;  ///< milliseconds; 0: none. Persistent nodes only.
};
/// Whether a transaction can create it: no containers, and no nodes with a TTL (C client 3.8).
inline bool fits_multi(const CreateOp& op) {
  return op.mode != CreateMode::Container && op.ttl == 0;
}
struct RemoveOp {
  std::string path;
  std::int32_t version = -1;  ///< -1: any
};
struct SetOp {
  std::string path;
  Data data;
  std::int32_t version = -1;  ///< -1: any
};
struct CheckOp {
  std::string path;
  std::int32_t version = -1;  ///< -1: the node exists
};
using Op = std::variant<CreateOp, RemoveOp, SetOp, CheckOp>;

struct Created {
  std::string path;  ///< with the sequence number, if there is one
  Stat stat;  ///< of containers and nodes with a TTL; of others the czxid alone, 0: not known
};
struct OpResult {
  int code = code::ok;
  std::string path;  ///< of a create
  Stat stat;         ///< of a set; of a create, a transaction's answer has none (C client 3.8)
};
struct Nothing {};

/// A change of the ensemble's members: some come and some go, or all are named anew.
struct Reconfiguration {
  std::optional<std::string> joining{};  ///< "server.4=HOST:PORT:PORT;PORT", separated by commas
  std::optional<std::string> leaving{};  ///< numbers of servers, separated by commas
  std::optional<std::string> members{};  ///< as joining; alone
  std::int64_t version = -1;             ///< of the configuration that is to change; -1: any
};

template <class T>
struct Outcome {
  int code = code::ok;
  T value{};
  /// What the code is about, when that is not what was asked for: the lock of code::lock_lost.
  std::string culprit{};
};

/// The place for an answer, and how it is made when it depends on another one.
template <class T>
class Answer {
 public:
  using Value = std::optional<Outcome<T>>;

  Answer() = default;
  /// `derive` gives nothing as long as what it depends on is not there. It is called under the
  /// monitor, by whoever looks for the answer.
  explicit Answer(std::function<Value(const Monitor::Held&)> derive) : derive_(std::move(derive)) {}

  /// Empty until the answer is there.
  Value& operator()(const Monitor::Held& held) {
    if (derive_ && !value_) value_ = derive_(held);
    return value_;
  }

 private:
  Value value_;
  std::function<Value(const Monitor::Held&)> derive_;
};

/// An answer that has been asked for.
template <class T>
using Pending = std::shared_ptr<Answer<T>>;

/// The one-shot watches of a session that have not fired.
struct OpenWatches {
  struct Place {
    std::string path;
    WatchKind kind = WatchKind::OfData;

    // Not <=>: clang-tidy 14 finds a null pointer in a defaulted one.
    bool operator==(const Place&) const = default;
    bool operator<(const Place& other) const {
      return std::tie(path, kind) < std::tie(other.path, other.kind);
    }
  };
  std::vector<Place> printed{};  ///< Watch::printed(), by their paths
  std::size_t others = 0;        ///< those that report to mailboxes
};

/// A ZooKeeper client with at most one session.
///
/// The `start_*` members send a request and return at once, from any thread; requests of one thread
/// reach the server in their order. They wait for nothing, not even for a connection: call
/// `await_connection` first. An answer's code is never thrown there.
/// The blocking members (`get`, `set`, …) wait for the connection, send, wait for the answer, and
/// throw ZkError for a code other than ok, Cancelled when `stop` is requested.
class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;

  virtual Monitor& monitor() = 0;
  /// Another client of the same servers, with the same settings and a session of its own, which its
  /// first request opens. Nobody hears of its events, and it has no credentials.
  virtual std::unique_ptr<Client> another() = 0;

  /// Closes what is open and has a new session opened; returns before it is connected. Throws
  /// UsageError when `server` (host:port,…/chroot) is malformed. Blocks as close.
  virtual void open(const std::string& server) = 0;
  /// Has a session opened when there is none, or an expired one; nothing happens when it was closed
  /// or refused. Returns at once; from any thread. It is tried again and again, with pauses of a
  /// second, until there is one (the names of the servers may not resolve now). Throws UsageError,
  /// and Error when the machine has no thread left for it.
  virtual void want_session() = 0;
  /// Opens another session, and when it can be used, calls `before_end` and ends the one there was.
  /// When no session can be had, or `before_end` throws, the one there was stays, with its watches
  /// and ephemerals. Throws Error, UsageError, Cancelled. Blocks for the connect timeout at most,
  /// or while names resolve, and as close.
  virtual void replace_session(const std::string& server, const std::function<void()>& before_end,
                               const std::stop_token& stop) = 0;
  /// Ends the session: the server removes its ephemerals at once. Blocks until the request is
  /// sent, at most 3 s. Nothing happens when no session is open.
  virtual void close() = 0;
  /// The connect string in use, as it was given.
  virtual std::string server() = 0;

  /// Blocks until a request can be sent. Throws ZkError{connection_loss} when every server has been
  /// tried in vain, two seconds after a loss or later, or after the connect timeout;
  /// ZkError{session_expired, auth_failed, invalid_state} when the session is dead; Cancelled.
  virtual void await_connection(const std::string& path, const std::stop_token& stop) = 0;
  virtual SessionState state(const Monitor::Held& held) = 0;
  /// Whether no session is there, nor begun: what was asked for in the one before ended with it.
  virtual bool between_sessions(const Monitor::Held& /*held*/) { return false; }
  SessionState current_state() {
    return monitor().with_lock([&](const Monitor::Held& held) { return state(held); });
  }
  /// What keeps each server from being connected to, for the user ("HOST:PORT: Connection
  /// refused"); asks each once, so it may block for a second. Empty when there is no server.
  virtual std::string connection_problem() = 0;
  /// The server that the session is connected to, or was when the connection was lost: HOST:PORT,
  /// as the connect string names it. Empty before it was connected at all.
  virtual std::string connected_server(const Monitor::Held& /*held*/) { return {}; }
  std::string connected_server() {
    return monitor().with_lock([&](const Monitor::Held& held) { return connected_server(held); });
  }
  /// The watches that the session has now; those of the mailbox, which may be null, are not
  /// counted.
  virtual OpenWatches open_watches(const Mailbox& /*without*/) { return {}; }
  /// 0 while there is none. An expired session keeps its id until the next one is opened.
  virtual std::int64_t session_id(const Monitor::Held& held) = 0;
  std::int64_t session_id() {
    return monitor().with_lock([&](const Monitor::Held& held) { return session_id(held); });
  }
  /// The session timeout that the server granted, in milliseconds; 0 while there is no session.
  virtual int negotiated_timeout() = 0;
  /// No server can expire the session before this, by what is proven: requests extend it as
  /// SessionLease says. The clock's beginning while there is no session.
  virtual BootClock::time_point lease_end() = 0;
  /// The address from which the server sees this session (scheme ip), then what start_add_auth
  /// added and the server accepted. Empty while there is no connection.
  virtual std::vector<Identity> identities() = 0;
  /// What start_add_auth added and the server accepted, for another session of the same user.
  virtual std::vector<Credential> credentials() { return {}; }
  /// Ends the session as a refused credential does: state AuthFailed, and its event. For a
  /// credential that the servers refuse and this client cannot send. Blocks as close.
  virtual void fail_authentication() = 0;

  virtual Pending<Created> start_create(const CreateOp& op) = 0;
  virtual Pending<Nothing> start_remove(const RemoveOp& op) = 0;
  virtual Pending<Stat> start_set(const SetOp& op) = 0;
  virtual Pending<Stat> start_exists(const std::string& path, const Watch& watch) = 0;
  virtual Pending<Node> start_get(const std::string& path, const Watch& watch) = 0;
  virtual Pending<Children> start_children(const std::string& path, const Watch& watch) = 0;
  /// As start_children, for lists of any length: the answer takes little more memory than its
  /// bytes.
  virtual Pending<Listing> start_names(const std::string& path, const Watch& watch);
  virtual Pending<NodeAcl> start_get_acl(const std::string& path) = 0;
  virtual Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                         std::int32_t version) = 0;
  virtual Pending<Nothing> start_sync(const std::string& path) = 0;
  /// One transaction: all operations are applied, or none. The outcome's code is the first error;
  /// unimplemented when the C client cannot send it (fits_multi).
  virtual Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) = 0;
  /// An accepted one stays with the session, also when it moves to another server; a refused one
  /// ends it (SessionState::AuthFailed).
  virtual Pending<Nothing> start_add_auth(const std::string& scheme, const std::string& auth) = 0;
  /// The ensemble's configuration, with the Stat of /zookeeper/config, whatever the chroot.
  virtual Pending<Node> start_get_config(const Watch& watch) = 0;
  /// The outcome is the new configuration, as of start_get_config.
  virtual Pending<Node> start_reconfigure(const Reconfiguration& change) = 0;
  /// Takes away the printed watches of a node; outcome no_watcher when there were none. `local`:
  /// no server is asked.
  virtual Pending<Nothing> start_remove_watches(const std::string& path, WatchKind kind,
                                                bool local) = 0;
  /// Whether the server of this connection knows the operations that came with ZooKeeper 3.5; code
  /// unimplemented when it does not. Requests that need them are answered so, without being sent.
  virtual Pending<Nothing> start_probe_newer() = 0;
  /// Takes away the watches of a node that report to the mailbox. No server is asked: what it still
  /// reports is dropped. Returns at once.
  virtual void forget_watches(const std::string& path, const Mailbox& mailbox) = 0;
  /// Takes away the watches of one kind that a mailbox has on a node, at the server too, unless
  /// others of this session watch the same: then only what it would report is dropped. Returns at
  /// once.
  virtual void drop_watches(const std::string& path, const Mailbox& mailbox,
                            WatchKind kind = WatchKind::OfData) = 0;

  Created create(const CreateOp& op, const std::stop_token& stop);
  void remove(const RemoveOp& op, const std::stop_token& stop);
  Stat set(const SetOp& op, const std::stop_token& stop);
  /// No value: there is no such node (the watch, if any, waits for its creation).
  std::optional<Stat> exists(const std::string& path, const Watch& watch,
                             const std::stop_token& stop);
  Node get(const std::string& path, const Watch& watch, const std::stop_token& stop);
  Children children(const std::string& path, const Watch& watch, const std::stop_token& stop);
  NodeAcl get_acl(const std::string& path, const std::stop_token& stop);
  /// Nothing: it is set, and the server shows the Stat no more (since 3.9, to who may not read).
  std::optional<Stat> set_acl(const std::string& path, const Acl& acl, std::int32_t version,
                              const std::stop_token& stop);
  void sync(const std::string& path, const std::stop_token& stop);
  /// Throws ZkError{auth_failed} when the server refuses it, after the event of that.
  void add_auth(const std::string& scheme, const std::string& auth, const std::stop_token& stop);
  Node get_config(const Watch& watch, const std::stop_token& stop);
  Node reconfigure(const Reconfiguration& change, const std::stop_token& stop);
  /// Throws ZkError with the code and path of the operation that failed.
  std::vector<OpResult> multi(const std::vector<Op>& ops, const std::stop_token& stop);
  /// As multi, but what the servers answer is returned, whatever it is.
  Outcome<std::vector<OpResult>> try_multi(const std::vector<Op>& ops, const std::stop_token& stop);

  /// Blocks until the answer is there, and returns it; throws Cancelled on a stop.
  template <class T>
  Outcome<T> await(const Pending<T>& pending, const std::stop_token& stop) {
    if (!monitor().wait(stop,
                        [&](const Monitor::Held& held) { return (*pending)(held).has_value(); }))
      throw Cancelled();
    return monitor().with_lock(
        [&](const Monitor::Held& held) { return std::move(*(*pending)(held)); });
  }

  /// The second half of the blocking members that read `path`: waits, and throws, as they do.
  template <class T>
  T answer_of(const Pending<T>& pending, const std::string& path, const std::stop_token& stop) {
    auto outcome = await(pending, stop);
    check(outcome.code, outcome.culprit, path, false);
    return std::move(outcome.value);
  }
  /// The same of those that write `bytes` of data.
  template <class T>
  T written(const Pending<T>& pending, const std::string& path, std::size_t bytes,
            const std::stop_token& stop) {
    auto outcome = await_write(pending, path, stop);
    check(outcome.code, outcome.culprit, path, true, bytes);
    return std::move(outcome.value);
  }

 private:
  static void check(int code, const std::string& culprit, const std::string& path, bool is_write,
                    std::size_t bytes = 0);
  /// As await; a stop says that the write may still be done.
  template <class T>
  Outcome<T> await_write(const Pending<T>& pending, const std::string& path,
                         const std::stop_token& stop) {
    try {
      return await(pending, stop);
    } catch (const Cancelled&) {
      throw Cancelled("interrupted; the request for " + path + " was sent and may still be done");
    }
  }
};

}  // namespace zksh
