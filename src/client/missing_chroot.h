// MissingChroot: saying that a node is missing because the chroot of the session is.
#pragma once

#include "client/client.h"
#include "client/zk_error.h"

#include <stop_token>
#include <string>

namespace zksh {

/// One asks for the errors of one source of commands; used on one thread.
class MissingChroot {
 public:
  /// The error, and where the chroot in the connect string does not exist, that and how to make it.
  /// Asks the servers at most until the chroot has been there once. Blocks; throws Cancelled.
  ZkError explained(Client& client, const ZkError& error, const std::stop_token& stop);

 private:
  std::string present_;  ///< the connect string whose chroot was there
};

}  // namespace zksh
