// TreeHealth: finds nodes that are near a limit.
#include "tree/tree_health.h"

#include "base/number.h"
#include "client/node_path.h"
#include "tree/walk.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <tuple>

namespace zksh {
namespace {

/// Evaluates one node after the other.
class NodeCheck {
 public:
  NodeCheck(std::int64_t largest_answer, DeepHealth& deep)
      : largest_answer_(largest_answer), deep_(deep) {}

  void look_at(const TreeNode& node) {
    if (node.hides_children() || !node.stat_readable) {
      if (hidden_++ == 0) first_hidden_ = node.path;
      if (!node.stat_readable) return;
    }
    size(Check::Children, node.path, list_size(node),
         fmt::format("the list of its children ({})", node.children->size()),
         "Delete children that nobody needs, or spread them over several parents.");
    size(Check::Values, node.path, node.stat.data_length, "its value",
         "Keep large values elsewhere, or split them.");
    // The Stat shows the number of changes in 32 bits, and -1 where only one child was ever there.
    const auto counter = sequence_counter(node.stat);
    const auto cversion = 2 * counter - node.stat.num_children;
    if (cversion > most_changes)
      deep_.add(
          HealthFinding{.check = Check::Counters,
                        .path = node.path,
                        .problem = fmt::format("its list of children was changed {} times "
                                               "(cversion), and its next sequential child gets the "
                                               "number {}",
                                               cversion, counter),
                        .measured = cversion,
                        .limit = most_changes,
                        .remedy = "Use a new parent before the number passes 2147483647, after "
                                  "which it is negative."});
  }

  void end() {
    if (hidden_ == 0) return;
    for (const auto check : {Check::Children, Check::Values, Check::Counters})
      deep_.add(Unchecked{.check = check,
                          .reason = fmt::format("no permission to look at {} and what is below: {}",
                                                counted(hidden_, "node"), first_hidden_)});
  }

 private:
  static constexpr std::int64_t most_changes = 1'600'000'000;

  /// As servers send it: each name with its length, and the Stat.
  static std::int64_t list_size(const TreeNode& node) {
    constexpr std::int64_t length = 4;
    constexpr std::int64_t stat = 68;
    const auto& names = *node.children;
    if (names.empty()) return 0;
    std::int64_t size = length + stat;
    for (std::size_t i = 0; i < names.size(); ++i)
      size += length + static_cast<std::int64_t>(names[i].size());
    return size;
  }

  void size(Check check, const std::string& path, std::int64_t bytes, const std::string& what,
            const char* remedy) {
    if (bytes < largest_answer_ / 2) return;
    deep_.add(
        HealthFinding{.check = check,
                      .path = path,
                      .problem = fmt::format("{} takes {} bytes of the {} that jute.maxbuffer "
                                             "allows",
                                             what, bytes, largest_answer_),
                      .measured = bytes,
                      .limit = largest_answer_,
                      .remedy = remedy});
  }

  std::int64_t largest_answer_;
  DeepHealth& deep_;
  std::size_t hidden_ = 0;
  std::string first_hidden_;
};

void check_quota(const std::string& path, const QuotaText& limits, const QuotaText& usage,
                 DeepHealth& deep) {
  for (const auto& [what, hard, noun] :
       {std::tuple{QuotaText::count, QuotaText::count_hard_limit, "nodes"},
        std::tuple{QuotaText::bytes, QuotaText::byte_hard_limit, "bytes"}})
    for (const auto limit : {what, hard}) {
      const auto most = limits.get(limit);
      const auto used = usage.get(what);
      if (most < 0 || used <= 0 || used < most - most / 10) continue;
      deep.add(
          HealthFinding{.check = Check::Quotas,
                        .path = path,
                        .problem = fmt::format("{} of the {} {} of its {} quota are used", used,
                                               most, noun, limit == hard ? "hard" : "soft"),
                        .measured = used,
                        .limit = most,
                        .remedy = "Delete what nobody needs below it, or raise the quota "
                                  "(setquota)."});
    }
}

}  // namespace

void check_nodes(Client& client, std::int64_t largest_answer, const WorkLimits& limits,
                 const std::function<void()>& visited, DeepHealth& deep,
                 const std::stop_token& stop) {
  NodeCheck check(largest_answer, deep);
  WalkPlan plan{.tops = {"/"}, .limits = limits};
  plan.enter = [&](TreeNode& node) {
    check.look_at(node);
    visited();
  };
  walk_tree(client, plan, stop);
  check.end();
}

void check_quotas(Client& client, DeepHealth& deep, const std::stop_token& stop) {
  const std::string root(quota_root);
  std::string path;
  std::optional<QuotaText> limits;  // of the node last visited
  std::size_t hidden = 0;
  WalkPlan plan{.tops = {root}, .may_be_missing = true, .data = true};
  plan.enter = [&](TreeNode& node) {
    hidden += node.readable ? 0 : 1;
    const auto name = base_name(node.path);
    if (name == limits_name) {
      limits = QuotaText::parse(node.data.value_or(""));
      path = node.path.substr(root.size(), node.path.size() - root.size() - name.size() - 1);
    } else if (name == usage_name && limits) {
      const auto usage = QuotaText::parse(node.data.value_or(""));
      if (usage) check_quota(path.empty() ? "/" : path, *limits, *usage, deep);
      limits.reset();
    }
  };
  walk_tree(client, plan, stop);
  if (hidden > 0)
    deep.add(Unchecked{
        .check = Check::Quotas,
        .reason = fmt::format("no permission to read {} below {}", counted(hidden, "node"), root)});
}

}  // namespace zksh
