// Rehearsal: a Client for --dry-run, which finds out what would be written.
#pragma once

#include "client/forwarding_client.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// "5 bytes", or "null".
std::string data_size_text(const Data& data);

/// Sends reads. Checks writes by reading (the node's existence, version and children, and whether
/// its parent is ephemeral), and answers them as the servers would, without sending them.
/// Permissions, quotas and size limits are not checked. Later writes see the nodes that earlier
/// ones would have created or removed; reads do not. Sequence numbers are left open. Transactions
/// are only recorded. Sessions that are opened through it are rehearsed, too.
class Rehearsal final : public ForwardingClient {
 public:
  /// Called under the monitor for each write, when its answer is looked at, which need not be in
  /// order; must only record it.
  using Note = std::function<void(const Monitor::Held&, const WriteDescription&)>;

  Rehearsal(Client& inner, Note note) : ForwardingClient(inner), note_(std::move(note)) {}
  Rehearsal(std::unique_ptr<Client> inner, const Rehearsal& beside)
      : ForwardingClient(*inner),
        note_(beside.note_),
        order_(beside.order_),
        own_(std::move(inner)) {}

  /// The new client's writes are noted here.
  std::unique_ptr<Client> another() override {
    return std::make_unique<Rehearsal>(inner().another(), *this);
  }

  Pending<Created> start_create(const CreateOp& op) override;
  Pending<Nothing> start_remove(const RemoveOp& op) override;
  Pending<Stat> start_set(const SetOp& op) override;
  Pending<Nothing> start_set_acl(const std::string& path, const Acl& acl,
                                 std::int32_t version) override;
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) override;
  Pending<Node> start_reconfigure(const Reconfiguration& change) override;

  /// Records something that is not a request of this client.
  void note(const WriteDescription& what) {
    monitor().with_lock([&](const Monitor::Held& held) { note(held, next_order(), what); });
  }

 private:
  struct Overlay {
    std::set<std::string> made;
    std::set<std::string> removed;
    std::map<std::string, int> removed_children;  ///< by parent
  };
  Outcome<Stat> after_rehearsed_writes(const Monitor::Held& held, const std::string& path,
                                       const Outcome<Stat>& now);
  std::size_t next_order() { return order_->fetch_add(1, std::memory_order_relaxed); }
  void note(const Monitor::Held& held, std::size_t order, WriteDescription what) {
    what.order = order;
    note_(held, what);
  }
  void apply(const Monitor::Held& held, std::size_t order, const Op& op);
  template <class T>
  Pending<T> write_node(
      const std::string& path,
      std::function<int(const Monitor::Held&, std::size_t order, const Stat*)> carry_out);

  Note note_;
  /// Counts the writes of all sessions that note here.
  std::shared_ptr<std::atomic<std::size_t>> order_ = std::make_shared<std::atomic<std::size_t>>(0);
  Guarded<Overlay> overlay_;
  std::unique_ptr<Client> own_;  ///< null if the inner client is owned elsewhere
};

}  // namespace zksh
