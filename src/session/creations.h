// Creations: the zxids of a session's creations, taken from the headers of answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace zksh {

/// Provides a new node's czxid, which is its lock's fencing token, without another request. The
/// answers of create and of transactions have only the path; create2, which ZooKeeper 3.4 does not
/// support, has the Stat. But each answer's header has the last zxid that the server had applied,
/// and servers apply transactions one by one: FinalRequestProcessor applies a transaction and
/// writes its answer before it takes the next (3.4.13, 3.8, 3.9; CommitProcessor has other threads
/// for reads only; ClickHouse Keeper writes the request's own zxid). So the zxid in the answer to a
/// creation is that of the creation. The C client does not expose it, but WireConversation sees it,
/// and the call's completion gets it from here by path; answers reach both in the same order.
class Creations {
 public:
  /// Records an answered creation; for a transaction, its first node. `path` is the server's,
  /// including the chroot. Called on the connection's thread before the C client gets the answer.
  void answered(std::string_view path, std::int64_t zxid);
  /// Returns the zxid that created this node, and forgets it and earlier ones; 0 if it is not
  /// known.
  std::int64_t take(std::string_view path);

 private:
  struct Creation {
    std::string path;
    std::int64_t zxid = 0;
  };
  /// Limits what remains of calls that are never completed, such as those of a closed handle.
  static constexpr std::size_t longest = 10000;

  std::mutex mutex_;
  std::deque<Creation> creations_;
};

/// The Creations of the session with this id, shared by all callers as long as one of them keeps
/// it.
std::shared_ptr<Creations> creations_of(std::int64_t session);

}  // namespace zksh
