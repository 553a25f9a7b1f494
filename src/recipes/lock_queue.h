// LockQueue: the contenders for a lock, in the order in which they get it.
#pragma once

#include "recipes/lock_name.h"

#include <algorithm>
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

/// A client that holds the lock or waits for it, with one node or several with the same guid.
struct Contender {
  std::vector<LockName> nodes;  ///< sorted by sequence number; never empty
  LockMode mode = LockMode::Exclusive;
  std::int32_t sequence = 0;  ///< the lowest
  std::int64_t czxid = 0;     ///< 0: not read

  /// See LockName::key. Valid as long as the contender.
  std::string_view key() const { return nodes.front().key(); }
  /// Whether the two must not hold the lock together.
  bool excludes(const Contender& other) const {
    return mode == LockMode::Exclusive || other.mode == LockMode::Exclusive;
  }
  /// Whether a node's name has the tag.
  bool has(ContenderTag tag) const {
    return std::ranges::find(nodes, tag, &LockName::tag) != nodes.end();
  }
};

/// The keys of contenders, see LockName::key.
using ContenderKeys = std::set<std::string, std::less<>>;

/// A contender's place in the queue: what it needs to know while it waits, and what users are told.
struct QueuePlace {
  /// 1: the holder; readers that hold the lock together count separately. 0: there is no order.
  std::size_t position = 0;
  std::size_t count = 0;     ///< number of contenders
  std::string first_node{};  ///< a node of the first in the queue
  /// A node of the nearest contender that keeps it from the lock; empty: it holds the lock.
  std::string predecessor_node{};
  std::string watched_node{};  ///< the node of that contender to watch
  // What reading these nodes shows:
  std::string predecessor{};       ///< owner data of the contender it waits for
  bool predecessor_stays = false;  ///< its node is not ephemeral: no session's end removes it
  std::string holder{};            ///< owner data of the first in the queue
  /// How long the first has been in the queue, in milliseconds, by the clocks of server and client.
  /// nullopt: not known.
  std::optional<std::int64_t> holder_age_ms{};
  bool holder_stays = false;  ///< as predecessor_stays
  /// For a semaphore, whose queue has only the waiting contenders; for the first of these, `holder`
  /// is the one with the oldest lease.
  struct Leases {
    int all = 0;     ///< total; 0: not a semaphore
    int taken = 0;   ///< 0: not known, since others wait before
    int wanted = 0;  ///< number that the contender wants at once
  };
  Leases leases{};
  std::string path{};  ///< which of several locks; empty if there is only one
};

/// The children of a lock node, interpreted. Nodes are grouped by guid; a contender with a read
/// node is a reader. Contenders are ordered by sequence number in serial number arithmetic (as in
/// RFC 1982), since the counter wraps before ZooKeeper 3.6. With equal numbers a writer precedes a
/// reader; Curator's downgrade makes such pairs. From 3.6 on, the counter stays at its maximum,
/// where names show no order: then czxid decides.
struct LockQueue {
  std::vector<Contender> contenders;
  std::vector<std::string> others;  ///< children that are not contenders

  std::optional<std::size_t> index_of(std::string_view key) const;
  /// The nearest contender before `index` that keeps it from the lock; nullopt: it holds the lock.
  std::optional<std::size_t> predecessor(std::size_t index) const;
  QueuePlace place(std::size_t index) const;
  /// Whether the contender at this index holds the lock.
  bool holds(std::size_t index) const { return !predecessor(index); }
};

/// Whether the names do not determine the order, because one has the counter's maximum or a number
/// beyond.
bool order_needs_stats(const std::vector<std::string>& names);
/// `czxids` by name are needed only if order_needs_stats.
LockQueue make_lock_queue(std::vector<std::string> names,
                          const std::map<std::string, std::int64_t>& czxids = {});

/// The place of the contender with the node `own` in the usual case: a plain mutex, all names of
/// Curator's kind, numbers far from the counter's end, one node per contender. With a thousand
/// contenders this costs a tenth of a LockQueue. nullopt: use a LockQueue.
std::optional<QueuePlace> plain_place(const std::vector<std::string>& names, std::string_view own);

/// Whether a node with these children is a semaphore: "locks" and "leases". Servers remove "locks",
/// a container, a minute after the last who asked for a lease.
bool is_semaphore(const std::vector<std::string>& names);

}  // namespace zksh
