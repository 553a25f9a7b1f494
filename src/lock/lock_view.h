// LockView: the picture of a lock: everybody in its queue, and who waits for whom.
#pragma once

#include "base/json.h"
#include "ensemble/server_poller.h"
#include "recipes/lock_queue.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct LockCircle {
  /// A session waits at a lock for the session of the next link; the last one for the first.
  struct Link {
    std::int64_t session = 0;
    std::string path;   ///< where it waits
    bool held = false;  ///< by the next one; else that is before it in the queue
    bool operator==(const Link&) const = default;
  };
  std::vector<Link> links;  ///< two or more
  bool operator==(const LockCircle&) const = default;
};

/// Of who waits at the first link: "its holder waits for /z, whose holder waits for /x, which this
/// shell holds: none of the three can go on".
std::string own_circle_text(const LockCircle& circle);
/// "circle: 0x1 waits at /x for 0x2, which waits at /y for 0x1: none of them can go on".
std::string circle_text(const LockCircle& circle);
/// The schema is in the help of `locks`.
Json circle_json(const LockCircle& circle);

/// A child of a lock's node, as it was read.
struct LockEntry {
  Data data{};  ///< see owner_beginning
  Stat stat{};
  bool readable = true;  ///< false: no permission for its data, but its Stat is told
  Data before{};         ///< the data before it was asked to release, where that was seen
};
using LockEntries = std::map<std::string, LockEntry>;

/// A contender's data can be a megabyte, and people read it: 4096 bytes are kept, or a little less
/// where they would end within a character.
Data owner_beginning(Data data);

/// What was read of a lock.
struct LockReading {
  std::string path;
  std::vector<std::string> names;  ///< of the contenders' nodes, and what else is there
  LockEntries entries;             ///< of each contender's first node at least
  Stat stat;                       ///< of the node that the contenders' numbers are counted at
  /// Of a semaphore in Curator's layout: the contenders queue up at PATH/locks for the right to
  /// take a lease at PATH/leases.
  struct Semaphore {
    std::vector<std::string> leases;  ///< names
    LockEntries entries;
    std::optional<std::int64_t> limit;  ///< as PATH's data say
  };
  std::optional<Semaphore> semaphore{};
};

enum class SeatState {
  Holds,
  Waits,
  Next,     ///< of a semaphore: waits for a lease, and nobody else is before it
  MayHold,  ///< waits by the rule, but its library does not see who is before it
};

/// One contender, or the holder of a lease.
struct LockSeat {
  std::size_t number = 0;  ///< its place, from 1
  Contender contender{};
  bool lease = false;
  SeatState state = SeatState::Waits;
  LockFamily family = LockFamily::Unknown;
  Data owner{};                   ///< its first node's data; the beginning, when it is long
  std::int32_t owner_length = 0;  ///< of all of it, in bytes
  bool readable = true;           ///< false: no permission for its data
  std::int64_t session = 0;
  std::int64_t created = 0;         ///< milliseconds since 1970, by the server's clock
  std::int64_t token = 0;           ///< fencing token: czxid
  std::string address{};            ///< the client's, as its server sees it; empty: not told
  std::optional<bool> connected{};  ///< to a server of the connect string; nothing: not told
  std::optional<bool> alive{};      ///< its session; nothing: not told
  bool asked_to_release = false;    ///< by `revoke`, or Curator's Revoker, which replaces its data
  std::optional<std::size_t> waits_for{};  ///< a seat's number
  std::vector<std::size_t> watched_by{};   ///< seats' numbers
  std::size_t other_watchers = 0;          ///< sessions without a seat; only when measured
};

struct LockView {
  std::string path;
  /// "exclusive", "read/write", "semaphore", or "free": nobody is there, so nothing tells.
  std::string kind;
  std::vector<LockSeat> seats;      ///< leases first, then the queue, in order
  std::vector<std::string> others;  ///< children that are no contenders
  std::vector<std::string> flaws;   ///< sentences: what is wrong with exclusion here
  std::vector<LockCircle>
      circles;  ///< in which somebody waits here, as far as they were looked for
  std::int64_t counter = 0;
  std::optional<std::int64_t> limit{};  ///< of a semaphore
  bool measured = false;  ///< waits_for and watched_by are the servers' account, not the rule's
  ServersAccount account{};
};

/// Makes sense of what was read and told. `chroot`: of the session, since servers tell whole paths;
/// `own_session`: its watches are those of this look, and are left out.
LockView make_lock_view(const LockReading& reading, ServersAccount account, std::string_view chroot,
                        std::int64_t own_session);

/// A semaphore's number of leases as its node's data say, which Curator leaves alone; nothing when
/// they say something else.
std::optional<std::int64_t> semaphore_limit(const Data& data);

/// Whether data are what `revoke`, or another library's, writes to a contender's node: a word, and
/// for zksh's contenders who asks.
bool is_release_request(const Data& data);
/// Whether a contender's data say that zksh wrote them.
bool is_zksh_owner(const Data& data);
/// What a contender says of itself, short, for people: zksh's data as "ops@db1 4711 nightly.sh",
/// anything else as it is. May hold whatever a znode may.
std::string short_owner(const Data& data);
/// "excl", "read", "write", or "lease".
std::string_view seat_mode(const LockSeat& seat);

}  // namespace zksh
