// Session: transactions.
#include "client/node_path.h"
#include "session/session_calls.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace zksh {
namespace {

/// A multi's operations, its results and the buffers that both point into until the answer comes.
struct MultiCall : CallOf<std::vector<OpResult>> {
  std::vector<AclView> acls;
  std::vector<std::string> created;
  std::vector<::Stat> stats;
  std::vector<zoo_op_t> ops;
  std::vector<zoo_op_result_t> results;

  explicit MultiCall(const std::vector<Op>& requested)
      : created(requested.size()),
        stats(requested.size()),
        ops(requested.size()),
        results(requested.size()) {
    acls.reserve(requested.size());  // the C client keeps no copy: nothing may move
    for (std::size_t i = 0; i < requested.size(); ++i)
      std::visit([&](const auto& op) { add(i, op); }, requested[i]);
  }

  void add(std::size_t i, const CreateOp& op) {
    constexpr std::size_t longest_suffix = sizeof "-2147483648";
    created[i].resize(op.path.size() + longest_suffix);
    acls.emplace_back(op.acl);
    zoo_create_op_init(&ops[i], op.path.c_str(), bytes_of(op.data), size_of(op.data),
                       acls.back().get(), mode_of(op), created[i].data(),
                       static_cast<int>(created[i].size()));
  }
  void add(std::size_t i, const RemoveOp& op) {
    zoo_delete_op_init(&ops[i], op.path.c_str(), op.version);
  }
  void add(std::size_t i, const SetOp& op) {
    zoo_set_op_init(&ops[i], op.path.c_str(), bytes_of(op.data), size_of(op.data), op.version,
                    &stats[i]);
  }
  void add(std::size_t i, const CheckOp& op) {
    zoo_check_op_init(&ops[i], op.path.c_str(), op.version);
  }

  std::vector<OpResult> outcome() const {
    std::vector<OpResult> all(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
      all[i] = {.code = results[i].err,
                .path = created[i].substr(0, created[i].find('\0')),
                .stat = stat_of(&stats[i])};
    return all;
  }
};

void multi_done(int rc, const void* data) {
  const auto& call =
      static_cast<const MultiCall&>(*static_cast<const CallOf<std::vector<OpResult>>*>(data));
  auto results = call.outcome();
  const auto created =
      std::ranges::find_if(results, [](const OpResult& result) { return !result.path.empty(); });
  if (rc == ZOK && created != results.end()) {
    const auto czxid = call.handle->czxid_of(created->path);
    for (auto& result : results)
      if (!result.path.empty()) result.stat.czxid = czxid;
  }
  answer<std::vector<OpResult>>(data, rc, std::move(results));
}

/// What zoo_amulti must not be given: when it refuses an operation itself (a path, a dead handle)
/// it frees memory twice, and it aborts on the answer to a container's creation (3.8.0, where no
/// transaction has nodes with a TTL either).
int refusal(zhandle_t* zh, const std::vector<Op>& ops) {
  if (is_unrecoverable(zh) != ZOK) return code::invalid_state;
  const auto malformed = [](const Op& op) {
    const auto* created = std::get_if<CreateOp>(&op);
    const auto& path =
        std::visit([](const auto& one) -> const std::string& { return one.path; }, op);
    return path_flaw(created && created->sequential ? path + '1' : path).has_value();
  };
  const auto unknown = [](const Op& op) {
    const auto* created = std::get_if<CreateOp>(&op);
    return created && !fits_multi(*created);
  };
  if (std::ranges::any_of(ops, malformed)) return code::bad_arguments;
  if (std::ranges::any_of(ops, unknown)) return code::unimplemented;
  return code::ok;
}

}  // namespace

Pending<std::vector<OpResult>> Session::start_multi(const std::vector<Op>& ops) {
  auto call = std::make_unique<MultiCall>(ops);
  auto& multi = *call;
  return start(monitor_, Use(*this).get(),
               std::unique_ptr<CallOf<std::vector<OpResult>>>(std::move(call)),
               [&](zhandle_t* zh, const void* data) {
                 const int refused = refusal(zh, ops);
                 if (refused != code::ok) return refused;
                 return zoo_amulti(zh, static_cast<int>(multi.ops.size()), multi.ops.data(),
                                   multi.results.data(), multi_done, data);
               });
}

}  // namespace zksh
