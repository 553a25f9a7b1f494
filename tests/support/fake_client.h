// FakeClient: a Client on an in-memory tree, whose requests can be made to fail, for unit tests.
#pragma once

#include "client/client.h"
#include "fake_tree.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// A session on a FakeTree, connected from the start. Unless held back, answers are there when a
/// `start_*` member returns, and events when the change is made. One-shot watches behave as in the
/// C client: one event for all watches of a mailbox, or all printed ones, on a node. As in Session,
/// await_connection replaces an expired session.
class FakeClient final : public Client {
 public:
  using EventSink = std::function<void(const Monitor::Held&, const Event&)>;
  enum class When { BeforeItIsApplied, AfterItWasApplied };
  enum class Loss {
    OfAnswer,           ///< only of this request; the connection stays
    OfConnection,       ///< until `reconnect`
    OfSession,          ///< with its ephemerals
    OfSessionUnburied,  ///< as seen by a lagging server: the ephemerals remain until `bury`
  };

  explicit FakeClient(FakeTree& tree, EventSink sink = {});
  ~FakeClient() override;

  /// Makes the `number`th request from now on (1: the next) fail with `code`.
  void fail_request(std::size_t number, When when, int code = code::connection_loss);
  /// Loses something at the `number`th request from now on, which fails because of that.
  void lose(std::size_t number, When when, Loss loss);
  /// Runs `action` before the `number`th request from now on: what others do in between.
  void before_request(std::size_t number, std::function<void()> action);
  /// The session's lease is over until this many more transactions are answered.
  void end_lease(int transactions) { proofs_wanted_ = transactions; }
  /// From now on the session's lease ends then, whatever is answered.
  void set_lease_end(BootClock::time_point end);
  std::size_t requests();  ///< number sent so far
  std::size_t watches();   ///< number that have not fired

  /// From now on, behaves as a server before 3.5: creations return no Stat, and there are no
  /// containers or TTLs.
  void serve_as_old();

  /// From now on, seems to be far away.
  void serve_from_afar() { far_ = true; }

  /// From now on, behaves as a server since 3.6: reads may come in batches.
  void serve_batches() { batches_ = true; }

  /// From now on, behaves as a server since 3.6, or no longer: it has persistent watches. What
  /// happens while there is no connection is not reported to them.
  void serve_persistent_watches(bool yes = true) { persistent_watches_ = yes; }

  /// From now on, holds answers and events back, in order, until `deliver`.
  void hold_back();
  /// Delivers the next answer or event held back; false if there is none.
  bool deliver();
  /// Delivers everything, and stops holding back.
  void deliver_all();

  /// Makes requests fail until `reconnect`, when watches fire whose nodes changed meanwhile.
  void disconnect();
  void reconnect();
  /// Expires the session: its ephemerals and watches are gone.
  void expire();
  /// From now on until find_names, no session can be opened, as if names did not resolve.
  void lose_names();
  void find_names();
  /// Removes the ephemerals of sessions that were lost unburied.
  void bury();

  Monitor& monitor() override { return tree_.monitor(); }
  std::unique_ptr<Client> another() override { return std::make_unique<FakeClient>(tree_); }
  void open(const std::string& server) override;
  void ensure_session() override;
  void replace_session(const std::string& server, const std::function<void()>& before_end,
                       const std::stop_token& stop) override;
  void close() override;
  void begin_close() override {}
  std::string server() override { return "fake"; }
  void await_connection(const std::string& path, const std::stop_token& stop) override;
  SessionState state(const Monitor::Held& held) override;
  bool between_sessions(const Monitor::Held& /*held*/) override { return wanted_; }
  std::string connection_problem() override { return {}; }
  std::int64_t session_id(const Monitor::Held& held) override;
  using Client::session_id;
  int negotiated_timeout() override { return 30000; }
  std::optional<std::chrono::nanoseconds> round_trip() override {
    return far_ ? std::chrono::seconds(1) : std::chrono::nanoseconds(1);
  }
  Lease lease() override;
  BootClock::time_point lease_end(const Monitor::Held& /*held*/) override {
    return lease_end_.value_or(BootClock::time_point());
  }
  bool lease_lasts(BootClock::duration reserve) override;
  std::vector<Identity> identities() override { return {}; }
  void fail_authentication() override;

  Pending<Created> start_create(const CreateOp& op) override;
  Pending<Nothing> start_remove(const RemoveOp& op) override;
  Pending<Stat> start_set(const SetOp& op) override;
  Pending<Stat> start_exists(const std::string& path, const Watch& watch) override;
  Pending<Node> start_get(const std::string& path, const Watch& watch) override;
  Pending<Children> start_children(const std::string& path, const Watch& watch) override;
  Reads start_reads(const std::vector<ReadOp>& ops) override;
  Pending<std::int64_t> start_add_watch(const std::string& path, WatchMode mode,
                                        const Mailbox& mailbox) override;
  Pending<Nothing> start_end_watch(const std::string& path, const Mailbox& mailbox) override;
  std::int64_t last_zxid(const Monitor::Held& held) override;
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

 private:
  /// The mailboxes that watch a node; null stands for the printed watches.
  using Listeners = std::vector<Mailbox>;
  using Watches = std::map<std::string, Listeners>;
  struct Failure {
    std::size_t request;
    When when;
    Loss loss;
    int code;
  };
  /// An answer or event in flight. An answer can fail instead.
  struct Delivery {
    std::function<void(const Monitor::Held&)> arrive;
    std::function<void(const Monitor::Held&, int code)> fail{};
  };

  /// `changes`: not a read; a read has no effect, not even a watch, if its answer is lost.
  template <class T, class Apply>
  Pending<T> request(bool changes, Apply&& apply);
  bool alive() const;
  void renew(const Monitor::Held& held);
  void begin(const Monitor::Held& held);
  void end(const Monitor::Held& held, SessionState state, bool buried = true);
  void lose_connection(const Monitor::Held& held);
  void suffer(const Monitor::Held& held, Loss loss);
  void send(const Monitor::Held& held, Delivery delivery);
  void fail_deliveries(const Monitor::Held& held, int code);
  void hear(const Monitor::Held& held, Event::Type type, const std::string& path);
  static void leave(Watches& watches, const std::string& path, const Watch& watch);
  Watches& watches_of(WatchKind kind);

  FakeTree& tree_;
  EventSink sink_;
  std::size_t requests_ = 0;
  bool batches_ = false;
  bool persistent_watches_ = false;
  int proofs_wanted_ = 0;
  std::optional<BootClock::time_point> lease_end_;
  std::vector<Failure> failures_;
  std::map<std::size_t, std::function<void()>> actions_;
  SessionState state_ = SessionState::Closed;
  std::int64_t session_ = 0;
  bool has_names_ = true;
  bool wanted_ = false;  ///< a session was requested, but cannot be opened
  std::vector<std::int64_t> unburied_;
  Watches data_watches_;
  Watches child_watches_;
  std::map<std::pair<std::string, Mailbox>, WatchMode> lasting_;  ///< persistent watches
  std::vector<std::pair<Event::Type, std::string>> missed_;       ///< while disconnected
  bool old_ = false;
  bool far_ = false;
  bool holds_back_ = false;
  std::deque<Delivery> held_back_;
};

}  // namespace zksh
