// MissingChroot: explains NoNode errors that are due to a missing chroot.
#pragma once

#include "client/client.h"
#include "client/zk_error.h"

#include <stop_token>
#include <string>

namespace zksh {

/// Used on one thread, for the errors of one sequence of commands.
class MissingChroot {
 public:
  /// Returns the error; if it is NoNode because the chroot of the connect string does not exist,
  /// adds that and how to create it. Asks the server until the chroot has been found once. Blocks;
  /// throws Cancelled.
  ZkError explained(Client& client, const ZkError& error, const std::stop_token& stop);

 private:
  std::string present_;  ///< the connect string whose chroot was found
};

}  // namespace zksh
