// LockQueue: grouping and ordering contenders.
#include "recipes/lock_queue.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace zksh {
namespace {

bool beyond_the_end(std::int32_t sequence) { return sequence < 0 || sequence == last_sequence; }

/// The numbers of a counter that wraps: its circle is cut where it is emptiest. Of numbers less
/// than 2^31 apart this is the order of RFC 1982; but it is an order of all others too, which a
/// directory with forged names needs.
class SerialOrder {
 public:
  explicit SerialOrder(const std::vector<LockName>& names) {
    if (std::ranges::none_of(names, [](const LockName& name) { return name.sequence < 0; })) return;
    std::vector<std::uint32_t> numbers;
    numbers.reserve(names.size());
    for (const auto& name : names) numbers.push_back(static_cast<std::uint32_t>(name.sequence));
    std::ranges::sort(numbers);
    std::uint32_t widest = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto before = i == 0 ? numbers.back() : numbers[i - 1];
      const auto gap = numbers[i] - before;  // modulo 2^32
      if (gap <= widest) continue;
      widest = gap;
      first_ = numbers[i];
    }
  }

  bool operator()(std::int32_t a, std::int32_t b) const { return from_first(a) < from_first(b); }

 private:
  std::uint32_t from_first(std::int32_t number) const {
    return static_cast<std::uint32_t>(number) - first_;
  }

  std::uint32_t first_ = 0;
};

std::vector<LockName> parsed(const std::vector<std::string>& names,
                             std::vector<std::string>& others) {
  std::vector<LockName> all;
  all.reserve(names.size());
  for (const auto& name : names) {
    if (auto one = parse_lock_name(name))
      all.push_back(std::move(*one));
    else
      others.push_back(name);
  }
  return all;
}

std::vector<Contender> grouped(std::vector<LockName> names, const SerialOrder& precedes) {
  std::vector<Contender> all;
  std::unordered_map<std::string, std::size_t> places;
  all.reserve(names.size());
  for (auto& name : names) {
    const auto [place, fresh] = places.try_emplace(name.key, all.size());
    if (fresh) all.push_back({.key = name.key, .nodes = {}, .sequence = name.sequence});
    auto& contender = all[place->second];
    if (precedes(name.sequence, contender.sequence)) contender.sequence = name.sequence;
    if (name.mode() == LockMode::Shared) contender.mode = LockMode::Shared;
    contender.nodes.push_back(std::move(name));
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
  auto nodes = parsed(names, queue.others);
  const SerialOrder precedes(nodes);
  queue.contenders = grouped(std::move(nodes), precedes);
  for (auto& contender : queue.contenders) {
    std::ranges::sort(contender.nodes, precedes, &LockName::sequence);
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
