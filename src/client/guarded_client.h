// GuardedClient: a Client whose writes the server refuses once a lock of this shell is lost.
#pragma once

#include "client/forwarding_client.h"

#include <functional>
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
class GuardedClient final : public ForwardingClient {
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
  GuardedClient(Client& inner, Source guards)
      : ForwardingClient(inner), source_(std::move(guards)) {}

  Pending<Created> start_create(const CreateOp& op) override;
  Pending<Nothing> start_remove(const RemoveOp& op) override;
  Pending<Stat> start_set(const SetOp& op) override;
  Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                 std::int32_t version) override;
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) override;
  Pending<Node> start_reconfigure(const Reconfiguration& change) override;

 private:
  Guards guards();
  static void refuse(const Guards& guards, const std::string& what);
  template <class T>
  Pending<T> send(const Guards& guards, const std::vector<Op>& ops,
                  std::function<T(std::vector<OpResult>)> take);

  Source source_;
};

}  // namespace zksh
