// QuotaPlace: where the quotas of the nodes that a client sees are kept.
#pragma once

#include "client/client.h"

#include <memory>
#include <stop_token>
#include <string>

namespace zksh {

/// Quotas are kept in /zookeeper/quota, under the paths without any chroot. Through a chroot they
/// are out of reach: then this opens a session of its own, without the chroot and with the same
/// credentials, and closes it when it is destroyed. Used on one thread.
class QuotaPlace {
 public:
  /// `client` must outlive this. Blocks; throws ZkError, Cancelled.
  QuotaPlace(Client& client, const std::stop_token& stop);

  /// For the nodes in /zookeeper/quota.
  Client& client() const { return own_ ? *own_ : seen_; }
  /// The path of a node without the chroot.
  std::string whole(const std::string& path) const;
  /// The inverse: the path through the chroot; of a node outside it the whole path, with a remark.
  std::string seen(const std::string& whole) const;
  /// Call before writes. Throws ZkError{lock_lost} if this shell has lost a lock that guards its
  /// writes, which those of another session would not notice. Blocks; throws ZkError, Cancelled.
  void check_guards(const std::stop_token& stop) const;
  /// The error; if a permission is missing outside the chroot, says so.
  ZkError explained(const ZkError& error) const;

 private:
  Client& seen_;
  std::string chroot_;
  std::unique_ptr<Client> own_;
};

}  // namespace zksh
