// TreeDiff: what differs between two subtrees that are read side by side.
#pragma once

#include "tree/tree_record.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

struct TreeDifference {
  enum class Kind { OnlyInA, OnlyInB, InLife, InAcl, InQuota, InData };
  Kind kind = Kind::InData;
  std::string path{};  ///< relative to the tops; "/" for the tops themselves
  std::string a{};     ///< what the one has, as a field of a dump; of data an excerpt
  std::string b{};
  std::optional<std::size_t> at{};       ///< of data that both have: the first byte that differs
  std::optional<std::size_t> a_bytes{};  ///< of data that are not null
  std::optional<std::size_t> b_bytes{};
};

/// "onlyInA", "onlyInB", "kind", "acl", "quota", "data".
std::string_view difference_name(TreeDifference::Kind kind);
/// A line for people, without a newline: "< /a", "> /b", "! /c  data: …".
std::string difference_text(const TreeDifference& difference);

/// Gives a subtree's records in the order of stands_before; nullopt at the end.
using RecordStream = std::function<std::optional<TreeRecord>()>;

/// Tells every difference, in the order of the nodes. Keeps one record of each side in memory.
void compare_trees(const RecordStream& a, const RecordStream& b,
                   const std::function<void(const TreeDifference&)>& told);

}  // namespace zksh
