// Rehearsal: what a command would write, found out without writing.
#pragma once

#include "client/forwarding_client.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// One write that was not sent.
struct Rehearsed {
  std::string verb;  ///< create, set, delete, set the ACL of, reconfigure
  std::string path;
  std::string detail{};  ///< for people: "5 bytes, ephemeral"
};

/// A Client for --dry-run: reads are asked of the servers, writes are checked by reads (does the
/// node exist, its version, its children, is its parent an ephemeral) and then answered as the
/// servers would, but not sent. Permissions, quotas and limits of size are not checked. Later
/// writes see the nodes that earlier ones would have made or removed; reads do not. The number of a
/// sequential node is left open. Transactions are taken note of without a check.
class Rehearsal final : public ForwardingClient {
 public:
  /// Called under the monitor for each write, when its answer is looked at: it must only take note.
  using Note = std::function<void(const Monitor::Held&, const Rehearsed&)>;

  Rehearsal(Client& inner, Note note) : ForwardingClient(inner), note_(std::move(note)) {}

  Pending<Created> start_create(const CreateOp& op) override;
  Pending<Nothing> start_remove(const RemoveOp& op) override;
  Pending<Stat> start_set(const SetOp& op) override;
  Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                 std::int32_t version) override;
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) override;
  Pending<Node> start_reconfigure(const Reconfiguration& change) override;

  /// Takes note of something that is no request of this client.
  void note(const Rehearsed& what) {
    monitor().with_lock([&](const Monitor::Held& held) { note_(held, what); });
  }

 private:
  struct Overlay {
    std::set<std::string> made;
    std::set<std::string> removed;
    std::map<std::string, int> removed_children;  ///< by their parent
  };
  Outcome<Stat> as_it_would_be(const Monitor::Held& held, const std::string& path,
                               const Outcome<Stat>& now);
  void apply(const Monitor::Held& held, const Op& op);

  Note note_;
  Guarded<Overlay> overlay_;
};

}  // namespace zksh
