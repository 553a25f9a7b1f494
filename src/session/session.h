// Session: implements Client with the Apache C client's asynchronous calls.
#pragma once

#include "client/client.h"
#include "client/connect_string.h"
#include "session/session_settings.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace zksh {

/// The version of the C client that the program was built with: "3.8.0".
std::string client_library_version();

/// Prepares what sessions need: reads certificates, looks for mechanisms. Call it once per process,
/// before any session. Throws UsageError for what cannot be used. Blocks.
void prepare_security(const Security& security);

class SessionLease;

/// A ZooKeeper session. If it expires, the next request opens a new one. Members may be called from
/// any thread, except that those that wait must not be called on the wires' thread (wire.h).
class Session final : public Client {
 public:
  /// Called for every session event and every fired printed watch, in the order in which these, the
  /// events of private watches and the answers to requests arrived. Called under the monitor, on
  /// the wires' thread or the one that closes the session; must only record the event.
  using EventSink = std::function<void(const Monitor::Held&, const Event&)>;

  /// The first request that needs a session opens one with `server`.
  Session(Monitor& monitor, SessionSettings settings, std::string_view server, EventSink sink);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Closes the session.
  ~Session() override;

  Monitor& monitor() override { return monitor_; }
  std::unique_ptr<Client> another() override;
  void open(const std::string& server) override;
  void ensure_session() override;
  /// As ensure_session, but only if nothing must be looked up, so that the session can be closed at
  /// once if nobody needs it.
  void open_early();
  void replace_session(const std::string& server, const std::function<void()>& before_end,
                       const std::stop_token& stop) override;
  void close() override;
  void begin_close() override;
  /// As close, at the end of the process: does not wait for a server far away unless the session
  /// may have ephemerals, which others may wait for, or unanswered requests.
  void leave();
  std::string server() override;
  void await_connection(const std::string& path, const std::stop_token& stop) override;
  /// Since when somebody has been waiting for the first connection of a session; nullopt if nobody
  /// is.
  std::optional<Clock::time_point> awaited_since();
  /// Since when, with hardly a pause, this or another session with the same known servers has been
  /// waiting for a connection or an answer; with `to_one`, since when none of these has come.
  /// nullopt: nothing is being waited for.
  std::optional<Clock::time_point> waiting_since(bool to_one);
  /// Sets what is called when somebody starts to wait for a connection, and when that has lasted
  /// for a tenth of a second; on the waiting thread, not under the monitor. Set it before anybody
  /// can wait.
  void on_wait(std::function<void()> begins, std::function<void()> lasts) {
    wait_begins_ = std::move(begins);
    wait_lasts_ = std::move(lasts);
  }
  /// Has `close` wait, as zkCli does, for at most three seconds for the events of the session's
  /// ephemerals, which the server then removes, and call `report`, which waits until they are
  /// reported. Set it before anybody can close the session.
  void hear_last_events(std::function<void()> report) { last_events_ = std::move(report); }
  SessionState state(const Monitor::Held& held) override;
  bool between_sessions(const Monitor::Held& held) override;
  std::string connection_problem() override;
  std::string connected_server(const Monitor::Held& held) override;
  using Client::connected_server;
  OpenWatches open_watches(const Mailbox& without) override;
  /// Whether ephemerals were made in any of its sessions.
  bool has_made_ephemerals() const { return made_ephemerals_; }
  std::int64_t session_id(const Monitor::Held& held) override;
  std::int64_t closed_session(const Monitor::Held& held) override;
  using Client::session_id;
  int negotiated_timeout() override;
  std::optional<std::chrono::nanoseconds> round_trip() override;
  Lease lease() override;
  BootClock::time_point lease_end(const Monitor::Held& held) override;
  bool lease_lasts(BootClock::duration reserve) override;
  std::vector<Identity> identities() override;
  std::vector<Credential> credentials() override;
  void fail_authentication() override;
  /// If the session has expired because its servers had less than it had seen: the last zxid that
  /// it had seen; else 0.
  std::int64_t seen_more(const Monitor::Held& held) const;
  /// If authentication with the settings' identity failed: the cause and a remedy, to follow
  /// "authentication failed: "; else empty.
  std::string why_refused(const Monitor::Held& held) const;

