// FakeClient: a Client on an in-memory tree, whose calls can be made to fail, for unit tests.
#pragma once

#include "client.h"
#include "fake_tree.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// A session on a FakeTree, connected from the beginning. Every answer is there when a `start_*`
/// member returns, every event when the change is made; one-shot watches as the C client has them:
/// one event for all watches of a mailbox, or all printed ones, on a node.
class FakeClient final : public Client {
 public:
  using EventSink = std::function<void(const Monitor::Held&, const Event&)>;
  enum class When { BeforeItIsApplied, AfterItWasApplied };

  explicit FakeClient(FakeTree& tree, EventSink sink = {});
  ~FakeClient() override;

  /// The `number`th request from now on (1: the next) fails with `code`.
  void fail_request(std::size_t number, When when, int code = code::connection_loss);
  /// Runs `action` before the `number`th request from now on: what others do in between.
  void before_request(std::size_t number, std::function<void()> action);
  std::size_t requests() const { return requests_; }  ///< sent until now

  /// Requests fail until `reconnect`. Then the watches whose nodes changed meanwhile fire.
  void disconnect();
  void reconnect();
  /// The server gives the session up: its ephemerals and watches go.
  void expire();

  Monitor& monitor() override { return tree_.monitor(); }
  std::unique_ptr<Client> another() override { return std::make_unique<FakeClient>(tree_); }
  void open(const std::string& server) override;
  void close() override;
  std::string server() override { return "fake"; }
  void await_connection(const std::string& path, const std::stop_token& stop) override;
  SessionState state(const Monitor::Held& held) override;
  std::string connection_problem() override { return {}; }
  std::int64_t session_id() override;
  int negotiated_timeout() override { return 30000; }
  std::vector<Identity> identities() override { return {}; }
  void fail_authentication() override;

  Pending<Created> start_create(const CreateOp& op) override;
  Pending<Nothing> start_remove(const RemoveOp& op) override;
  Pending<Stat> start_set(const SetOp& op) override;
  Pending<Stat> start_exists(const std::string& path, const Watch& watch) override;
  Pending<Node> start_get(const std::string& path, const Watch& watch) override;
  Pending<Children> start_children(const std::string& path, const Watch& watch) override;
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
  void forget_watches(const std::string& path, const Mailbox& mailbox) override;
  void drop_watches(const std::string& path, const Mailbox& mailbox) override {
    forget_watches(path, mailbox);
  }

 private:
  /// The mailboxes that hear of a node; null stands for the printed watches.
  using Listeners = std::vector<Mailbox>;
  struct Failure {
    std::size_t request;
    When when;
    int code;
  };

  template <class T, class Apply>
  Pending<T> request(Apply&& apply);
  void begin(const Monitor::Held& held);
  void end(const Monitor::Held& held, SessionState state);
  void hear(const Monitor::Held& held, Event::Type type, const std::string& path);
  static void leave(std::map<std::string, Listeners>& watches, const std::string& path,
                    const Watch& watch);

  FakeTree& tree_;
  EventSink sink_;
  std::size_t requests_ = 0;
  std::vector<Failure> failures_;
  std::map<std::size_t, std::function<void()>> actions_;
  SessionState state_ = SessionState::Closed;
  std::int64_t session_ = 0;
  std::map<std::string, Listeners> data_watches_;
  std::map<std::string, Listeners> child_watches_;
  std::vector<std::pair<Event::Type, std::string>> missed_;  ///< while disconnected
};

}  // namespace zksh
