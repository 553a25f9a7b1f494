// TreeQuota: the quotas of a subtree's nodes, as limits.
#pragma once

#include "tree/tree_record.h"

#include <map>
#include <stop_token>
#include <string>

namespace zksh {

/// The limits by the record's path. Quotas are few: all are kept in memory. Empty where they cannot
/// be seen, as through a chroot. Blocks; throws ZkError, Cancelled.
std::map<std::string, QuotaLimits> limits_below(Client& client, const std::string& top,
                                                const std::stop_token& stop);

/// Makes the quota of the node at an absolute path so; no_limits: removes it. As setquota, without
/// a look at quotas above and below. Blocks; throws ZkError, Cancelled, and Error through a chroot,
/// where no quota counts.
void set_limits(Client& client, const std::string& path, const QuotaLimits& limits,
                const std::stop_token& stop);

}  // namespace zksh
