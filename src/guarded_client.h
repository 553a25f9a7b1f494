// GuardedClient: a Client whose writes the server refuses once a lock of this shell is lost.
#pragma once

#include "client.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Passes everything on to another client. While there are guards, each write goes out as one
/// transaction that begins with a check that the guards' nodes exist, so that the server itself
/// refuses what a holder writes who has lost his lock, whatever he believes. Such a write costs no
/// further request.
///
/// A refused write's code is lock_lost, with the lock as Outcome::culprit, also where the session
/// expired before it could be sent; ZkError says so, with status::lock_lost. A guard that may not
/// be read (its ACL) gives no_auth with its node. While there are guards,
/// - a created node's Stat is empty: a transaction's answer has none (C client 3.8);
/// - what no transaction can do is refused before anything is sent: start_create of a container or
///   of a node with a TTL, start_set_acl and start_reconfigure throw ValueError, and so does
///   start_multi with such a creation in it.
class GuardedClient final : public Client {
 public:
  /// A node by which this session holds a lock.
  struct Guard {
    std::string node;
    std::string lock;  ///< for people
  };
  using Guards = std::vector<Guard>;
  /// The guards of a write that is sent now; called under the monitor.
  using Source = std::function<Guards(const Monitor::Held&)>;

  /// `inner` outlives it. What goes through `inner` itself is not guarded: the locks' own requests.
  GuardedClient(Client& inner, Source guards) : inner_(inner), source_(std::move(guards)) {}

  Monitor& monitor() override { return inner_.monitor(); }
  std::unique_ptr<Client> another() override { return inner_.another(); }  ///< without guards
  void open(const std::string& server) override { inner_.open(server); }
  void close() override { inner_.close(); }
  std::string server() override { return inner_.server(); }
  void await_connection(const std::string& path, const std::stop_token& stop) override {
    inner_.await_connection(path, stop);
  }
  SessionState state(const Monitor::Held& held) override { return inner_.state(held); }
  std::string connection_problem() override { return inner_.connection_problem(); }
  std::int64_t session_id(const Monitor::Held& held) override { return inner_.session_id(held); }
  using Client::session_id;
  int negotiated_timeout() override { return inner_.negotiated_timeout(); }
  std::vector<Identity> identities() override { return inner_.identities(); }
  std::vector<Credential> credentials() override { return inner_.credentials(); }
  void fail_authentication() override { inner_.fail_authentication(); }

  Pending<Created> start_create(const CreateOp& op) override;
  Pending<Nothing> start_remove(const RemoveOp& op) override;
  Pending<Stat> start_set(const SetOp& op) override;
  Pending<Stat> start_exists(const std::string& path, const Watch& watch) override {
    return inner_.start_exists(path, watch);
  }
  Pending<Node> start_get(const std::string& path, const Watch& watch) override {
    return inner_.start_get(path, watch);
  }
  Pending<Children> start_children(const std::string& path, const Watch& watch) override {
    return inner_.start_children(path, watch);
  }
  Pending<NodeAcl> start_get_acl(const std::string& path) override {
    return inner_.start_get_acl(path);
  }
  Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                 std::int32_t version) override;
  Pending<Nothing> start_sync(const std::string& path) override { return inner_.start_sync(path); }
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) override;
  Pending<Nothing> start_add_auth(const std::string& scheme, const std::string& auth) override {
    return inner_.start_add_auth(scheme, auth);
  }
  Pending<Node> start_get_config(const Watch& watch) override {
    return inner_.start_get_config(watch);
  }
  Pending<Node> start_reconfigure(const Reconfiguration& change) override;
  Pending<Nothing> start_remove_watches(const std::string& path, WatchKind kind,
                                        bool local) override {
    return inner_.start_remove_watches(path, kind, local);
  }
  void forget_watches(const std::string& path, const Mailbox& mailbox) override {
    inner_.forget_watches(path, mailbox);
  }
  void drop_watches(const std::string& path, const Mailbox& mailbox, WatchKind kind) override {
    inner_.drop_watches(path, mailbox, kind);
  }

 private:
  Guards guards();
  static void refuse(const Guards& guards, const std::string& what);
  template <class T>
  Pending<T> send(const Guards& guards, const std::vector<Op>& ops,
                  std::function<T(std::vector<OpResult>)> take);

  Client& inner_;
  Source source_;
};

}  // namespace zksh
