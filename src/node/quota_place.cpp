// QuotaPlace: where the quotas of the nodes that a client sees are kept.
#include "node/quota_place.h"

#include "client/connect_string.h"

namespace zksh {

QuotaPlace::QuotaPlace(Client& client, const std::stop_token& stop) : seen_(client) {
  const auto server = client.server();
  chroot_ = parse_connect_string(server).chroot;
  if (chroot_.empty()) return;
  // What opens the other session, if need be, finds the reason why there is none.
  client.await_connection("", stop);
  own_ = client.another();
  own_->open(server.substr(0, server.find('/')));
  own_->await_connection("", stop);
  for (const auto& [scheme, secret] : client.credentials())
    if (const auto outcome = own_->await(own_->start_add_auth(scheme, secret), stop);
        outcome.code != code::ok)
      throw ZkError(outcome.code, "");
}

std::string QuotaPlace::whole(const std::string& path) const {
  return chroot_.empty() ? path : chroot_ + (path == "/" ? "" : path);
}

std::string QuotaPlace::seen(const std::string& whole) const {
  if (chroot_.empty()) return whole;
  if (whole == chroot_) return "/";
  return whole.starts_with(chroot_ + '/') ? whole.substr(chroot_.size())
                                          : whole + " (outside the chroot)";
}

void QuotaPlace::check_guards(const std::stop_token& stop) const {
  if (own_) seen_.multi({CheckOp{.path = "/"}}, stop);
}

ZkError QuotaPlace::explained(const ZkError& error) const {
  if (!own_ || error.code() != code::no_auth) return error;
  return {error, " (which is outside the chroot: quotas are kept under the whole path)"};
}

}  // namespace zksh
