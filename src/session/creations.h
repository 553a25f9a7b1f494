// Creations: by which transactions a session's nodes were created, as the headers of the answers
// say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace zksh {

/// A node's czxid, which is its lock's fencing token, without asking for it: create and a
/// transaction answer with the path alone, create2, which ZooKeeper 3.4 does not know, with the
/// Stat. But each answer's header says which transaction the server had applied last when it
/// answered, and servers apply one after the other: FinalRequestProcessor applies the transaction,
/// and writes the answer before it takes the next one (3.4.13, 3.8, 3.9; CommitProcessor has other
/// threads for reads only; ClickHouse Keeper writes the request's own). So in the answer to a
/// creation it is the creation. The C client keeps it to itself; WireConversation sees it, and the
/// completion of the call takes it from here, by the path: answers come in the same order to both.
class Creations {
 public:
  /// A creation was answered; of a transaction's nodes the first. `path` is the server's, with the
  /// chroot. On the thread of the connection, before the C client is given the answer.
  void answered(std::string_view path, std::int64_t zxid);
  /// The transaction that created this node, and forgets it and those before it; 0: not known.
  std::int64_t take(std::string_view path);

 private:
  struct Creation {
    std::string path;
    std::int64_t zxid = 0;
  };
  /// Of calls that nobody completes, as those of a handle that was closed.
  static constexpr std::size_t longest = 10000;

  std::mutex mutex_;
  std::deque<Creation> creations_;
};

/// Those of the session with this id, the same for all who ask while one of them has them.
std::shared_ptr<Creations> creations_of(std::int64_t session);

}  // namespace zksh
