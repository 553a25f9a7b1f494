// LockQueue: grouping and ordering contenders.
#include "recipes/lock_queue.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace zksh {
namespace {

bool beyond_the_end(std::int32_t sequence) { return sequence < 0 || sequence == last_sequence; }

/// RFC 1982; `a - b` may overflow, which is the point.
bool precedes(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)) <
         0;
}

std::vector<Contender> grouped(const std::vector<std::string>& names,
                               std::vector<std::string>& others) {
  std::vector<Contender> all;
  std::unordered_map<std::string, std::size_t> places;
  all.reserve(names.size());
  for (const auto& name : names) {
    auto parsed = parse_lock_name(name);
    if (!parsed) {
      others.push_back(name);
      continue;
    }
    const auto [place, fresh] = places.try_emplace(parsed->key, all.size());
    if (fresh) all.push_back({.key = parsed->key, .nodes = {}, .sequence = parsed->sequence});
    auto& contender = all[place->second];
    if (precedes(parsed->sequence, contender.sequence)) contender.sequence = parsed->sequence;
    if (parsed->mode() == LockMode::Shared) contender.mode = LockMode::Shared;
    contender.nodes.push_back(std::move(*parsed));
  }
  return all;
}

}  // namespace

std::optional<std::size_t> LockQueue::index_of(std::string_view key) const {
  const auto found = std::ranges::find(contenders, key, &Contender::key);
  if (found == contenders.end()) return std::nullopt;
  return static_cast<std::size_t>(found - contenders.begin());
}

std::optional<std::size_t> LockQueue::predecessor(std::size_t index) const {
  const bool shared = contenders[index].mode == LockMode::Shared;
  while (index-- > 0)
    if (!shared || contenders[index].mode == LockMode::Exclusive) return index;
  return std::nullopt;
}

bool order_needs_stats(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) {
    const auto parsed = parse_lock_name(name);
    return parsed && beyond_the_end(parsed->sequence);
  });
}

LockQueue make_lock_queue(const std::vector<std::string>& names,
                          const std::map<std::string, std::int64_t>& czxids) {
  LockQueue queue;
  queue.contenders = grouped(names, queue.others);
  for (auto& contender : queue.contenders) {
    std::ranges::sort(contender.nodes, [](const LockName& a, const LockName& b) {
      return precedes(a.sequence, b.sequence);
    });
    for (const auto& node : contender.nodes) {
      const auto found = czxids.find(node.text);
      if (found == czxids.end()) continue;
      if (contender.czxid == 0 || found->second < contender.czxid) contender.czxid = found->second;
    }
  }
  const auto earlier = [&](const Contender& a, const Contender& b) {
    if (!czxids.empty() && a.czxid != b.czxid) return a.czxid < b.czxid;
    if (a.sequence != b.sequence) return precedes(a.sequence, b.sequence);
    return std::tie(a.mode, a.key) < std::tie(b.mode, b.key);
  };
  std::ranges::sort(queue.contenders, earlier);
  return queue;
}

std::int64_t sequence_counter(const Stat& parent) {
  // Every creation and every deletion of a child counts in cversion.
  return (static_cast<std::int64_t>(parent.cversion) + parent.num_children) / 2;
}

}  // namespace zksh
