// FoundTree: the nodes of subtrees, packed, every parent before its children.
#pragma once

#include "base/name_list.h"
#include "client/node_path.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A million nodes take about ten bytes each, and their names.
class FoundTree {
 public:
  static constexpr std::uint32_t no_parent = 0xffffffff;

  /// A top's name is its path. Returns the node's number; they count from 0.
  std::uint32_t add(std::uint32_t parent, std::string_view name) {
    names_.add(name);
    parents_.push_back(parent);
    guessed_.push_back(false);
    return static_cast<std::uint32_t>(parents_.size() - 1);
  }
  std::size_t size() const { return parents_.size(); }
  bool is_top(std::uint32_t node) const { return parents_[node] == no_parent; }
  std::string path(std::uint32_t node) const {
    if (is_top(node)) return std::string(names_[node]);
    return join_path(path(parents_[node]), names_[node]);
  }
  /// In bytes.
  std::size_t memory() const {
    return names_.memory() + parents_.size() * sizeof(std::uint32_t) + guessed_.size() / 8;
  }

  /// Whether it was taken for a leaf without having been listed.
  bool is_guessed_leaf(std::uint32_t node) const { return guessed_[node]; }
  void guess_leaf(std::uint32_t node) { guessed_[node] = true; }

 private:
  NameList names_;
  std::vector<std::uint32_t> parents_;
  std::vector<bool> guessed_;
};

}  // namespace zksh
