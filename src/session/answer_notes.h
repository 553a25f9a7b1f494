// AnswerNotes: what zksh needs from a session's answers and the C client does not pass on: the
// zxids of creations, and the content of large answers.
#pragma once

#include "base/name_list.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace zksh {

/// The content of an answer that is too large to copy.
///
/// The C client keeps the whole frame while it copies a value out of it, and copies the names of a
/// list one by one into blocks of 32 bytes or more. So a large answer takes three to five times its
/// size, and zksh's own copy comes on top. Instead, the content is moved out of the frame page by
/// page before the C client sees it, and the C client gets an answer without content.
struct LargeAnswer {
  std::string value{};
  NameList names{};
  std::int64_t mzxid = 0;        ///< the Stat's; the number of this answer stands in its place
  std::int32_t data_length = 0;  ///< the Stat's; `moved` stands in its place
  /// A dataLength that no server may send: the content is in AnswerNotes.
  static constexpr std::int32_t moved = -1;
};

/// Filled on the connection's thread before the C client gets the answer. Answers reach this object
/// and the completions of their calls in the same order.
///
/// Provides a new node's czxid, which is its lock's fencing token, without another request. The
/// answers of create and of transactions have only the path; create2, which ZooKeeper 3.4 does not
/// support, has the Stat. But each answer's header has the last zxid that the server had applied,
/// and servers apply transactions one by one: FinalRequestProcessor applies a transaction and
/// writes its answer before it takes the next (3.4.13, 3.8, 3.9; CommitProcessor has other threads
/// for reads only; ClickHouse Keeper writes the request's own zxid). So the zxid in the answer to a
/// creation is that of the creation. The C client does not expose it, but WireConversation sees it.
class AnswerNotes {
 public:
  /// Records an answered creation; for a transaction, its first node. `path` is the server's,
  /// including the chroot.
  void note_creation(std::string_view path, std::int64_t zxid);
  /// Returns the zxid that created this node, and forgets it and earlier ones; 0 if it is not
  /// known.
  std::int64_t take_creation(std::string_view path);

  /// Keeps an answer until it is taken by the returned number, which this process never uses again.
  std::int64_t keep(LargeAnswer answer);
  std::optional<LargeAnswer> take_answer(std::int64_t number);

 private:
  struct Creation {
    std::string path;
    std::int64_t zxid = 0;
  };
  /// Limits what remains of calls that are never completed, such as those of a closed handle.
  static constexpr std::size_t most_creations = 10000;

  std::mutex mutex_;
  std::deque<Creation> creations_;
  std::unordered_map<std::int64_t, LargeAnswer> answers_;
};

}  // namespace zksh
