// TreeCopy: passes what it reads to TreeApply as if it were a dump.
#include "tree/tree_copy.h"

#include "base/error.h"
#include "base/quoting.h"

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

void copy_tree(Client& client, const CopyPlan& plan, CopyCounts& counts,
               const std::stop_token& stop) {
  LiveTree source(client, {.top = plan.source, .limits = plan.limits}, stop);
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
  TreeApply apply(client,
                  {.top = plan.target,
                   .rehearse = plan.rehearse,
                   .parents_made = plan.parents_made,
                   .limits = plan.limits,
                   .on_write = plan.on_write,
                   .conflict = [](const std::string& sentence) { throw Error(sentence); },
                   .reached = [](std::size_t /*count*/) {}},
                  stop);
  struct Counted {
    const TreeApply& apply;
    CopyCounts& counts;
    ~Counted() { counts = {.made = apply.counts().created, .unknown = apply.unanswered()}; }
  } const counted{.apply = apply, .counts = counts};
  apply.run(next);
}

}  // namespace zksh
