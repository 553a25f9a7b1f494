// LockName: the names of contenders' nodes, of zksh and other libraries.
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

/// The tag before a contender's sequence number, which shows its library and mode.
enum class ContenderTag {
  Lock,       ///< lock-: Curator's InterProcessMutex, go-zookeeper, zksh: exclusive
  Read,       ///< __READ__: Curator's InterProcessReadWriteLock, zksh
  Write,      ///< __WRIT__: the same
  KazooRead,  ///< __rlock__: kazoo's ReadLock
  KazooLock,  ///< __lock__: kazoo's Lock and WriteLock
  DocRead,    ///< read-: the recipe in ZooKeeper's documentation
  DocWrite,   ///< write-: the same
  Lease,      ///< lease-: a semaphore's; Curator's InterProcessSemaphoreV2, zksh
  Session,    ///< x-SESSION-: zoo_lock.c and Java's WriteLock: exclusive
  Unknown,    ///< any other sequential node: assumed to be exclusive, to be safe
};

/// The library that a contender's name indicates.
enum class Library { Zksh, Curator, Kazoo, Go, CLock, JavaWriteLock, Documentation, Unknown };

/// A parsed name. A queue of a thousand is read again at each turn, so the text is stored once, and
/// its parts are offsets.
struct LockName {
  std::string text;  ///< the whole name
  ContenderTag tag = ContenderTag::Unknown;
  std::int32_t sequence = 0;
  std::size_t prefix_size = 0;
  std::size_t key_begin = 0;
  std::size_t key_size = 0;

  /// The part before the tag. Valid as long as the name.
  std::string_view prefix() const { return std::string_view(text).substr(0, prefix_size); }
  /// What all nodes of a contender share: its guid, or the whole name if it has none. Valid as long
  /// as the name.
  std::string_view key() const { return std::string_view(text).substr(key_begin, key_size); }
  LockMode mode() const;
  Library made_by() const;  ///< which uses such names
};

/// The number that servers use when the counter is exhausted (3.6 and later stay there).
inline constexpr std::int32_t last_sequence = INT32_MAX;
/// From here on, users are warned that the end is near.
inline constexpr std::int32_t late_sequence = 2'000'000'000;

/// nullopt if the name does not end in a sequence number, and so is no contender's. The number has
/// Java's format %010d: ten digits, or a minus sign and nine or ten.
std::optional<LockName> parse_lock_name(std::string_view name);
/// The same, but moves the text if it is a contender's name.
std::optional<LockName> take_lock_name(std::string&& name);
/// Only the sequence number, which is cheaper.
std::optional<std::int32_t> lock_sequence(std::string_view name);

/// "Curator", "kazoo", … for the user.
std::string_view library_name(Library library);

/// Whose names to use: those that only some libraries recognise, or all at once.
enum class Compat {
  Curator,  ///< _c_GUID-lock-, _c_GUID-__READ__, _c_GUID-__WRIT__
  Kazoo,    ///< HEX__lock__, HEX__rlock__
  All,      ///< three nodes with one guid, so that each library sees its own
};

inline constexpr NamedValues<Compat, 3> compat_names{
    {{"curator", Compat::Curator}, {"kazoo", Compat::Kazoo}, {"all", Compat::All}}};

/// Whether it is 32 hexadecimal digits, like kazoo's guids and the names of its semaphore's leases.
bool is_hex32(std::string_view text);
/// A random UUID (version 4), 36 characters in lower case. With `joins_many`, it has version 8,
/// which RFC 9562 leaves to applications: its name tells others that the contender has joined
/// several queues in one transaction. Throws Error if the system provides no random numbers.
std::string fresh_guid(bool joins_many = false);
/// Whether the guid shows that the contender has joined several queues at once.
bool joins_many(const LockName& name);

/// The prefixes of a contender's sequential nodes, in the order in which a transaction creates
/// them. `read_write`: for a read/write lock, not a plain mutex.
std::vector<std::string> contender_prefixes(Compat compat, LockMode mode, bool read_write,
                                            std::string_view guid);

}  // namespace zksh
