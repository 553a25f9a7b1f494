// TransactionCommit: sends a transaction and reports the result of each operation.
#include "node/transaction_commit.h"

#include "base/mapped.h"
#include "client/client.h"
#include "node/node_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace zksh {
namespace {

/// In longer transactions, only the failed operation is reported.
constexpr std::size_t most_listed = 20;

/// What an operation does, and what it has done, by its index in Op.
constexpr std::array<std::pair<std::string_view, std::string_view>, std::variant_size_v<Op>> verbs{
    {{"create", "Created"}, {"delete", "Deleted"}, {"set", "Set"}, {"check", "Checked"}}};

std::size_t text_size(const std::string& text) { return sizeof(std::int32_t) + text.size(); }

/// The size of the operation in the request: jute's encoding of MultiHeader and the operation's
/// record.
std::size_t request_size(const Op& op) {
  constexpr std::size_t header = 9;
  constexpr std::size_t number = 4;
  return std::visit(
      [](const auto& one) {
        auto size = header + text_size(one.path) + number;
        if constexpr (requires { one.data; }) size += text_size(one.data.value_or(""));
        if constexpr (requires { one.acl; }) {
          size += number;
          for (const auto& entry : one.acl)
            size += number + text_size(entry.scheme) + text_size(entry.id);
        }
        return size;
      },
      op);
}

void print_result(Context& cx, const Op& op, const OpResult& result) {
  const auto& own_path = std::holds_alternative<CreateOp>(op) ? result.path : path_of(op);
  const bool sets = std::holds_alternative<SetOp>(op);
  if (cx.out.json()) {
    auto json = Json::object();
    json.set("op", verbs.at(op.index()).first).set("applied", true).set("path", own_path);
    if (sets) json.set("stat", stat_json(result.stat));
    return print_json(cx, json);
  }
  const auto path = cx.out.shown(own_path);
  if (cx.out.plain()) return cx.out.line("{}", path);
  cx.out.line("{} {}{}", verbs.at(op.index()).second, path,
              sets ? fmt::format(" (version {})", result.stat.version) : "");
}

/// The first error is the failure: servers report the operations after it as not tried.
std::optional<std::size_t> first_failure(const Outcome<std::vector<OpResult>>& outcome) {
  // Codes of the whole request, which the C client gives to every operation.
  constexpr std::array of_all{code::connection_loss, code::operation_timeout, code::request_timeout,
                              code::session_expired, code::invalid_state,     code::closing};
  const auto& results = outcome.value;
  if (!outcome.culprit.empty() || std::ranges::find(of_all, outcome.code) != of_all.end())
    return std::nullopt;
  const auto failed = std::ranges::find_if(
      results, [](int code) { return code != code::ok && code != code::runtime_inconsistency; },
      &OpResult::code);
  if (failed == results.end()) return std::nullopt;
  return static_cast<std::size_t>(failed - results.begin());
}

/// Reports the operations of a failed transaction; `failed` is the one to blame, nullopt if it is
/// not known whether they were applied.
void list_operations(Context& cx, const std::vector<PlannedOp>& plan,
                     std::optional<std::size_t> failed = {}, int code = code::ok) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto& planned = plan[i];
    if (cx.out.json()) {
      print_json(cx, Json::object()
                         .set("op", verbs.at(planned.op.index()).first)
                         .set("applied", failed ? Json(false) : Json())
                         .set("path", path_of(planned.op))
                         .set("error",
                              i == failed ? Json(error_text(code, path_of(planned.op))) : Json()));
    } else if (i == failed || (failed ? plan.size() : i + 1) <= most_listed) {
      cx.out.err_line("  {}. {}{}: {}", i + 1, planned.place.empty() ? "" : planned.place + ": ",
                      cx.out.shown_in_error(planned.line),
                      !failed       ? "unknown"
                      : i == failed ? "failed"
                                    : "not applied");
    }
  }
  if (!cx.out.json() && !failed && plan.size() > most_listed)
    cx.out.err_line("  and {} more", plan.size() - most_listed);
}

/// Throws the reason why the whole request failed, and not a single operation.
[[noreturn]] void refuse(Context& cx, const Outcome<std::vector<OpResult>>& outcome,
                         const std::vector<PlannedOp>& plan, const std::vector<Op>& ops) {
  if (!outcome.culprit.empty()) throw ZkError(outcome.code, outcome.culprit, true);
  const auto& first = path_of(ops.front());
  const ZkError error(outcome.code, first, true);
  if (!error.outcome_unknown()) throw ZkError(error);
  std::size_t bytes = 0;
  for (const auto& op : ops) bytes += request_size(op);
  if (bytes > usual_request_limit)
    throw Error(
        fmt::format("{}; check {} before you try again with smaller parts",
                    too_large_text(fmt::format("a transaction of {} bytes was sent", bytes)),
                    first),
        status::server_refused, first);
  list_operations(cx, plan);
  const auto what = ops.size() == 1
                        ? "the operation may or may not have been applied"
                        : fmt::format("either all {} operations were applied or none", ops.size());
  throw Error(
      fmt::format("the connection was lost before the answer arrived: {}; check {}", what, first),
      status::outcome_unknown, first);
}

}  // namespace

int commit(Context& cx, const std::vector<PlannedOp>& plan) {
  if (plan.empty()) {
    cx.out.err_line("the transaction is empty; nothing was sent");
    return status::ok;
  }
  const auto ops = mapped(plan, &PlannedOp::op);
  const auto outcome = cx.client.try_multi(ops, cx.stop);
  if (outcome.code == code::ok) {
    for (std::size_t i = 0; i < ops.size(); ++i) print_result(cx, ops[i], outcome.value[i]);
    return status::ok;
  }
  const auto failed = first_failure(outcome);
  if (!failed) refuse(cx, outcome, plan, ops);
  const ZkError failure(outcome.value[*failed].code, path_of(ops[*failed]), true);
  list_operations(cx, plan, failed, failure.code());
  if (cx.out.json()) throw ZkError(failure);
  throw Error(fmt::format("operation {} of {} {}: {}", *failed + 1, ops.size(),
                          cx.rehearsal ? "would fail, and none would be applied"
                                       : "failed, and none was applied",
                          failure.what()),
              failure.exit_status());
}

}  // namespace zksh