  Pending<Created> start_create(const CreateOp& op) override;
  Pending<Nothing> start_remove(const RemoveOp& op) override;
  Pending<Stat> start_set(const SetOp& op) override;
  Pending<Stat> start_exists(const std::string& path, const Watch& watch) override;
  Pending<Node> start_get(const std::string& path, const Watch& watch) override;
  Pending<Children> start_children(const std::string& path, const Watch& watch) override;
  Reads start_reads(const std::vector<ReadOp>& ops) override;
  Pending<std::vector<std::string>> start_get_ephemerals(const std::string& prefix) override;
  Pending<std::int64_t> start_count_descendants(const std::string& path) override;
  Pending<std::vector<Identity>> start_who_am_i() override;
  Pending<std::int64_t> start_add_watch(const std::string& path, WatchMode mode,
                                        const Mailbox& mailbox) override;
  Pending<Nothing> start_end_watch(const std::string& path, const Mailbox& mailbox) override;
  std::int64_t last_zxid(const Monitor::Held& held) override;
  void learn_server(const std::string& path, const std::stop_token& stop) override;
  Pending<NodeAcl> start_get_acl(const std::string& path) override;
  Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                 std::int32_t version) override;
  Pending<Nothing> start_sync(const std::string& path) override;
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) override;
  Pending<Nothing> start_add_auth(const std::string& scheme, const std::string& auth) override;
  Pending<Node> start_get_config(const Watch& watch) override;
  Pending<Node> start_reconfigure(const Reconfiguration& change) override;
  Pending<Nothing> start_remove_watches(const std::string& path, WatchKind kind,
                                        bool local) override;
  Pending<Nothing> start_probe_newer() override;
  void forget_watches(const std::string& path, const Mailbox& mailbox) override;
  void drop_watches(const std::string& path, const Mailbox& mailbox, WatchKind kind) override;

  struct Handle;  ///< a handle of the C client and what depends on it

  /// Null if there is none. Others may close it at any time; what is sent then fails with
  /// code::closing.
  std::shared_ptr<Handle> open_handle();
  /// Whether the server that `on`, which may be null, is connected to is known to have this version
  /// or a later one. If it is not known, asks. With the wire's Hold, so that what is sent then goes
  /// to this server.
  bool has_version(Handle* on, int major, int minor);
  /// Use it under the monitor.
  KnownServers& known_servers() { return *settings_.known_servers; }

 private:
  class Wait;
  struct State;
  enum class Phase {
    Idle,     ///< no handle; the first request has one opened
    Opening,  ///< no handle; the opener tries until there is one. An expired handle may remain
    Open,     ///< there is a handle, in any state
    Closed,   ///< by the user
    Refused,  ///< by the servers: authentication failed
  };
  template <class T>
  T of_handle(const Monitor::Held& held, T Handle::*member) const;
  Pending<Nothing> add_auth_to(Handle* on, const Credential& credential);
  bool sent_others(const Monitor::Held& held) const;
  bool wants_version_of(const Monitor::Held& held, const std::string& address);
  std::string why_settings_refused(const std::string& sasl_problem) const;
  std::string problem_with(const Handle* on, const ConnectString& servers,
                           const std::string& hint = {});
  [[noreturn]] void refuse(const Handle& fresh);
  std::shared_ptr<SessionLease> present_lease();
  Clock::time_point next_look_up();
  void look_up_again();
  void ask_for_tick(const std::stop_token& stop);
  void ask_for_modes(const std::stop_token& stop);
  void ask_for_version(const std::stop_token& stop);
  void ask_for_zxid(const std::stop_token& stop);
  std::shared_ptr<Handle> make_handle(const std::string& server);
  std::shared_ptr<Handle> enter(const Monitor::Held& held, Phase phase,
                                std::shared_ptr<Handle> fresh = {});
  void await_answers(const Handle& old);
  Pending<Nothing> start_end(const std::shared_ptr<Handle>& on);
  void end(const std::shared_ptr<Handle>& old);
  bool open_at_once(std::size_t turn);
  void start_opener();
  bool call_opener();
  void serve(const std::stop_token& stop);
  void open_one(const std::stop_token& stop);
  void await_handle(Wait& wait, const std::string& path, Clock::time_point give_up,
                    const std::stop_token& stop);

  Monitor& monitor_;
  SessionSettings settings_;
  EventSink sink_;
  std::function<void()> wait_begins_;
  std::function<void()> wait_lasts_;
  std::function<void()> last_events_;
  std::unique_ptr<State> state_;
  std::shared_ptr<Handle>
      closing_;  ///< what begin_close has left to close; used by one thread at a time
  std::atomic<bool> made_ephemerals_ = false;
  std::mutex starting_;  ///< the start of the opener
  std::jthread
      opener_;  ///< for what blocks; started when it is first needed; last: it uses the others
};

}  // namespace zksh
