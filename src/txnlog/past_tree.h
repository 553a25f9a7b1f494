// PastTree: a tree as it was, replayed from a snapshot and transactions.
#pragma once

#include "txnlog/snapshot.h"
#include "txnlog/transaction.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// The ephemerals by their sessions: what a session's end deletes, which logs before 3.6 do not
/// say.
class EphemeralOwners {
 public:
  void add(std::int64_t session, std::string path);
  /// Call it for a deleted node.
  void remove(std::string_view path);
  /// Removes a session; returns its ephemerals, in byte order.
  std::vector<std::string> end(std::int64_t session);
  /// Follows creates and deletes, but not the end of a session.
  void follow(const LoggedTransaction& txn);

 private:
  std::unordered_map<std::int64_t, std::set<std::string, std::less<>>> paths_;
  std::unordered_map<std::string, std::int64_t> owners_;
};

class DataFiles;

/// What the ends of sessions delete.
class SessionEnds {
 public:
  /// `files` must outlive it.
  SessionEnds(const DataFiles& files, std::stop_token stop)
      : files_(files), stop_(std::move(stop)) {}

  /// Must be called for each transaction, in order. Blocks while it reads; throws as
  /// TransactionReader and Cancelled.
  std::vector<std::string> ephemerals(const LoggedTransaction& txn);

 private:
  const DataFiles& files_;
  std::stop_token stop_;
  std::optional<EphemeralOwners> owners_{};  ///< since the first record that does not say it
};

/// ReferenceCountedACLCache.java: nodes name their ACLs by numbers. A snapshot that was written
/// while ACLs were set may name a number that its list lacks; a server that replays the log assigns
/// it again, and so does this class, in the same order.
class AclNumbers {
 public:
  /// The next new number is greater.
  void begin_after(std::int64_t number) { last_ = std::max(last_, number); }
  /// Adds an entry of a snapshot's list.
  void list(std::int64_t number, std::string_view bytes);
  /// The number of an ACL that one more node has.
  std::int64_t use(std::string_view bytes);
  void use(std::int64_t number);
  /// Call it for a node that no longer has this ACL.
  void drop(std::int64_t number);
  /// Forgets what no node has, as at the end of a snapshot.
  void drop_unused();
  /// The encoded ACL; nullptr if it is not known.
  const std::string* find(std::int64_t number) const;

 private:
  struct Entry {
    std::string bytes;
    std::int64_t uses = 0;
  };
  std::unordered_map<std::int64_t, Entry> entries_{};
  std::unordered_map<std::string, std::int64_t> numbers_{};
  std::int64_t last_ = 0;
};

struct PastNode {
  std::optional<std::string> data{};
  std::int64_t acl = 0;         ///< its number in a server: PastTree::acl_of
  std::int64_t logged_acl = 0;  ///< what the log says, if a server does not know `acl`
  Stat stat{};                  ///< as SnapshotNode's
  std::uint64_t serial = 0;     ///< of this node, among all that were there
  /// The parent's, when this one was created. A parent that is deleted first and created again does
  /// not list it, as in a server: that happens only before a fuzzy snapshot was complete.
  std::uint64_t parent_serial = 0;
};

/// DataTree of ZooKeeper 3.8 and 3.9: transactions may be applied again, since snapshots are
/// written while others go on; zksh-txnlog(5) says what that means. Keeps the whole tree in memory.
class PastTree {
 public:
  /// Replaces the tree by a snapshot's. Throws as read_snapshot, and DamagedSnapshot if a node
  /// comes before its parent, as servers refuse it.
  SnapshotEnd load(const std::string& snapshot, const std::stop_token& stop);
  /// The tree with which a server without files begins; servers to 3.4 write no snapshot of it.
  void load_first();
  void apply(const LoggedTransaction& txn);
  /// Takes from a later transaction, which is not applied, the ACLs that a fuzzy snapshot names,
  /// but does not list yet.
  void learn_acls(const LoggedTransaction& txn);

  /// Whether servers may log this digest, a sum over all nodes.
  /// Java up to 17 takes the bytes of a path in the charset of the locale: the sum may be that of
  /// UTF-8, ISO 8859-1 or ASCII.
  bool has_digest(std::uint64_t digest) const { return std::ranges::count(sums_, digest) > 0; }
  std::size_t size() const { return nodes_.size(); }
  /// Null if there is none. The root's path is "/".
  const PastNode* find(std::string_view path) const;
  /// Empty if the files do not tell it. A list without entries, which lets everybody do everything,
  /// is returned as world:anyone:cdrwa.
  Acl acl_of(const PastNode& node) const;
  /// Whether a server that replays the files has its ACL; else it fails requests for the node.
  bool knows_acl(const PastNode& node) const { return acls_.find(node.acl) != nullptr; }
  /// The paths of a node and everything below, in no order.
  std::vector<std::string_view> below(std::string_view top) const;

 private:
  using Nodes = std::unordered_map<std::string, PastNode>;
  PastNode* node_at(std::string_view path);
  bool is_listed(std::string_view path, const PastNode& node) const;
  void count(const std::string& path, const PastNode& node, std::uint64_t factor);
  void count_out(const std::string& path, const PastNode& node);
  void count_in(const std::string& path, const PastNode& node);
  void create(const LoggedTransaction& txn, const TxnOperation& op);
  void remove(std::string_view path, std::int64_t zxid);
  void set(const LoggedTransaction& txn, const TxnOperation& op);

  std::array<std::uint64_t, 3> sums_{};  ///< for each charset
  Nodes nodes_{};
  EphemeralOwners owners_{};
  AclNumbers acls_{};
  std::uint64_t last_serial_ = 0;
  std::string key_{};  ///< a path to look up
};

}  // namespace zksh
