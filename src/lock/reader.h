// LockReader: reads a lock's queue, once or after each change.
#pragma once

#include "client/nodes.h"
#include "client/watch.h"
#include "lock/view.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

class Client;

/// Reads the list of children, and each contender's data with many requests in flight; skips
/// contenders that vanish meanwhile. With watches, only what has changed is read again, and no
/// change is missed: every list and value has a watch that was set by the read which returned it.
/// Used on one thread.
class LockReader {
 public:
  LockReader(Client& client, std::string path, bool watch);
  LockReader(const LockReader&) = delete;
  LockReader& operator=(const LockReader&) = delete;
  /// Removes its watches.
  ~LockReader();

  /// Returns nullopt if there is no such node; its creation is watched. Blocks. Throws ZkError,
  /// Cancelled; with watches, waits out a lost connection or session.
  std::optional<QueueReading> read(const std::stop_token& stop);
  /// Blocks until `read` may return something new; false at the deadline. Only with watches. Throws
  /// Cancelled.
  bool await_change(const std::stop_token& stop,
                    Clock::time_point deadline = Clock::time_point::max());

  /// The number of data watches that servers have for this reader.
  std::size_t watches() const;
  /// The watch events that servers have sent to this reader.
  ServersAccount::Events events();

 private:
  /// A node whose children are contenders or leases.
  struct Directory {
    std::string path;
    bool listed = false;  ///< its names and Stat are current, or an event is on its way
    Pending<Children> asked{};
    QueueNodes children{};
    std::set<std::string> known{};  ///< names of entries that are current
  };

  int try_read(std::optional<QueueReading>& reading, const std::stop_token& stop);
  void ask(Directory& directory);
  int list(Directory& directory, const std::stop_token& stop);
  int fetch(Directory& directory, const std::stop_token& stop);
  int await_creation(const std::stop_token& stop);
  void take_events();
  void connect(const std::stop_token& stop);
  Watch watch() const { return watch_ ? Watch::into(mailbox_) : Watch::none(); }

  Client& client_;
  bool watch_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  std::int64_t session_ = 0;  ///< the watches' session
  Directory top_;
  Directory locks_;
  Directory leases_;
  ServersAccount::Events events_;
};

}  // namespace zksh
