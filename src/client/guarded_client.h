// GuardedClient: a Client whose writes fail at the server once this shell has lost a lock.
#pragma once

#include "client/forwarding_client.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// A node through which this session holds a lock.
struct WriteGuard {
  std::string node;
  std::string lock;  ///< for messages
};

/// Forwards to another client. While there are guards, each write is sent as a transaction that
/// first checks that the guards' nodes exist. So the server itself refuses the writes of a holder
/// that has lost its lock, whatever the holder believes. This costs no extra request.
///
/// A refused write has code lock_lost and the lock as Outcome::culprit, also if the session expired
/// before the write could be sent; ZkError reports it with status::lock_lost. A guard that may not
/// be read, because of its ACL, results in no_auth with the guard's node. While there are guards,
/// - a created node's Stat is empty: the answer of a transaction has none (C client 3.8);
/// - what a transaction cannot do is refused before anything is sent: start_create of a container
///   or a node with a TTL, start_set_acl and start_reconfigure throw ValueError, and so does
///   start_multi with such a creation.
class GuardedClient final : public ForwardingClient {
 public:
  using Guards = std::vector<WriteGuard>;
  /// Returns the guards for a write that is sent now; called under the monitor.
  using Source = std::function<Guards(const Monitor::Held&)>;

  /// `inner` must outlive it. Requests made through `inner` directly are not guarded: those of the
  /// locks themselves.
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
