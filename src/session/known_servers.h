// KnownServers: which servers know the operations that came with ZooKeeper 3.5.
#pragma once

#include "base/monitor.h"

#include <map>
#include <optional>
#include <string>

namespace zksh {

/// What this process has learnt of servers, by their addresses; all its sessions share it.
///
/// create2, containers, nodes with a TTL, reconfig and removeWatches came with 3.5. A server of 3.4
/// ends the connection at such a request, and so does ClickHouse Keeper, some without an answer:
/// what was on its way is lost, and locks are in doubt. So none is sent to a server of which
/// nothing is known. What a server says of its version proves little (Debian's 3.9.3 once called
/// itself 3.8.0), and four-letter words may be forbidden. But from 3.5 on there is a node
/// /zookeeper/config, in 3.4 and in Keeper there is not, and every server answers a read of it.
/// That read goes before the first such request, and is answered before it would be. Other
/// creations do not need it: they are plain ones, and their czxid is known (Creations).
class KnownServers {
 public:
  /// No value: nothing has been learnt.
  std::optional<bool> is_newer(const Monitor::Held& /*held*/, const std::string& address) const {
    const auto found = newer_.find(address);
    return found == newer_.end() ? std::nullopt : std::optional(found->second);
  }
  void learn(const Monitor::Held& /*held*/, const std::string& address, bool newer) {
    if (!address.empty()) newer_[address] = newer;
  }

 private:
  std::map<std::string, bool> newer_;
};

}  // namespace zksh
