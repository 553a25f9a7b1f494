// LockFlaws: detects contenders for a lock that do not see each other because of their names.
#pragma once

#include "recipes/lock_queue.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// How one contender's library treats the nodes of another contender.
enum class Sight {
  Sees,    ///< waits for it as the recipe requires, or even if it need not
  Unsure,  ///< depends on what the name does not show: class, version, or options
  Blind,   ///< ignores it
  Fails,   ///< cannot parse the name: its lock call fails or crashes
};

/// For the libraries as shipped, measured with Curator 5.4.0, kazoo 2.8.0 and 2.11.0,
/// samuel/go-zookeeper 2018, go-zookeeper/zk 2024, zoo_lock.c and WriteLock of ZooKeeper 3.8.0. A
/// contender with the names of zksh's --compat all sees everybody; one with Curator's names is
/// assumed to be Curator's.
Sight lock_sight(const Contender& observer, const Contender& other);

/// The nearest contender before `index` that its library sees and waits for; nullopt: it acts as if
/// it held the lock, whatever LockQueue::predecessor says. `zksh` has the keys of contenders known
/// to be zksh's, which see everybody.
std::optional<std::size_t> seen_predecessor(const LockQueue& queue, std::size_t index,
                                            const ContenderKeys& zksh);

/// Why contenders in the queue do not exclude each other, for the user: a sentence for each pair of
/// kinds, naming one contender. `own` is the key of the contender it is reported for; empty: report
/// all pairs. `zksh` has the keys of contenders known to be zksh's.
std::vector<std::string> lock_flaws(const LockQueue& queue, std::string_view own,
                                    const ContenderKeys& zksh = {});

/// Why a semaphore does not work together with other nodes below its node. `queue` is that of its
/// node's children.
std::vector<std::string> semaphore_flaws(const LockQueue& queue);

/// The problem that the end of the sequence counter causes in this queue, or will cause soon; see
/// sequence_counter.
std::optional<std::string> counter_flaw(const LockQueue& queue, std::int64_t counter);

}  // namespace zksh
