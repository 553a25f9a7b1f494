// LockName: the names of the znodes by which contenders for a lock queue up, zksh's and others'.
#pragma once

#include "base/named_values.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

enum class LockMode { Exclusive, Shared };

/// The word before a contender's sequence number: who writes it, and what it asks for.
enum class LockTag {
  Lock,       ///< lock-: Curator's InterProcessMutex, go-zookeeper, zksh: exclusive
  Read,       ///< __READ__: Curator's InterProcessReadWriteLock, zksh
  Write,      ///< __WRIT__: the same
  KazooRead,  ///< __rlock__: kazoo's ReadLock
  KazooLock,  ///< __lock__: kazoo's Lock and WriteLock
  DocRead,    ///< read-: the recipe in ZooKeeper's documentation
  DocWrite,   ///< write-: the same
  Lease,      ///< lease-: a semaphore's; Curator's InterProcessSemaphoreV2, zksh
  Session,    ///< x-SESSION-: zoo_lock.c and Java's WriteLock: exclusive
  Unknown,    ///< another sequential node: taken for exclusive, which is the safe side
};

/// The library that a contender's name shows.
enum class LockFamily { Zksh, Curator, Kazoo, Go, CLock, JavaWriteLock, Documentation, Unknown };

/// A queue of a thousand is read anew at each turn, so that a name is kept once, and its parts are
/// places in it.
struct LockName {
  std::string text;  ///< the whole name
  LockTag tag = LockTag::Unknown;
  std::int32_t sequence = 0;
  std::size_t prefix_size = 0;
  std::size_t key_begin = 0;
  std::size_t key_size = 0;

  /// What stands before the tag. Valid as long as the name.
  std::string_view prefix() const { return std::string_view(text).substr(0, prefix_size); }
  /// What all nodes of one contender share: its guid, or the whole name where there is none. Valid
  /// as long as the name.
  std::string_view key() const { return std::string_view(text).substr(key_begin, key_size); }
  LockMode mode() const;
  LockFamily family() const;
};

/// What a server writes for a counter that is at its end (ZooKeeper 3.6 and later stick there).
inline constexpr std::int32_t last_sequence = INT32_MAX;
/// From here on it is time to say that the end is near.
inline constexpr std::int32_t late_sequence = 2'000'000'000;

/// Nothing when the name does not end in a sequence number: no contender.
/// The number is Java's %010d: ten digits, or a minus sign and nine or ten.
std::optional<LockName> parse_lock_name(std::string_view name);
/// The same; takes the text away, but for one that is no contender's.
std::optional<LockName> take_lock_name(std::string&& name);
/// Its number alone, which is cheaper.
std::optional<std::int32_t> lock_sequence(std::string_view name);

/// "Curator", "kazoo", …: for the user.
std::string_view family_name(LockFamily family);

/// Names that only some libraries recognise, or all of them at once.
enum class Compat {
  Curator,  ///< _c_GUID-lock-, _c_GUID-__READ__, _c_GUID-__WRIT__
  Kazoo,    ///< HEX__lock__, HEX__rlock__
  All,      ///< three nodes of one guid, so that every library sees the one it knows
};

inline constexpr NamedValues<Compat, 3> compat_names{
    {{"curator", Compat::Curator}, {"kazoo", Compat::Kazoo}, {"all", Compat::All}}};

/// A random UUID (version 4), 36 characters in lower case. With `joins_many` it is of version 8,
/// which is free for such uses (RFC 9562): others recognise by its name alone a contender that has
/// joined several queues in one transaction. Throws Error when the system has no random numbers.
std::string fresh_guid(bool joins_many = false);
/// Whether the guid says so.
bool joins_many(const LockName& name);

/// The prefixes of the sequential nodes by which a contender queues up, in the order in which they
/// are created in one transaction. `read_write`: of a read/write lock, not of a plain mutex.
std::vector<std::string> contender_prefixes(Compat compat, LockMode mode, bool read_write,
                                            std::string_view guid);

}  // namespace zksh
