// ForwardingClient: forwards every call to another client; a base for wrappers that override some.
// ReadOnlyClient: refuses writes.
#pragma once

#include "base/error.h"
#include "client/client.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

class ForwardingClient : public Client {
 public:
  /// `inner` must outlive it.
  explicit ForwardingClient(Client& inner) : inner_(inner) {}
  explicit ForwardingClient(std::unique_ptr<Client> inner)
      : inner_(*inner), own_(std::move(inner)) {}

  Monitor& monitor() override { return inner_.monitor(); }
  std::unique_ptr<Client> another() override { return inner_.another(); }
  void open(const std::string& server) override { inner_.open(server); }
  void ensure_session() override { inner_.ensure_session(); }
  void replace_session(const std::string& server, const std::function<void()>& before_end,
                       const std::stop_token& stop) override {
    inner_.replace_session(server, before_end, stop);
  }
  void close() override { inner_.close(); }
  void begin_close() override { inner_.begin_close(); }
  std::string server() override { return inner_.server(); }
  void await_connection(const std::string& path, const std::stop_token& stop) override {
    inner_.await_connection(path, stop);
  }
  SessionState state(const Monitor::Held& held) override { return inner_.state(held); }
  bool between_sessions(const Monitor::Held& held) override {
    return inner_.between_sessions(held);
  }
  std::string connection_problem() override { return inner_.connection_problem(); }
  std::string connected_server(const Monitor::Held& held) override {
    return inner_.connected_server(held);
  }
  using Client::connected_server;
  OpenWatches open_watches(const Mailbox& without) override { return inner_.open_watches(without); }
  std::int64_t session_id(const Monitor::Held& held) override { return inner_.session_id(held); }
  using Client::session_id;
  std::int64_t closed_session(const Monitor::Held& held) override {
    return inner_.closed_session(held);
  }
  int negotiated_timeout() override { return inner_.negotiated_timeout(); }
  std::optional<std::chrono::nanoseconds> round_trip() override { return inner_.round_trip(); }
  Lease lease() override { return inner_.lease(); }
  BootClock::time_point lease_end(const Monitor::Held& held) override {
    return inner_.lease_end(held);
  }
  bool lease_lasts(BootClock::duration reserve) override { return inner_.lease_lasts(reserve); }
  std::vector<Identity> identities() override { return inner_.identities(); }
  std::vector<Credential> credentials() override { return inner_.credentials(); }
  void fail_authentication() override { inner_.fail_authentication(); }

  Pending<Created> start_create(const CreateOp& op) override { return inner_.start_create(op); }
  Pending<Nothing> start_remove(const RemoveOp& op) override { return inner_.start_remove(op); }
  Pending<Stat> start_set(const SetOp& op) override { return inner_.start_set(op); }
  Pending<Stat> start_exists(const std::string& path, const Watch& watch) override {
    return inner_.start_exists(path, watch);
  }
  Pending<Node> start_get(const std::string& path, const Watch& watch) override {
    return inner_.start_get(path, watch);
  }
  Pending<Children> start_children(const std::string& path, const Watch& watch) override {
    return inner_.start_children(path, watch);
  }
  Reads start_reads(const std::vector<ReadOp>& ops) override { return inner_.start_reads(ops); }
  Pending<std::vector<std::string>> start_get_ephemerals(const std::string& prefix) override {
    return inner_.start_get_ephemerals(prefix);
  }
  Pending<std::int64_t> start_count_descendants(const std::string& path) override {
    return inner_.start_count_descendants(path);
  }
  Pending<std::vector<Identity>> start_who_am_i() override { return inner_.start_who_am_i(); }
  Pending<std::int64_t> start_add_watch(const std::string& path, WatchMode mode,
                                        const Mailbox& mailbox) override {
    return inner_.start_add_watch(path, mode, mailbox);
  }
  Pending<Nothing> start_end_watch(const std::string& path, const Mailbox& mailbox) override {
    return inner_.start_end_watch(path, mailbox);
  }
  std::int64_t last_zxid(const Monitor::Held& held) override { return inner_.last_zxid(held); }
  void learn_server(const std::string& path, const std::stop_token& stop) override {
    inner_.learn_server(path, stop);
  }
  Pending<NodeAcl> start_get_acl(const std::string& path) override {
    return inner_.start_get_acl(path);
  }
  Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                 std::int32_t version) override {
    return inner_.start_set_acl(path, acl, version);
  }
  Pending<Nothing> start_sync(const std::string& path) override { return inner_.start_sync(path); }
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) override {
    return inner_.start_multi(ops);
  }
  Pending<Nothing> start_add_auth(const std::string& scheme, const std::string& auth) override {
    return inner_.start_add_auth(scheme, auth);
  }
  Pending<Node> start_get_config(const Watch& watch) override {
    return inner_.start_get_config(watch);
  }
  Pending<Node> start_reconfigure(const Reconfiguration& change) override {
    return inner_.start_reconfigure(change);
  }
  Pending<Nothing> start_remove_watches(const std::string& path, WatchKind kind,
                                        bool local) override {
    return inner_.start_remove_watches(path, kind, local);
  }
  Pending<Nothing> start_probe_newer() override { return inner_.start_probe_newer(); }
  void forget_watches(const std::string& path, const Mailbox& mailbox) override {
    inner_.forget_watches(path, mailbox);
  }
  void drop_watches(const std::string& path, const Mailbox& mailbox, WatchKind kind) override {
    inner_.drop_watches(path, mailbox, kind);
  }

 protected:
  Client& inner() { return inner_; }

 private:
  Client& inner_;
  std::unique_ptr<Client> own_;  ///< null if the inner client is owned elsewhere
};

/// Writes throw Error{read_only} before anything is sent. Opening and closing the session are not
/// writes.
class ReadOnlyClient final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;

  /// The new client refuses writes too.
  std::unique_ptr<Client> another() override {
    return std::make_unique<ReadOnlyClient>(inner().another());
  }
  Pending<Created> start_create(const CreateOp& op) override {
    refuse("the creation of " + op.path);
  }
  Pending<Nothing> start_remove(const RemoveOp& op) override {
    refuse("the removal of " + op.path);
  }
  Pending<Stat> start_set(const SetOp& op) override { refuse("writing " + op.path); }
  Pending<Nothing> start_set_acl(const std::string& path, const Acl& /*acl*/,
                                 std::int32_t /*version*/) override {
    refuse("setting the ACL of " + path);
  }
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& /*ops*/) override {
    refuse("a transaction");
  }
  Pending<Node> start_reconfigure(const Reconfiguration& /*change*/) override {
    refuse("a reconfiguration");
  }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    throw Error("this zksh is read-only: " + what + " was not sent", status::read_only);
  }
};

}  // namespace zksh
