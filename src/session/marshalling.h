// Marshalling: reads what servers answer, says what is wrong with it, and writes the requests of
// ZooKeeper 3.6 and later, which the C client cannot make.
//
// A server that does not know such a request answers -6 (unimplemented), and closes the connection:
// each needs a server of the version given here. Source of the formats: zookeeper.jute,
// ZooDefs.OpCode, MultiOperationRecord and MultiResponse of ZooKeeper 3.9.
#pragma once

#include "base/jute.h"
#include "client/nodes.h"
#include "client/watch.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The codes of the operations, in requests and in the parts of transactions.
namespace operation {
constexpr std::int32_t create = 1;
constexpr std::int32_t remove = 2;
constexpr std::int32_t exists = 3;
constexpr std::int32_t get = 4;
constexpr std::int32_t set = 5;
constexpr std::int32_t get_acl = 6;
constexpr std::int32_t set_acl = 7;
constexpr std::int32_t children = 8;
constexpr std::int32_t sync = 9;
constexpr std::int32_t children_and_stat = 12;
constexpr std::int32_t check = 13;
constexpr std::int32_t multi = 14;
constexpr std::int32_t create_and_stat = 15;
constexpr std::int32_t reconfigure = 16;
constexpr std::int32_t remove_watches = 18;
constexpr std::int32_t create_container = 19;
constexpr std::int32_t create_ttl = 21;
constexpr std::int32_t multi_read = 22;
constexpr std::int32_t set_watches = 101;
constexpr std::int32_t sasl = 102;
constexpr std::int32_t get_ephemerals = 103;
constexpr std::int32_t count_descendants = 104;  ///< getAllChildrenNumber
constexpr std::int32_t add_watch = 106;
constexpr std::int32_t who_am_i = 107;
constexpr std::int32_t ping = 11;
constexpr std::int32_t close = -11;
constexpr std::int32_t failed = -1;
}  // namespace operation

/// As JuteReader, but stricter: texts and lists are never null.
class AnswerReader {
 public:
  static constexpr const char* cut_off = "a truncated answer";

  explicit AnswerReader(std::string_view frame) : from_(frame) {}

  bool broken() const { return from_.failed(); }
  /// What is wrong with the answer; null if nothing.
  const char* flaw() const { return broken() ? flaw_ : nullptr; }
  std::string_view rest() const { return from_.rest(); }

  void refuse(const char* flaw) {
    if (broken()) return;
    from_.fail();
    flaw_ = flaw;
  }
  void skip(std::size_t size) { from_.take(size); }
  std::int32_t number() { return from_.integer(); }
  std::int64_t long_number() { return from_.long_integer(); }
  bool flag() { return from_.boolean(); }
  std::string_view text() {
    const auto text = from_.buffer();
    if (!text) from_.fail();
    return text.value_or(std::string_view());
  }
  /// Like text, or null.
  std::optional<std::string_view> data() { return from_.buffer(); }
  Stat stat() {
    return {.czxid = long_number(),  // in this order
            .mzxid = long_number(),
            .ctime = long_number(),
            .mtime = long_number(),
            .version = number(),
            .cversion = number(),
            .aversion = number(),
            .ephemeral_owner = long_number(),
            .data_length = number(),
            .num_children = number(),
            .pzxid = long_number()};
  }
  template <class Each>
  void list(Each&& each) {
    const auto count = number();
    if (count < 0 || static_cast<std::size_t>(count) > rest().size()) from_.fail();
    for (std::int32_t i = 0; i < count && !broken(); ++i) each();
  }
  /// Node names, each passed to `take`.
  template <class Take>
  void names(Take&& take) {
    list([&] {
      const auto name = text();
      // Two searches of one character, which are faster than find_first_of.
      const auto contains = [name](char excluded) {
        return name.find(excluded) != std::string_view::npos;
      };
      if (name.empty() || contains('/') || contains('\0'))
        refuse("an answer with an invalid node name");
      take(name);
    });
  }
  void acl() {
    list([this] {
      number();
      text();
      text();
    });
  }

 private:
  JuteReader from_;
  const char* flaw_ = cut_off;
};

/// A request, without its length.
inline std::string request_frame(std::int32_t xid, std::int32_t asked, std::string_view body = {}) {
  std::string frame(8, '\0');
  put_number(frame.data(), xid, 4);
  put_number(frame.data() + 4, asked, 4);
  return frame.append(body);
}

/// The numbers of all requests, the C client's and zksh's own: no two that are unanswered have the
/// same. Positive, since negative ones are the protocol's. `count` is how many there have been.
inline std::int32_t next_xid(std::atomic<std::uint32_t>& count) {
  std::uint32_t number = 0;
  while (number == 0) number = ++count & static_cast<std::uint32_t>(INT32_MAX);
  return static_cast<std::int32_t>(number);
}

/// multiRead (3.6): reads, each of which succeeds or fails independently.
namespace multi_read {
/// The bytes that a read adds to the request.
std::size_t size_of(const ReadOp& op);
/// The body of a request for these reads, of nodes below `chroot`.
std::string request(const std::string& chroot, const std::vector<ReadOp>& ops);
/// The results in a valid answer, after its header.
std::vector<ReadResult> results(std::string_view answer, const std::vector<ReadOp>& ops);
}  // namespace multi_read

/// The body of a request that consists of a path alone, that of a node below `chroot`.
std::string path_request(const std::string& chroot, const std::string& path);

/// The body of addWatch (3.6), of a node below `chroot`.
std::string add_watch_request(const std::string& chroot, const std::string& path, WatchMode mode);
/// The body of removeWatches (3.5) for all watches of the session on exactly this node.
std::string remove_watches_request(const std::string& chroot, const std::string& path);
/// The body of a read of a node's children that sets a one-shot watch.
std::string watching_request(const std::string& chroot, const std::string& path);

/// The C client sets all watches again with one request after a lost connection. If this is a
/// request, without its length, that is too large for servers (jute.maxbuffer, 1 MiB by default):
/// several that do the same, each of less than 128 kB, as Java's client splits it
/// (SET_WATCHES_MAX_LENGTH in ClientCnxn.java); else empty.
std::vector<std::string> split_watches(std::string_view request);

// The results in valid answers, after their headers.
/// getEphemerals; only those below `chroot`, without it.
std::vector<std::string> ephemerals_in(std::string_view answer, const std::string& chroot);
/// getAllChildrenNumber.
std::int64_t number_in(std::string_view answer);
/// whoAmI.
std::vector<Identity> identities_in(std::string_view answer);

}  // namespace zksh
