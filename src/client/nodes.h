// Nodes: what servers keep about znodes, the requests that read and write them, and their answers.
#pragma once

#include "base/monitor.h"
#include "base/name_list.h"
#include "client/zk_error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace zksh {

/// A znode's metadata, as the server keeps it. Times in milliseconds since 1970 UTC.
struct Stat {
  std::int64_t czxid = 0;
  std::int64_t mzxid = 0;
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int32_t version = 0;
  std::int32_t cversion = 0;
  std::int32_t aversion = 0;
  std::int64_t ephemeral_owner = 0;
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;
  std::int64_t pzxid = 0;
};

/// How many children have ever been created below the parent, which is the number that its next
/// sequential child gets. Servers report this counter c as cversion = 2 c - numChildren, in 32 bits
/// (DataNode.copyStat). So it never goes back, and deletions do not count.
inline std::int64_t sequence_counter(const Stat& parent) {
  const auto twice =
      static_cast<std::uint32_t>(parent.cversion) + static_cast<std::uint32_t>(parent.num_children);
  return twice / 2;
}

/// A znode's value: bytes, or null, which is not the same as empty.
using Data = std::optional<std::string>;

struct Node {
  Data data;
  Stat stat;
};

struct Children {
  NameList names;  ///< in the server's order
  Stat stat;       ///< the parent's
};

/// One of several reads.
struct ReadOp {
  enum class What {
    Value,  ///< value and Stat
    Names,  ///< names of the children; the Stat only if it costs nothing extra
    // Servers cannot batch these; the value is read, too, and dropped.
    Listing,  ///< names of the children, and Stat; may not be permitted where Stat is
    Stat,
  };
  What what = What::Value;
  std::string path;
};
/// What was read; the members that were not asked for are empty.
struct ReadResult {
  int code = code::ok;
  Data data{};
  Stat stat{};
  NameList names{};  ///< in the server's order
};

namespace perm {
inline constexpr int read = 1;
inline constexpr int write = 2;
inline constexpr int create = 4;
inline constexpr int remove = 8;
inline constexpr int admin = 16;
inline constexpr int all = 31;
}  // namespace perm

struct AclEntry {
  int perms = 0;
  std::string scheme;
  std::string id;

  bool operator==(const AclEntry&) const = default;
};
using Acl = std::vector<AclEntry>;

/// world:anyone with every permission.
inline Acl open_acl() { return {{.perms = perm::all, .scheme = "world", .id = "anyone"}}; }

struct NodeAcl {
  Acl acl;
  Stat stat;
};

/// An identity of a session, which the servers compare with the entries of ACLs.
struct Identity {
  std::string scheme;
  std::string id;  ///< for digest: user, colon and hash; never the password

  bool operator==(const Identity&) const = default;
};

/// What a session authenticates with; the secret of digest is "user:password".
struct Credential {
  std::string scheme;
  std::string secret;

  bool operator==(const Credential&) const = default;
};

enum class CreateMode { Persistent, Ephemeral, Container };

struct CreateOp {
  std::string path;
  Data data;
  Acl acl = open_acl();
  CreateMode mode = CreateMode::Persistent;
  bool sequential = false;
  std::int64_t ttl = 0;  ///< in milliseconds; 0: none. Only for persistent nodes.
};
/// Whether a transaction can create the node: neither a container nor a node with a TTL (C client
/// 3.8).
inline bool fits_multi(const CreateOp& op) {
  return op.mode != CreateMode::Container && op.ttl == 0;
}
struct RemoveOp {
  std::string path;
  std::int32_t version = -1;  ///< -1: any
};
struct SetOp {
  std::string path;
  Data data;
  std::int32_t version = -1;  ///< -1: any
};
struct CheckOp {
  std::string path;
  std::int32_t version = -1;  ///< -1: the node exists
};
using Op = std::variant<CreateOp, RemoveOp, SetOp, CheckOp>;

/// A write as the user reads it.
struct WriteDescription {
  std::string verb;  ///< create, set, delete, set the ACL of, set the quota of, reconfigure
  std::string path;
  std::string detail{};   ///< "5 bytes, ephemeral"
  std::size_t order = 0;  ///< among the writes of a command, as they were begun
};
inline const std::string& path_of(const Op& op) {
  return std::visit([](const auto& one) -> const std::string& { return one.path; }, op);
}

/// Whether it removes /, which Java's client refuses (ZooKeeper.delete), and so do servers without
/// a chroot. The C client would ask to remove the chroot's node.
inline bool removes_root(const Op& op) {
  return std::holds_alternative<RemoveOp>(op) && path_of(op) == "/";
}

struct Created {
  std::string path;  ///< with the sequence number, if any
  Stat stat;  ///< complete for containers and nodes with a TTL; else only the czxid, 0 if not known
};
struct OpResult {
  int code = code::ok;
  std::string path;  ///< of a create
  Stat stat;         ///< of a set; empty after a create: the answer of a transaction has none (C
                     ///< client 3.8)
};
struct Nothing {};

/// A change of the ensemble's members: incremental (joining, leaving) or a complete new list.
struct Reconfiguration {
  std::optional<std::string> joining{};  ///< "server.4=HOST:PORT:PORT;PORT", separated by commas
  std::optional<std::string> leaving{};  ///< server numbers, separated by commas
  std::optional<std::string> members{};  ///< in the form of `joining`; excludes the other two
  std::int64_t version = -1;             ///< required of the present configuration; -1: any
};

template <class T>
struct Outcome {
  int code = code::ok;
  T value{};
  /// What the code is about, if not the request's node: for code::lock_lost, the lock.
  std::string culprit{};
};

/// The place of an answer, which may be computed from another one.
template <class T>
class Answer {
 public:
  using Value = std::optional<Outcome<T>>;

  Answer() = default;
  /// `derive` computes the answer from others, and returns nullopt until they have arrived. It is
  /// called under the monitor, on the thread that looks for the answer.
  explicit Answer(std::function<Value(const Monitor::Held&)> derive) : derive_(std::move(derive)) {}

  /// Empty until the answer has arrived.
  Value& operator()(const Monitor::Held& held) {
    if (derive_ && !value_) value_ = derive_(held);
    return value_;
  }

 private:
  Value value_;
  std::function<Value(const Monitor::Held&)> derive_;
};

/// The future answer to a request.
template <class T>
using Pending = std::shared_ptr<Answer<T>>;

/// An answer without a request, which is only a code.
template <class T>
Pending<T> settled(int code) {
  return std::make_shared<Answer<T>>(
      [code](const Monitor::Held& /*held*/) { return Outcome<T>{.code = code}; });
}

/// The future answer to several reads.
struct Reads {
  /// The results in the order of the reads. The outcome's code is that of the whole: an error means
  /// that there are no results.
  Pending<std::vector<ReadResult>> answer;
  std::size_t requests = 0;  ///< how many were sent
};

}  // namespace zksh
