// GuardedClient: a Client whose writes fail at the server once this shell has lost a lock.
#include "client/guarded_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <variant>

namespace zksh {

GuardedClient::Guards GuardedClient::guards() { return monitor().with_lock(source_); }

void GuardedClient::refuse(const Guards& guards, const std::string& what) {
  throw ValueError(
      fmt::format("{} cannot be part of a transaction, so the lock {} (--guard) cannot protect it; "
                  "nothing was sent. Release the lock first",
                  what, guards.front().lock));
}

/// Sends the operations after the checks of the guards; `take` converts the operations' results.
template <class T>
Pending<T> GuardedClient::send(const Guards& guards, const std::vector<Op>& ops,
                               std::function<T(std::vector<OpResult>)> take) {
  std::vector<Op> all;
  all.reserve(guards.size() + ops.size());
  for (const auto& guard : guards) all.emplace_back(CheckOp{.path = guard.node});
  for (const auto& op : ops) {
    const auto* created = std::get_if<CreateOp>(&op);
    if (created && !fits_multi(*created))
      refuse(guards, created->ttl > 0 ? "creating a node with a TTL" : "creating a container");
    all.push_back(op);
  }
  const auto sent = inner().start_multi(all);
  return std::make_shared<Answer<T>>([sent, guards, take = std::move(take)](
                                         const Monitor::Held& held) -> typename Answer<T>::Value {
    auto& outcome = (*sent)(held);
    if (!outcome) return std::nullopt;
    // The session, whose ephemerals the guards were, has expired. A write that had been sent would
    // have got connection_loss instead.
    if (outcome->code == code::session_expired)
      return Outcome<T>{.code = code::lock_lost, .culprit = guards.front().lock};
    auto& results = outcome->value;
    for (std::size_t i = 0; i < std::min(guards.size(), results.size()); ++i) {
      const int code = results[i].code;
      if (code == code::no_node)
        return Outcome<T>{.code = code::lock_lost, .culprit = guards[i].lock};
      if (code == code::no_auth) return Outcome<T>{.code = code, .culprit = guards[i].node};
    }
    Outcome<T> answer{.code = outcome->code};
    if (results.size() > guards.size()) {
      results.erase(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(guards.size()));
      answer.value = take(std::move(results));
    }
    return answer;
  });
}

Pending<Created> GuardedClient::start_create(const CreateOp& op) {
  const auto all = guards();
  if (all.empty()) return inner().start_create(op);
  return send<Created>(all, {op}, [](std::vector<OpResult> results) {
    return Created{.path = std::move(results.front().path), .stat = results.front().stat};
  });
}

Pending<Nothing> GuardedClient::start_remove(const RemoveOp& op) {
  const auto all = guards();
  if (all.empty()) return inner().start_remove(op);
  return send<Nothing>(all, {op},
                       [](const std::vector<OpResult>& /*results*/) { return Nothing{}; });
}

Pending<Stat> GuardedClient::start_set(const SetOp& op) {
  const auto all = guards();
  if (all.empty()) return inner().start_set(op);
  return send<Stat>(all, {op},
                    [](const std::vector<OpResult>& results) { return results.front().stat; });
}

Pending<std::vector<OpResult>> GuardedClient::start_multi(const std::vector<Op>& ops) {
  const auto all = guards();
  if (all.empty() || ops.empty()) return inner().start_multi(ops);
  return send<std::vector<OpResult>>(all, ops,
                                     [](std::vector<OpResult> results) { return results; });
}

Pending<Nothing> GuardedClient::start_set_acl(const std::string& path, const Acl& acl,
                                              std::int32_t version) {
  if (const auto all = guards(); !all.empty()) refuse(all, "setAcl");
  return inner().start_set_acl(path, acl, version);
}

Pending<Node> GuardedClient::start_reconfigure(const Reconfiguration& change) {
  if (const auto all = guards(); !all.empty()) refuse(all, "reconfig");
  return inner().start_reconfigure(change);
}

}  // namespace zksh
