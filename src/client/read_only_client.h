// ReadOnlyClient: a Client that refuses writes.
#pragma once

#include "base/error.h"
#include "client/forwarding_client.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Writes throw Error{read_only} before anything is sent. Opening and closing the session are not
/// writes.
class ReadOnlyClient final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;
  explicit ReadOnlyClient(std::unique_ptr<Client> inner)
      : ForwardingClient(*inner), own_(std::move(inner)) {}

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

  std::unique_ptr<Client> own_;  ///< null if the inner client is owned elsewhere
};

}  // namespace zksh
