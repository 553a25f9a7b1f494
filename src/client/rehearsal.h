// Rehearsal: a Client for --dry-run, which finds out what would be written.
#pragma once

#include "client/forwarding_client.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// "5 bytes", or "null".
std::string data_size_text(const Data& data);

/// Sends reads. Checks writes by reading (the node's existence, version and children, and whether
/// its parent is ephemeral), and answers them as the servers would, without sending them.
/// Permissions, quotas and size limits are not checked. Later writes, and later operations of a
/// transaction, see what earlier ones would have made of the nodes; reads do not. Sequence numbers
/// are left open. Sessions that are opened through it are rehearsed, too, each for itself.
class Rehearsal final : public ForwardingClient {
 public:
  /// Called under the monitor for each write that would succeed, when its answer, or that of a
  /// later write, is looked at; must only record it.
  using Note = std::function<void(const Monitor::Held&, const WriteDescription&)>;

  Rehearsal(Client& inner, Note note) : ForwardingClient(inner), note_(std::move(note)) {}
  Rehearsal(std::unique_ptr<Client> inner, const Rehearsal& beside)
      : ForwardingClient(std::move(inner)), note_(beside.note_), order_(beside.order_) {}

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
  /// What the rehearsed writes would have made of a node.
  struct Change {
    enum class Life { AsRead, Made, Removed };
    Life life = Life::AsRead;
    bool ephemeral = false;  ///< if it was made
    // More than the servers know of, or, if it was made, all:
    std::int32_t sets = 0;
    std::int32_t acl_sets = 0;
    std::int32_t children = 0;
  };
  /// The Stats that the servers know, by path.
  using Stats = std::map<std::string, Pending<Stat>>;
  struct State {
    std::map<std::string, Change> changes;
    /// The writes without an answer, as they were begun; each returns whether it now has one.
    std::deque<std::function<bool(const Monitor::Held&)>> unanswered;
  };

  std::size_t next_order() { return order_->fetch_add(1, std::memory_order_relaxed); }
  void note(const Monitor::Held& held, std::size_t order, WriteDescription what) {
    what.order = order;
    note_(held, what);
  }
  void note(const Monitor::Held& held, std::size_t order, const Op& op);
  template <class T>
  Pending<T> answer_in_turn(
      std::function<typename Answer<T>::Value(const Monitor::Held&, std::size_t order)> judge);
  template <class T>
  Pending<T> rehearse(const Op& op, std::function<T(const OpResult&)> take);
  Stats read(const std::vector<Op>& ops);
  Outcome<Stat> node_of(const Monitor::Held& held, const std::string& path, const Stats& stats);
  int carry_out(const Monitor::Held& held, const Op& op, const Stats& stats);
  Outcome<std::vector<OpResult>> carry_out_all(const Monitor::Held& held,
                                               const std::vector<Op>& ops, const Stats& stats);

  Note note_;
  /// Counts the writes of all sessions that note here.
  std::shared_ptr<std::atomic<std::size_t>> order_ = std::make_shared<std::atomic<std::size_t>>(0);
  Guarded<State> state_;
};

}  // namespace zksh
