// Revocation: asks the holder of a lock to release it.
#pragma once

#include "command/command.h"

#include <chrono>
#include <string>

namespace zksh {

struct RevocationRequest {
  /// Written to the node: Curator's word, or "unlock"; for zksh's contenders, followed by who asks.
  std::string word = "__REVOKE__";
  /// How long to wait for the node to go; 0: do not wait.
  std::chrono::milliseconds patience{};
  bool force = false;      ///< delete the node after that
  bool node_only = false;  ///< fail if the path is not a contender's node
};

/// Asks the holder of the lock at `path`, or the contender with that node, to release it, by
/// writing the word to its node unless somebody else has written there. Blocks. Returns the exit
/// status: 0 if asked (and, with patience, released), 1 if not released in time. Throws Error.
/// Source: Curator's Revoker; ZooKeeper's recipe "Revocable Shared Locks".
int ask_holder(Context& cx, const std::string& path, const RevocationRequest& request);

}  // namespace zksh
