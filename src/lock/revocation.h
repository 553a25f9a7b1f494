// Revocation: asking the holder of a lock to give it back.
#pragma once

#include "command/command.h"

#include <chrono>
#include <string>

namespace zksh {

struct RevocationWish {
  /// Written into the node: Curator's word, or "unlock"; for a contender of zksh's, who asks behind
  /// it.
  std::string word = "__REVOKE__";
  /// How long the node's end is waited for; 0: not at all.
  std::chrono::milliseconds patience{};
  bool force = false;      ///< after that the node is deleted
  bool node_only = false;  ///< a path that is not a contender's node is an error
};

/// Asks the holder of the lock at `path`, or the contender whose node it is, to release: writes the
/// word into its node, if nobody has written there meanwhile. Blocks. Returns the exit status: 0
/// asked (and, with patience, released), 1 not released in time. Throws Error.
/// Source: Curator's Revoker; ZooKeeper's recipe "Revocable Shared Locks".
int ask_holder(Context& cx, const std::string& path, const RevocationWish& wish);

}  // namespace zksh
