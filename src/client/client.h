// Client: the ZooKeeper operations that zksh uses; the interface to the C client.
#pragma once

#include "base/monitor.h"
#include "base/time.h"
#include "client/nodes.h"
#include "client/watch.h"
#include "client/zk_error.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zksh {

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
  std::vector<Place> printed{};  ///< those made with Watch::printed(), by path
  std::size_t others = 0;        ///< the number of those that report to mailboxes
};

/// A ZooKeeper client with at most one session.
///
/// The `start_*` members send a request and return at once; they may be called from any thread.
/// The requests of one thread reach the server in order. These members do not even wait for a
/// connection: call `await_connection` first. An answer's code is returned, not thrown. The
/// blocking members (`get`, `set`, …) wait for the connection, send, wait for the answer, and throw
/// ZkError for any code other than ok, Cancelled when `stop` is requested. Those that only read
/// send the request again if the connection is lost before the answer arrives (`insist`).
class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;

  virtual Monitor& monitor() = 0;
  /// Another client of the same servers with the same settings. It opens a session of its own with
  /// its first request, reports its events to nobody, and has no credentials.
  virtual std::unique_ptr<Client> another() = 0;

  /// Closes the session, if any, and starts opening a new one; does not wait for the connection.
  /// Throws UsageError if `server` (host:port,…/chroot) is malformed. Blocks as close does.
  virtual void open(const std::string& server) = 0;
  /// Starts opening a session if there is none or it has expired; does nothing if it was closed by
  /// the user or its authentication failed. Retries every second until it succeeds (the servers'
  /// names may not resolve at first). Returns at once; from any thread. Throws UsageError, and
  /// Error if no thread can be created.
  virtual void ensure_session() = 0;
  /// Opens another session; once that is usable, calls `before_end` and ends the old one. If no
  /// session can be opened, or `before_end` throws, the old one remains, with its watches and
  /// ephemerals. Throws Error, UsageError, Cancelled. Blocks for the connect timeout at most, plus
  /// name look-ups, and as close does.
  virtual void replace_session(const std::string& server, const std::function<void()>& before_end,
                               const std::stop_token& stop) = 0;
  /// Ends the session; the server removes its ephemerals at once. Blocks until the server has done
  /// so, at most 1.6 s. Does nothing if no session is open.
  virtual void close() = 0;
  /// Begins to close, without waiting: close() then waits for the rest of that time. For many
  /// sessions that end together.
  virtual void begin_close() = 0;
  /// The connect string in use, as the user gave it.
  virtual std::string server() = 0;

  /// Blocks until a request can be sent. Throws ZkError{connection_loss} once every server has been
  /// tried in vain, but not within two seconds of a loss, or after the connect timeout;
  /// ZkError{session_expired, auth_failed, invalid_state} if the session is over; Cancelled.
  virtual void await_connection(const std::string& path, const std::stop_token& stop) = 0;
  virtual SessionState state(const Monitor::Held& held) = 0;
  /// Whether there is no session, not even one that connects: the last one's requests have ended.
  virtual bool between_sessions(const Monitor::Held& /*held*/) { return false; }
  SessionState current_state() {
    return monitor().with_lock([&](const Monitor::Held& held) { return state(held); });
  }
  /// Why each server cannot be connected to, for the user ("HOST:PORT: Connection refused"). Tries
  /// each once, so it may block for a second. Empty if there is no server.
  virtual std::string connection_problem() = 0;
  /// The server that the session is connected to, or was last: HOST:PORT as in the connect string.
  /// Empty before the first connection.
  virtual std::string connected_server(const Monitor::Held& /*held*/) { return {}; }
  std::string connected_server() {
    return monitor().with_lock([&](const Monitor::Held& held) { return connected_server(held); });
  }
  /// The session's present watches, without those of the mailbox, which may be null.
  virtual OpenWatches open_watches(const Mailbox& /*without*/) { return {}; }
  /// 0 if there is none. An expired session keeps its id until the next one is opened.
  virtual std::int64_t session_id(const Monitor::Held& held) = 0;
  std::int64_t session_id() {
    return monitor().with_lock([&](const Monitor::Held& held) { return session_id(held); });
  }
  /// The id of the last session that this side closed while it lived, as `close` and `connect` do;
  /// 0 if there was none.
  virtual std::int64_t closed_session(const Monitor::Held& /*held*/) { return 0; }
  /// The session timeout that the server granted, in milliseconds; 0 if there is no session.
  virtual int negotiated_timeout() = 0;
  /// The shortest time in which the server has answered a request on this connection; nullopt
  /// before the first answer. How long to wait for what may take longer depends on it.
  virtual std::optional<std::chrono::nanoseconds> round_trip() { return std::nullopt; }
  /// The time before which no server can expire the session. Requests extend it as described in
  /// session_lease.h.
  virtual Lease lease() = 0;
  /// The end of the lease, for conditions: it is up to date after an answer that extends it.
  virtual BootClock::time_point lease_end(const Monitor::Held& held) = 0;
  /// Whether at least `reserve` of the lease will always be left, if from now on requests are sent
  /// as LeaseRenewal says for a holder, and are answered in time (LeaseRenewal::longest_answer).
  /// False if there is no session.
  virtual bool lease_lasts(BootClock::duration reserve) = 0;
  /// The identities of the session: its address as the server sees it (scheme ip), then those from
  /// start_add_auth that the server accepted. Empty without a connection.
  virtual std::vector<Identity> identities() = 0;
  /// The credentials from start_add_auth that the server accepted, for another session of the same
  /// user.
  virtual std::vector<Credential> credentials() { return {}; }
  /// Ends the session as a refused credential does: state AuthFailed, with its event. For a
  /// credential that the servers would refuse but this client cannot send. Blocks as close does.
  virtual void fail_authentication() = 0;

  virtual Pending<Created> start_create(const CreateOp& op) = 0;
  virtual Pending<Nothing> start_remove(const RemoveOp& op) = 0;
  virtual Pending<Stat> start_set(const SetOp& op) = 0;
  virtual Pending<Stat> start_exists(const std::string& path, const Watch& watch) = 0;
  virtual Pending<Node> start_get(const std::string& path, const Watch& watch) = 0;
  virtual Pending<Children> start_children(const std::string& path, const Watch& watch) = 0;
  /// Reads many nodes with few requests, as far as the server supports that (3.6); else with a
  /// request for each. Each read succeeds or fails by itself. The first call, which may be without
  /// reads, has the session find out what the server supports.
  virtual Reads start_reads(const std::vector<ReadOp>& ops) {
    return read_singly(ops, Watch::none());
  }
  /// The same with a request for each read; `watch` is set on the lists of children.
  Reads read_singly(const std::vector<ReadOp>& ops, const Watch& watch);
  // These fail with code unimplemented, and send nothing, unless the server is known to support
  // them (learn_server). The default implementations always do.
  /// The paths of this session's ephemerals that begin with `prefix`, which is a path or the
  /// beginning of one (3.6).
  virtual Pending<std::vector<std::string>> start_get_ephemerals(const std::string& /*prefix*/) {
    return settled<std::vector<std::string>>(code::unimplemented);
  }
  /// The number of nodes below a node, those that may not be listed included (3.6).
  virtual Pending<std::int64_t> start_count_descendants(const std::string& /*path*/) {
    return settled<std::int64_t>(code::unimplemented);
  }
  /// The identities of the session, as the server knows them (3.7).
  virtual Pending<std::vector<Identity>> start_who_am_i() {
    return settled<std::vector<Identity>>(code::unimplemented);
  }
  /// Has the server report the changes of a node, which need not exist, or of a subtree, into the
  /// mailbox as they happen (3.6), until the connection is lost. Changes the mode of a watch on the
  /// node that already reports there. The answer is a zxid: all changes after it are reported.
  /// Also unimplemented if the server cannot keep this mode beside that of another watch on the
  /// node (before 3.9).
  virtual Pending<std::int64_t> start_add_watch(const std::string& /*path*/, WatchMode /*mode*/,
                                                const Mailbox& /*mailbox*/) {
    return settled<std::int64_t>(code::unimplemented);
  }
  /// Ends such a watch; code no_watcher if there is none. Watches of others on the node stay.
  virtual Pending<Nothing> start_end_watch(const std::string& /*path*/,
                                           const Mailbox& /*mailbox*/) {
    return settled<Nothing>(code::unimplemented);
  }
  /// The greatest zxid that the session's servers have shown it: the events of changes up to it
  /// have arrived. 0 if there is no session.
  virtual std::int64_t last_zxid(const Monitor::Held& /*held*/) { return 0; }
  /// Blocks until there is a connection, and it is known what its server supports, or the server
  /// does not say so for five seconds. Throws as await_connection.
  virtual void learn_server(const std::string& path, const std::stop_token& stop) {
    await_connection(path, stop);
  }
  virtual Pending<NodeAcl> start_get_acl(const std::string& path) = 0;
  virtual Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                         std::int32_t version) = 0;
  virtual Pending<Nothing> start_sync(const std::string& path) = 0;
  /// A transaction: all operations are applied, or none. The outcome's code is the first error;
  /// unimplemented if the C client cannot send it (fits_multi).
  virtual Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) = 0;
  /// An accepted credential lasts as long as the session, also when that moves to another server. A
  /// refused one ends the session (SessionState::AuthFailed).
  virtual Pending<Nothing> start_add_auth(const std::string& scheme, const std::string& auth) = 0;
  /// The ensemble's configuration, and the Stat of /zookeeper/config, whatever the chroot.
  virtual Pending<Node> start_get_config(const Watch& watch) = 0;
  /// The outcome is the new configuration, as from start_get_config.
  virtual Pending<Node> start_reconfigure(const Reconfiguration& change) = 0;
  /// Removes a node's printed watches; code no_watcher if there were none. `local`: without asking
  /// the server.
  virtual Pending<Nothing> start_remove_watches(const std::string& path, WatchKind kind,
                                                bool local) = 0;
  /// Asks whether the connected server supports the operations of ZooKeeper 3.5; code unimplemented
  /// if not. Requests that need them then fail with that code without being sent.
  virtual Pending<Nothing> start_probe_newer() = 0;
  /// Removes a node's watches that report to the mailbox, without asking the server: later events
  /// are dropped. Returns at once.
  virtual void forget_watches(const std::string& path, const Mailbox& mailbox) = 0;
  /// Removes a node's watches of one kind that report to the mailbox, at the server too unless the
  /// session has other watches there; then later events are only dropped. Returns at once.
  virtual void drop_watches(const std::string& path, const Mailbox& mailbox,
                            WatchKind kind = WatchKind::OfData) = 0;

  Created create(const CreateOp& op, const std::stop_token& stop);
  void remove(const RemoveOp& op, const std::stop_token& stop);
  Stat set(const SetOp& op, const std::stop_token& stop);
  /// nullopt if there is no such node; the watch, if any, then waits for its creation.
  std::optional<Stat> exists(const std::string& path, const Watch& watch,
                             const std::stop_token& stop);
  Node get(const std::string& path, const Watch& watch, const std::stop_token& stop);
  Children children(const std::string& path, const Watch& watch, const std::stop_token& stop);
  NodeAcl get_acl(const std::string& path, const std::stop_token& stop);
  /// When this returns, the ACL is set. The outcome is that of the read of the Stat that follows:
  /// no_auth if the server no longer shows it (since 3.9, to sessions without read permission),
  /// no_node if somebody has deleted the node since, connection_loss, and so on.
  Outcome<Stat> set_acl(const std::string& path, const Acl& acl, std::int32_t version,
                        const std::stop_token& stop);
  /// Throws ZkError{auth_failed} if the server refuses it, after the session's event.
  void add_auth(const std::string& scheme, const std::string& auth, const std::stop_token& stop);
  Node get_config(const Watch& watch, const std::stop_token& stop);
  Node reconfigure(const Reconfiguration& change, const std::stop_token& stop);
  /// Throws ZkError with the code and path of the operation that failed.
  std::vector<OpResult> multi(const std::vector<Op>& ops, const std::stop_token& stop);
  /// As multi, but returns the outcome whatever its code.
  Outcome<std::vector<OpResult>> try_multi(const std::vector<Op>& ops, const std::stop_token& stop);

  /// Blocks until the answer arrives, and returns it; throws Cancelled on a stop.
  template <class T>
  Outcome<T> await(const Pending<T>& pending, const std::stop_token& stop) {
    if (!monitor().wait(stop,
                        [&](const Monitor::Held& held) { return (*pending)(held).has_value(); }))
      throw Cancelled();
    return monitor().with_lock(
        [&](const Monitor::Held& held) { return std::move(*(*pending)(held)); });
  }

  /// Waits for the answer to a read of `path` that `start` has sent as `pending`. If the connection
  /// is lost before it arrives, waits for the next one as await_reconnection does, and calls
  /// `start` again: three times at most, since the answer itself may be what ends the connection.
  template <class T, class Start>
  Outcome<T> insist(Pending<T> pending, const std::string& path, Start start,
                    const std::stop_token& stop) {
    constexpr int most_repeats = 3;
    const auto began = Clock::now();
    for (int repeats = 0;; ++repeats) {
      auto outcome = await(pending, stop);
      if (repeats == most_repeats || !await_repeat(outcome.code, path, began, stop)) return outcome;
      pending = start();
    }
  }
  /// Sends a read of `path` with `start`, and insists on it.
  template <class Start>
  auto ask(const std::string& path, Start start, const std::stop_token& stop) {
    return insist(start(), path, start, stop);
  }
  /// As insist, and throws as the blocking members do.
  template <class T, class Start>
  T answer_of(const Pending<T>& pending, const std::string& path, Start start,
              const std::stop_token& stop) {
    auto outcome = insist(pending, path, start, stop);
    check(outcome, path, false);
    return std::move(outcome.value);
  }
  /// The same for a write of `bytes` bytes of data.
  template <class T>
  T written(const Pending<T>& pending, const std::string& path, std::size_t bytes,
            const std::stop_token& stop) {
    auto outcome = await_write(pending, path, stop);
    check(outcome, path, true, bytes);
    return std::move(outcome.value);
  }

 private:
  bool await_repeat(int code, const std::string& path, Clock::time_point last_answer,
                    const std::stop_token& stop);
  /// A read that `start` sends, as a blocking member.
  template <class Start>
  auto read_now(const std::string& path, const std::stop_token& stop, Start start) {
    await_connection(path, stop);
    return answer_of(start(), path, start, stop);
  }
  template <class T>
  static void check(const Outcome<T>& outcome, const std::string& path, bool is_write,
                    std::size_t bytes = 0) {
    const auto& [code, value, culprit] = outcome;
    if (code != code::ok) throw ZkError(code, culprit.empty() ? path : culprit, is_write, bytes);
  }
  /// As await, but Cancelled says that the write may still be done.
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

/// A person notices a tenth of a second, a few round trips of this length.
constexpr std::chrono::milliseconds nearby{20};

/// Whether the connected server is farther away. What may turn out to be of no use is sent ahead
/// only to such a server: to one nearby, a request costs as much as waiting for its answer.
inline bool is_far(Client& client) { return client.round_trip().value_or(nearby) > nearby; }

}  // namespace zksh
