// LockQueue: groups and orders contenders.
#include "recipes/lock_queue.h"

#include "base/mapped.h"
#include "base/number.h"

#include <unordered_map>
#include <utility>

namespace zksh {
namespace {

bool beyond_the_end(std::int32_t sequence) { return sequence < 0 || sequence == last_sequence; }

/// Orders the numbers of a wrapping counter by cutting the circle at its largest gap. For numbers
/// less than 2^31 apart this is the order of RFC 1982, but it is a total order of all others too,
/// which forged names may require.
class SerialOrder {
 public:
  explicit SerialOrder(const std::vector<LockName>& names) {
    if (std::ranges::none_of(names, [](const LockName& name) { return name.sequence < 0; })) return;
    auto numbers = mapped<std::uint32_t>(names, &LockName::sequence);
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

std::vector<LockName> parsed(std::vector<std::string> names, std::vector<std::string>& others) {
  std::vector<LockName> all;
  all.reserve(names.size());
  for (auto& name : names) {
    if (auto one = take_lock_name(std::move(name)))
      all.push_back(std::move(*one));
    else
      others.push_back(std::move(name));  // NOLINT(bugprone-use-after-move): it was not moved
  }
  return all;
}

constexpr std::string_view plain_start = "_c_";
constexpr std::size_t guid_end = plain_start.size() + 36;

/// The number in "_c_GUID-lock-NNNNNNNNNN"; nullopt near the end of the counter.
std::optional<std::int32_t> plain_sequence(std::string_view name) {
  constexpr std::string_view tag = "-lock-";
  constexpr std::size_t digits = 10;
  if (name.size() != guid_end + tag.size() + digits || !name.starts_with(plain_start) ||
      name.substr(guid_end, tag.size()) != tag)
    return std::nullopt;
  const auto sequence = number_in<std::int32_t>(name.substr(name.size() - digits));
  if (!sequence || *sequence < 0 || *sequence >= late_sequence) return std::nullopt;
  return sequence;
}

std::vector<Contender> grouped(std::vector<LockName> nodes, const SerialOrder& precedes) {
  // Keys point into the names, which must stay in place until all are grouped.
  std::unordered_map<std::string_view, std::size_t> places(nodes.size());
  const auto place_of = mapped(nodes, [&](const LockName& node) {
    return places.try_emplace(node.key(), places.size()).first->second;
  });
  std::vector<Contender> all(places.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto& contender = all[place_of[i]];
    auto& node = nodes[i];
    if (contender.nodes.empty() || precedes(node.sequence, contender.sequence))
      contender.sequence = node.sequence;
    if (node.mode() == LockMode::Shared) contender.mode = LockMode::Shared;
    contender.nodes.push_back(std::move(node));
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
  const auto& own = contenders[index];
  while (index-- > 0)
    if (own.excludes(contenders[index])) return index;
  return std::nullopt;
}

QueuePlace LockQueue::place(std::size_t index) const {
  QueuePlace place{.position = index + 1,
                   .count = contenders.size(),
                   .first_node = contenders.front().nodes.front().text};
  if (const auto before = predecessor(index)) {
    const auto& nodes = contenders[*before].nodes;
    place.predecessor_node = nodes.front().text;
    // With the names of all libraries, a downgrade replaces one node, and readers must notice.
    const auto write = std::ranges::find(nodes, ContenderTag::Write, &LockName::tag);
    place.watched_node = (write == nodes.end() ? nodes.back() : *write).text;
  }
  return place;
}

std::optional<QueuePlace> plain_place(const std::vector<std::string>& names, std::string_view own) {
  const auto own_sequence = plain_sequence(own);
  if (!own_sequence) return std::nullopt;
  const std::string* first = nullptr;
  const std::string* before = nullptr;
  std::int32_t lowest = 0;
  std::int32_t nearest = -1;
  std::size_t earlier = 0;
  bool found = false;
  for (const auto& name : names) {
    const auto sequence = plain_sequence(name);
    if (!sequence) return std::nullopt;
    if (name.compare(0, guid_end, own, 0, guid_end) == 0) {
      if (name != own) return std::nullopt;  // two nodes of one contender
      found = true;
    }
    if (!first || *sequence < lowest) {
      lowest = *sequence;
      first = &name;
    }
    if (*sequence >= *own_sequence) continue;
    ++earlier;
    if (*sequence > nearest) {
      nearest = *sequence;
      before = &name;
    }
  }
  if (!found) return std::nullopt;
  QueuePlace place{.position = earlier + 1, .count = names.size(), .first_node = *first};
  if (before) place.predecessor_node = place.watched_node = *before;
  return place;
}

bool order_needs_stats(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) {
    const auto sequence = lock_sequence(name);
    return sequence && beyond_the_end(*sequence);
  });
}

LockQueue make_lock_queue(std::vector<std::string> names,
                          const std::map<std::string, std::int64_t>& czxids) {
  LockQueue queue;
  auto nodes = parsed(std::move(names), queue.others);
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
    return a.mode != b.mode ? a.mode < b.mode : a.key() < b.key();
  };
  std::ranges::sort(queue.contenders, earlier);
  return queue;
}

bool is_semaphore(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  return has("leases") && (has("locks") || names.size() == 1);
}

}  // namespace zksh
