// TreeCopy: passes what it reads to TreeApply as if it were a dump.
#include "tree/tree_copy.h"

#include "base/error.h"
#include "base/number.h"
#include "base/words.h"
#include "client/rehearsal.h"
#include "command/progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace zksh {
namespace {

/// Servers show a digest's hash as x to sessions that may not administer the node.
bool hides_hash(const Acl& acl) {
  return std::ranges::any_of(acl, [](const AclEntry& entry) {
    return entry.scheme == "digest" && entry.id.ends_with(":x");
  });
}

}  // namespace

void require_whole(const FoundNode& node, const std::string& path) {
  if (!node.readable) throw ZkError(code::no_auth, path);
  if (hides_hash(node.record.acl))
    throw Error(fmt::format("the servers hide a hash in the ACL of {}, which this session may not "
                            "administer; `addauth` an identity that may",
                            as_word(path)),
                status::not_authorised);
}

std::size_t copy_tree(Context& cx, const CopyPlan& plan) {
  LiveTree source(cx.client, {.top = plan.source, .quotas = false, .limits = plan.limits}, cx.stop);
  const auto next = [&]() -> std::optional<TreeRecord> {
    while (auto node = source.next()) {
      auto& record = node->record;
      const bool ephemeral = record.life.kind == NodeKind::Ephemeral;
      if (ephemeral && !record.path.empty()) {
        plan.left_out(*node);
        continue;
      }
      require_whole(*node, path_below(plan.source, record.path));
      plan.copied(*node);
      if (ephemeral) record.life.kind = NodeKind::Persistent;
      record.life.certain = true;
      record.limits = no_limits;
      return std::move(record);
    }
    return std::nullopt;
  };
  Progress progress(cx.out, cx.background, "nodes copied");
  std::size_t created = 0;
  const auto on_write = [&](const WriteDescription& write) {
    if (cx.rehearsal) cx.rehearsal->note(write);
    if (write.verb == "create") progress.reach(++created);
  };
  TreeApply apply(cx.client,
                  {.top = plan.target,
                   .rehearse = cx.rehearsal != nullptr,
                   .parents_made = plan.parents_made,
                   .quotas = false,
                   .limits = plan.limits,
                   .on_write = on_write,
                   .conflict = [](const std::string& sentence) { throw Error(sentence); },
                   .counters = plan.counters},
                  cx.stop);
  report_if_incomplete(
      cx, progress, [&] { apply.run(next); },
      [&] {
        if (created + apply.unanswered() == 0) return std::string();
        return plan.incomplete(
            fmt::format("{} copied to {}", counted_were(created, "node"), as_word(plan.target)),
            unknown_text(apply.unanswered()));
      });
  return created;
}

}  // namespace zksh
