// RootKeeper: a Client that refuses to remove /, which under a chroot would be the chroot's node.
#pragma once

#include "client/forwarding_client.h"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

namespace zksh {

/// Answers the removal of / as servers do without a chroot, and as Java's client always does
/// (ZooKeeper.delete). The C client would ask the server to remove the chroot's node.
class RootKeeper final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;

  static bool removes_root(const Op& op) {
    const auto* const remove = std::get_if<RemoveOp>(&op);
    return remove && remove->path == "/";
  }

  Pending<Nothing> start_remove(const RemoveOp& op) override {
    if (!removes_root(op)) return inner().start_remove(op);
    return refusal<Nothing>({});
  }
  Pending<std::vector<OpResult>> start_multi(const std::vector<Op>& ops) override {
    const auto culprit = std::ranges::find_if(ops, removes_root);
    if (culprit == ops.end()) return inner().start_multi(ops);
    // In a failed transaction, the other operations are undone or not tried.
    std::vector<OpResult> results(ops.size());
    for (auto& result : results) result.code = code::runtime_inconsistency;
    results[static_cast<std::size_t>(culprit - ops.begin())].code = code::bad_arguments;
    return refusal<std::vector<OpResult>>(std::move(results));
  }

 private:
  template <class T>
  static Pending<T> refusal(T value) {
    return std::make_shared<Answer<T>>([value = std::move(value)](const Monitor::Held& /*held*/) {
      typename Answer<T>::Value answer;
      answer.emplace();
      answer->code = code::bad_arguments;
      answer->value = value;
      return answer;
    });
  }
};

}  // namespace zksh
