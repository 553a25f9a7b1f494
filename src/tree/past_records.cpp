// PastRecords: the records of a subtree of a tree as it was.
#include "tree/past_records.h"

#include "client/node_path.h"
#include "client/zk_error.h"
#include "node/quota.h"

#include <algorithm>
#include <utility>

namespace zksh {

PastRecords::PastRecords(const PastTree& tree, std::string top)
    : tree_(tree), top_(std::move(top)), paths_(tree.below(top_)) {
  if (paths_.empty()) throw ZkError(code::no_node, top_);
  if (top_ == "/")
    std::erase_if(paths_, [](std::string_view path) { return is_within(path, "/zookeeper"); });
  const auto rank = [](std::string_view path) { return path == "/" ? std::string_view() : path; };
  std::ranges::sort(paths_, stands_before, rank);
  if (is_within(top_, "/zookeeper")) return;
  const auto root = top_ == "/" ? std::string(quota_root) : quota_node(top_);
  for (const auto path : tree.below(root))
    add_limits(limits_, root, std::string(path), tree.find(path)->data);
}

std::optional<FoundNode> PastRecords::next() {
  if (at_ == paths_.size()) return std::nullopt;
  const std::string path(paths_[at_++]);
  const auto& node = *tree_.find(path);
  FoundNode found{.record = {.path = path_from(top_, path),
                             .life = life_of({.ephemeral_owner = node.stat.ephemeral_owner}),
                             .acl = tree_.acl_of(node),
                             .data = node.data}};
  found.record.life.certain = true;
  found.readable = !found.record.acl.empty();
  const auto limit = limits_.find(found.record.path);
  if (limit != limits_.end()) found.record.limits = limit->second;
  return found;
}

}  // namespace zksh
