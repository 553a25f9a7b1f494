// TreeRecord: a node as dump, apply and diff see it, and the order of nodes in a subtree.
#include "tree/tree_record.h"

#include "node/quota.h"
#include "txnlog/transaction.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {

const std::array<std::string_view, 4> limit_keys{
    QuotaText::count, QuotaText::bytes, QuotaText::count_hard_limit, QuotaText::byte_hard_limit};

NodeLife life_of(const Stat& stat) {
  constexpr std::int64_t ttl_mask = 0xffffffffff;
  const auto owner = stat.ephemeral_owner;
  if (owner == 0) return {.certain = false};
  if (owner == container_owner) return {.kind = NodeKind::Container};
  if (is_session_owner(owner)) return {.kind = NodeKind::Ephemeral};
  return {.kind = NodeKind::Ttl, .ttl = owner & ttl_mask};
}

bool agree(const NodeLife& life, const NodeLife& other) {
  return (life.kind == other.kind && life.ttl == other.ttl) || !life.certain || !other.certain;
}

std::string life_text(const NodeLife& life) {
  const std::string kind(name_of(kind_names, life.kind));
  return life.kind == NodeKind::Ttl ? fmt::format("{}={}", kind, life.ttl) : kind;
}

std::string limits_text(const QuotaLimits& limits) {
  std::string text;
  for (std::size_t i = 0; i < limits.size(); ++i)
    if (limits[i] >= 0)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", limit_keys[i], limits[i]);
  return text;
}

bool stands_before(std::string_view path, std::string_view other) {
  const auto [here, there] = std::ranges::mismatch(path, other);
  if (here == path.end() || there == other.end()) return path.size() < other.size();
  // The end of a name sorts before any byte.
  if (*here == '/' || *there == '/') return *here == '/';
  return static_cast<unsigned char>(*here) < static_cast<unsigned char>(*there);
}

bool is_within(std::string_view path, std::string_view top) {
  return top == "/" ||
         (path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/'));
}

std::string path_below(const std::string& top, std::string_view relative) {
  if (relative.empty()) return top;
  return (top == "/" ? "" : top) + std::string(relative);
}

std::string path_from(const std::string& top, const std::string& path) {
  if (path == top) return "";
  return top == "/" ? path : path.substr(top.size());
}

}  // namespace zksh
