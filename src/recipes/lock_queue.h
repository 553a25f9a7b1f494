// LockQueue: the contenders for a lock, in the order in which they get it.
#pragma once

#include "client/client.h"
#include "recipes/lock_name.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// One that holds the lock or waits for it, by one znode or by several of one guid.
struct Contender {
  std::vector<LockName> nodes;  ///< in order of their numbers; never empty
  LockMode mode = LockMode::Exclusive;
  std::int32_t sequence = 0;  ///< the lowest
  std::int64_t czxid = 0;     ///< 0: not asked for

  /// See LockName::key. Valid as long as the contender.
  std::string_view key() const { return nodes.front().key(); }
};

/// Of some contenders: see LockName::key.
using ContenderKeys = std::set<std::string, std::less<>>;

/// Where one contender stands in a queue: what it needs to know while it waits.
struct LockStanding {
  std::size_t position = 1;  ///< 1: the first
  std::size_t count = 1;     ///< contenders in all
  std::string first{};       ///< a node of the first contender
  /// A node of the nearest contender that keeps it from the lock; nothing: it holds the lock.
  std::optional<std::string> before{};
  std::string to_watch{};  ///< the node of that contender whose end, or change, matters
};

/// The children of a lock node, made sense of. The rules: names are grouped by guid; a contender
/// with a node that says read is a reader; the order is that of the sequence numbers in serial
/// number arithmetic (as RFC 1982), since the counter of ZooKeeper before 3.6 wraps; with equal
/// numbers a writer is before a reader, as Curator's downgrade makes such a pair. From ZooKeeper
/// 3.6 on the counter sticks at its end, where names tell no order any more: then czxid decides.
struct LockQueue {
  std::vector<Contender> contenders;
  std::vector<std::string> others;  ///< children that are no contenders

  std::optional<std::size_t> index_of(std::string_view key) const;
  /// The nearest contender before `index` that keeps it from the lock; nothing: it holds it.
  std::optional<std::size_t> predecessor(std::size_t index) const;
  LockStanding standing(std::size_t index) const;
  /// Whether the contender at this index has the lock.
  bool holds(std::size_t index) const { return !predecessor(index); }
};

/// Whether the names alone do not tell the order: one has the counter's last number, or one beyond.
bool order_needs_stats(const std::vector<std::string>& names);
/// `czxids`: by name; wanted only when order_needs_stats.
LockQueue make_lock_queue(std::vector<std::string> names,
                          const std::map<std::string, std::int64_t>& czxids = {});

/// The standing of the contender with the node `own` where all children are alike: a plain mutex
/// with Curator's kind of names, numbers far from the counter's end, one node for each contender.
/// That is the rule, and with a thousand contenders it costs a tenth of a LockQueue. Nothing: use a
/// LockQueue, which can say why.
std::optional<LockStanding> plain_standing(const std::vector<std::string>& names,
                                           std::string_view own);

/// How often a parent's counter has been used: the next sequential child gets this number, as long
/// as every deleted child had been created under it.
std::int64_t sequence_counter(const Stat& parent);

/// What keeps exclusion from working between contenders that are in one queue, for the user: one
/// sentence for each pair of kinds, naming one contender. `own`: the key of the contender for whom
/// it is told; empty: of all pairs.
std::vector<std::string> lock_flaws(const LockQueue& queue, std::string_view own);

}  // namespace zksh
