// MissingChroot: explains NoNode errors that are due to a missing chroot.
#include "client/missing_chroot.h"

#include "base/quoting.h"

#include <fmt/format.h>

namespace zksh {

ZkError MissingChroot::explained(Client& client, const ZkError& error,
                                 const std::stop_token& stop) {
  const auto server = client.server();
  const auto slash = server.find('/');
  const auto chroot = slash == std::string::npos ? "" : server.substr(slash);
  if (error.code() != code::no_node || chroot.size() < 2 || server == present_) return error;
  const int found = client.await(client.start_exists("/", Watch::none()), stop).code;
  if (found == code::ok) present_ = server;
  if (found != code::no_node) return error;
  return {error, fmt::format(" (the chroot {} of the connect string does not exist; `zksh -s {} "
                             "create -p {}` creates it)",
                             chroot, server.substr(0, slash), as_word(chroot))};
}

}  // namespace zksh
