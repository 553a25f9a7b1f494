// MissingChroot: explains NoNode errors that are due to a missing chroot.
#include "client/missing_chroot.h"

#include "base/text.h"
#include "base/words.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace zksh {
namespace {

/// The connect string that was meant, if its chroot follows each server instead of the last one:
/// "a,b/ch" for "a/ch,b/ch". nullopt if there is no second one.
std::optional<std::string> with_one_chroot(const std::string& server) {
  if (server.find(',', server.find('/')) == std::string::npos) return std::nullopt;
  std::string servers;
  std::string_view chroot;
  for (const auto part : split(server, ',')) {
    const auto slash = part.find('/');
    if (!servers.empty()) servers += ',';
    servers += part.substr(0, slash);
    if (slash == std::string_view::npos) continue;
    if (!chroot.empty() && chroot != part.substr(slash)) return std::nullopt;
    chroot = part.substr(slash);
  }
  return servers + std::string(chroot);
}

}  // namespace

ZkError MissingChroot::explained(Client& client, const ZkError& error,
                                 const std::stop_token& stop) {
  const auto server = client.server();
  const auto slash = server.find('/');
  const auto chroot = slash == std::string::npos ? "" : server.substr(slash);
  if (error.code() != code::no_node || chroot.size() < 2 || server == present_) return error;
  const int found = client.await(client.start_exists("/", Watch::none()), stop).code;
  if (found == code::ok) present_ = server;
  if (found != code::no_node) return error;
  if (const auto meant = with_one_chroot(server))
    return {error, fmt::format(" (the chroot {} of the connect string does not exist; a chroot "
                               "stands once, after the last server: `zksh -s {}`)",
                               chroot, as_word(*meant))};
  return {error, fmt::format(" (the chroot {} of the connect string does not exist; `zksh -s {} "
                             "create -p {}` creates it)",
                             chroot, server.substr(0, slash), as_word(chroot))};
}

}  // namespace zksh
