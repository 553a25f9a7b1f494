// Newer requests: those of ZooKeeper 3.6 and later, which the C client cannot make.
//
// A server that does not know a request answers -6 (unimplemented), and closes the connection: each
// needs a server of the version given here. Source of the formats: zookeeper.jute,
// MultiOperationRecord and MultiResponse of ZooKeeper 3.9.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The numbers of zksh's own requests, by which their answers are known. The C client counts up
/// from the present time; the protocol's own are small negative ones.
constexpr std::int32_t first_own_xid = INT32_MIN;
inline bool is_own_xid(std::int32_t xid) { return xid < INT32_MIN / 2; }

/// multiRead (3.6): reads that succeed or fail each by itself.
namespace multi_read {
/// The bytes that a read adds to the request.
std::size_t size_of(const ReadOp& op);
/// The body of a request for these reads, of nodes below `chroot`.
std::string request(const std::string& chroot, const std::vector<ReadOp>& ops);
/// The results in a valid answer, behind its header.
std::vector<ReadResult> results(std::string_view answer, const std::vector<ReadOp>& ops);
}  // namespace multi_read

/// The body of a request with a path alone, of a node below `chroot`.
std::string path_request(const std::string& chroot, const std::string& path);

/// The body of addWatch (3.6), of a node below `chroot`.
std::string add_watch_request(const std::string& chroot, const std::string& path, WatchMode mode);
/// The body of removeWatches (3.5) for all watches of the session on exactly this node.
std::string remove_watches_request(const std::string& chroot, const std::string& path);
/// The body of a read of a node's children that sets a one-shot watch.
std::string watching_request(const std::string& chroot, const std::string& path);

// The results in valid answers, behind their headers.
/// getEphemerals; only those below `chroot`, without it.
std::vector<std::string> ephemerals_in(std::string_view answer, const std::string& chroot);
/// getAllChildrenNumber.
std::int64_t number_in(std::string_view answer);
/// whoAmI.
std::vector<Identity> identities_in(std::string_view answer);

}  // namespace zksh
