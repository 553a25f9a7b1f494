// JointReads: a Client whose reads are all answered as of one moment.
#pragma once

#include "client/forwarding_client.h"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// Collects reads of values and lists of children, until `read` has the server answer all of them
/// with one request, between two transactions. Afterwards it forwards to the inner client.
class JointReads final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;

  // Throw ValueError if the read cannot be collected: it sets a watch, or is one of many.
  Pending<Node> start_get(const std::string& path, const Watch& watch) override;
  Pending<Children> start_children(const std::string& path, const Watch& watch) override;
  Reads start_reads(const std::vector<ReadOp>& ops) override;

  /// The number of reads that were collected.
  std::size_t size() const { return ops_.size(); }
  /// Has the server answer them. Blocks until it has, also across lost connections. Throws ZkError,
  /// Cancelled, and Error if the server cannot (before 3.6), or the answer would be too large.
  void read(const std::stop_token& stop);

 private:
  void refuse_large(const std::stop_token& stop);
  template <class T, class Take>
  Pending<T> collect(ReadOp op, const Watch& watch, Take take);

  std::vector<ReadOp> ops_;
  /// Under the monitor, shared with the answers; empty until `read` has got them.
  std::shared_ptr<std::vector<ReadResult>> results_ = std::make_shared<std::vector<ReadResult>>();
  bool is_read_ = false;
};

}  // namespace zksh
