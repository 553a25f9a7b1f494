// PastRecords: the records of a subtree of a tree as it was.
#pragma once

#include "tree/live_tree.h"
#include "txnlog/past_tree.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// As LiveTree, of a replayed tree.
class PastRecords {
 public:
  /// `tree` must outlive it. Throws ZkError if there is no such node.
  PastRecords(const PastTree& tree, std::string top);

  /// The next node, ephemerals included; nullopt at the end. An ACL that the files lack makes it
  /// unreadable.
  std::optional<FoundNode> next();

 private:
  const PastTree& tree_;
  std::string top_;
  std::vector<std::string_view> paths_;
  std::map<std::string, QuotaLimits> limits_{};
  std::size_t at_ = 0;
};

}  // namespace zksh
