// LockFlaws: which contenders for one lock do not see each other, because of their names.
#pragma once

#include "recipes/lock_queue.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// What the library behind one contender makes of the nodes of another.
enum class Sight {
  Sees,    ///< waits for it as the recipe says; also when it need not
  Unsure,  ///< depends on what the name does not tell: its class, version, or options
  Blind,   ///< walks past it
  Fails,   ///< cannot read the name: its lock call returns an error, or it crashes
};

/// Of the libraries as they are shipped. Measured with Curator 5.4.0, kazoo 2.8.0 and 2.11.0,
/// samuel/go-zookeeper 2018, go-zookeeper/zk 2024, zoo_lock.c and WriteLock of ZooKeeper 3.8.0.
/// A contender that has the names of zksh's --compat all sees everybody; one that has Curator's
/// names is taken for Curator's.
Sight lock_sight(const Contender& observer, const Contender& other);

/// The nearest contender before `index` that its library sees and waits for. Nothing: it acts as if
/// it had the lock, whatever LockQueue::predecessor says. `zksh`: keys of contenders that are known
/// to be zksh's, which see everybody.
std::optional<std::size_t> seen_predecessor(const LockQueue& queue, std::size_t index,
                                            const ContenderKeys& zksh);

/// As lock_flaws(queue, own), where some are known to be zksh's.
std::vector<std::string> lock_flaws(const LockQueue& queue, std::string_view own,
                                    const ContenderKeys& zksh);

/// What keeps exclusion from working between a semaphore and what else is below its node. `queue`:
/// of its node's children.
std::vector<std::string> semaphore_flaws(const LockQueue& queue);

/// Whether a node has a name as kazoo's Semaphore gives to its leases.
bool is_kazoo_lease(std::string_view name);

/// What the end of the counter does to this queue, or will do soon: see sequence_counter.
std::optional<std::string> counter_flaw(const LockQueue& queue, std::int64_t counter);

/// A contender's name for people: a guid is cut to its first eight digits.
/// "4268e3cb…__lock__0000000007". May hold whatever a znode's name may.
std::string short_lock_name(const LockName& name);

}  // namespace zksh
