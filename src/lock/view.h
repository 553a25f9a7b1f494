// LockView: a lock's queue, interpreted: who holds it, and who waits for whom.
#pragma once

#include "base/json.h"
#include "ensemble/server_poller.h"
#include "recipes/lock_queue.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A circle of sessions that wait for each other at locks.
struct Deadlock {
  /// A session waits at a lock for the session of the next link; the last one waits for the first.
  struct Link {
    std::int64_t session = 0;
    std::string path;   ///< where it waits
    bool held = false;  ///< the next session holds the lock; otherwise it is ahead in the queue
    bool operator==(const Link&) const = default;
  };
  std::vector<Link> links;  ///< two or more
  bool operator==(const Deadlock&) const = default;
};

/// For the session of the first link: "deadlock: its holder waits for /z, whose holder waits for
/// /x, which this shell holds".
std::string own_deadlock_text(const Deadlock& deadlock);
/// "deadlock: 0x1 waits at /x for 0x2, which waits at /y for 0x1".
std::string deadlock_text(const Deadlock& deadlock);
/// The help of `locks` describes the fields.
Json deadlock_json(const Deadlock& deadlock);

inline constexpr std::size_t longest_owner = 4096;
/// Cuts owner data to that many bytes, or less to avoid cutting a character: they are for people,
/// but can be a megabyte.
Data owner_beginning(Data data);

/// A contender's node, or a lease.
struct QueueNode {
  Data data{};  ///< see owner_beginning
  Stat stat{};
  bool readable = true;  ///< false: its data may not be read, but its Stat is known
  Data before{};         ///< the data before its release was requested, if seen
};

/// The children of a node.
struct QueueNodes {
  std::vector<std::string> names{};            ///< of all, contenders and others
  std::map<std::string, QueueNode> entries{};  ///< at least of each contender's first node
  Stat stat{};                                 ///< the parent's, which has the sequence counter
};

/// What was read about a lock.
struct QueueReading {
  std::string path;
  QueueNodes queue{};
  /// Only for a semaphore in Curator's layout: contenders queue up at PATH/locks for the right to
  /// take a lease at PATH/leases.
  std::optional<QueueNodes> leases{};
  std::optional<std::int64_t> limit{};  ///< for a semaphore, from PATH's data
};

enum class SeatState {
  Holds,
  Waits,
  Next,     ///< for a semaphore: first in the queue, waiting for a lease
  MayHold,  ///< should wait, but its library does not see whom to wait for
};

/// A contender, or the holder of a lease.
struct Seat {
  std::size_t number = 0;  ///< its place, from 1
  Contender contender{};
  bool lease = false;
  SeatState state = SeatState::Waits;
  Library made_by = Library::Unknown;
  Data owner{};                   ///< its first node's data, cut if long
  std::int32_t owner_length = 0;  ///< its full length in bytes
  bool readable = true;           ///< false: its data may not be read
  std::int64_t session = 0;
  std::int64_t created = 0;         ///< milliseconds since 1970, by the server's clock
  std::int64_t token = 0;           ///< fencing token: czxid
  std::string address{};            ///< the client's, as its server sees it; empty: not known
  std::optional<bool> connected{};  ///< to a server of the connect string; nullopt: not known
  std::optional<bool> alive{};      ///< its session; nullopt: not known
  std::string expires{};            ///< its session, as ServersAccount::expiries
  bool asked_to_release = false;    ///< by `revoke`, or Curator's Revoker, which replaces its data
  std::optional<std::size_t> waits_for{};  ///< a seat's number, by the recipe's rules
  /// The number of the seat that it watches; if that is not measured, the one it should watch.
  std::optional<std::size_t> watches{};
  bool watch_unknown = false;             ///< measured, but not by the server of this client
  std::vector<std::size_t> watched_by{};  ///< seats' numbers
  std::size_t other_watchers = 0;         ///< sessions without a seat; only if measured

  /// Whether it waits, but watches none of the contenders' nodes, as far as servers report.
  bool watches_no_node() const { return state == SeatState::Waits && !watches && !watch_unknown; }
  /// Whom it is drawn behind.
  std::optional<std::size_t> behind() const { return watch_unknown ? waits_for : watches; }
};

struct LockView {
  /// What a viewer has seen since it started.
  struct Changes {
    std::int64_t since = 0;  ///< milliseconds since 1970
    std::size_t left = 0;    ///< contenders that have left
    /// Watch events for changed nodes and lists of children, without the viewer's own. They are for
    /// all nodes: servers do not count them separately.
    std::optional<ServersAccount::Events> events{};
  };

  std::string path;
  /// "exclusive", "read/write", "semaphore", or "free" if nobody is there and the kind is thus not
  /// known.
  std::string kind;
  std::vector<Seat> seats;          ///< leases first, then the queue, in order
  std::vector<std::string> others;  ///< children that are not contenders
  std::vector<std::string> flaws;   ///< sentences: why exclusion may fail here
  std::vector<Deadlock> deadlocks;  ///< deadlocks that involve a waiter here, if searched for
  std::int64_t counter = 0;
  std::optional<std::int64_t> limit{};  ///< for a semaphore
  bool measured = false;  ///< watches and watched_by come from the servers, not from the rules
  ServersAccount account{};
  std::optional<Changes> changes{};  ///< if it is looked at repeatedly
};

/// Combines what was read with the servers' account. `chroot` is the session's, since servers
/// report full paths. Watches of `own_session` are those of this viewer, and are left out; 0: it
/// has none.
LockView make_lock_view(const QueueReading& reading, ServersAccount account = {},
                        std::string_view chroot = {}, std::int64_t own_session = 0);

/// The parent of this contender's nodes, or of the lease.
std::string parent_of(const LockView& view, const Seat& seat);
/// How many leases of a semaphore are taken; a holder may have several.
std::size_t leases_taken(const LockView& view);
/// The absolute path of its first node.
std::string node_of(const LockView& view, const Seat& seat);

/// What was read of its first node.
QueueNode& entry_of(QueueReading& reading, const Seat& seat);

/// A semaphore's number of leases in its node's data, which Curator does not use; nullopt if the
/// data are something else.
std::optional<std::int64_t> semaphore_limit(const Data& data);

/// Whether data are a release request by `revoke` or another library: a word, and for zksh's
/// contenders, who asks.
bool is_release_request(const Data& data);
/// What zksh's `revoke` writes: the word, who asks, and on a second line whose node it was, so that
/// the owner keeps its name.
std::string release_request(const std::string& word, const std::string& asker, const Data& owner);
/// The owner's data before the request, if that is zksh's; else nullopt.
Data owner_before_request(const Data& request);
/// Whether a contender's data were written by zksh.
bool is_zksh_owner(const Data& data);
/// A contender's data, shortened for people: zksh's as "ops@db1 4711 nightly.sh", others unchanged.
/// May contain any bytes.
std::string short_owner(const Data& data);
/// "excl", "read", "write", or "lease".
std::string_view seat_mode(const Seat& seat);

}  // namespace zksh
