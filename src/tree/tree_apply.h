// TreeApply: restores a dump with the fewest writes, or copies a subtree.
#pragma once

#include "client/nodes.h"
#include "client/work_limits.h"
#include "command/command.h"
#include "tree/batch_writer.h"
#include "tree/live_tree.h"
#include "tree/tree_record.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

class Client;
class SequenceCounters;

/// Counts of what was done, or would be. Every node in the text is counted at least once.
struct ApplyCounts {
  std::size_t created = 0;
  std::size_t set = 0;  ///< data
  std::size_t acls = 0;
  std::size_t quotas = 0;
  std::size_t removed = 0;
  std::size_t unchanged = 0;
  std::size_t others = 0;      ///< nodes not in the text that stay
  std::size_t ephemerals = 0;  ///< not in the text; never removed
  /// Others that --prune leaves because there are, or may be, ephemerals below them.
  std::size_t sheltering = 0;
  std::size_t conflicts = 0;  ///< nodes that could not be restored
};

/// Makes the subtree below `top` equal to the text. Nodes are read and written in the order of the
/// text, parents before children; removals come before what follows them, children first.
///
/// ACLs: a leaf is created with its own ACL, and so is a node with children if this session may
/// work below it then. Any other node has the session's identity added to its final ACL until
/// everything below it is done, so it is never open to anybody else. If killed, this leaves such
/// nodes behind, and the next run completes them.
///
/// Existing nodes are changed only in the version that was read. Nothing depends on earlier runs:
/// any number of interrupted runs followed by a complete one make the same tree.
class TreeApply {
 public:
  struct Plan {
    std::string top{};  ///< an absolute path
    bool prune = false;
    bool rehearse = false;      ///< send nothing, only report the writes
    bool parents_made = false;  ///< those of `top` were just created, perhaps in a rehearsal
    bool quotas = true;         ///< false: the records have none, and existing ones stay
    bool sealing = false;       ///< write ACLs that nobody could change; else leave the nodes out
    WorkLimits limits{};
    /// Called for each write once the server has confirmed it; in a rehearsal, at once.
    std::function<void(const WriteDescription&)> on_write{};
    /// Called for each node that could not be restored; the others go on.
    std::function<void(const std::string& sentence)> conflict{};
    /// Called from time to time with the number of nodes read.
    std::function<void(std::size_t)> reached = [](std::size_t) {};
    SequenceCounters* counters = nullptr;  ///< notes the text's nodes that are there at the end
  };

  /// `client` must outlive it.
  TreeApply(Client& client, Plan plan, std::stop_token stop);

  /// Blocks. Stops at the first write that is refused, after waiting for the answers to what was
  /// sent: throws ZkError, or Error if a node was changed meanwhile. Also throws Cancelled, and
  /// what `records` and the walk throw. counts() then has what was confirmed.
  void run(const RecordStream& records);
  const ApplyCounts& counts() const { return counts_; }
  /// The number of writes without an answer when run threw.
  std::size_t unanswered() const { return writer_.in_flight(); }

 private:
  /// A node whose final change must wait until everything below it is done.
  struct Open {
    std::string path{};         ///< relative
    std::optional<Acl> acl{};   ///< the final ACL; nullopt: the node is to be removed
    std::int32_t version = -1;  ///< of the ACL or the data
    bool shelters = false;      ///< has, or may have, an ephemeral below it
  };

  void close(const Open& node);
  void handle_extra(const FoundNode& node);
  void create(const TreeRecord& record, bool inner);
  void reconcile(const TreeRecord& record, const FoundNode& node, bool inner);
  bool is_refused(const TreeRecord& record);
  bool fits(const TreeRecord& record, const FoundNode& node);
  void write_acl(const TreeRecord& record, const FoundNode& node, bool inner, bool data_differ);
  void note_limits(const std::string& path, const QuotaLimits& wanted, const QuotaLimits& now);
  void set_all_limits();
  void write(Write write);
  void done(const Write& write, const Written& result);
  ZkError unsupported(const Write& write);
  void count(const Write& write);
  void refuse(const std::string& path, const std::string& why);
  bool may(const Acl& acl, int perms) const;
  Acl with_self(const Acl& acl) const;
  std::string absolute(const std::string& relative) const {
    return path_below(plan_.top, relative);
  }

  Client& client_;
  Plan plan_;
  std::stop_token stop_;
  std::vector<Identity> identities_{};
  ApplyCounts counts_{};
  std::vector<Open> open_{};
  std::optional<std::string> skipped_{};         ///< a node below which nothing can be created
  std::map<std::string, QuotaLimits> limits_{};  ///< to be set at the end, by absolute path
  std::exception_ptr failure_{};                 ///< from the first write that was refused
  BatchWriter writer_;
};

struct CopyPlan {
  std::string source{};  ///< absolute paths; the target is not within the source
  std::string target{};
  WorkLimits limits{};
  bool parents_made = false;             ///< see TreeApply::Plan
  bool sealing = false;                  ///< likewise
  SequenceCounters* counters = nullptr;  ///< likewise
  /// Called for each node before it is copied.
  std::function<void(const FoundNode& node)> copied = [](const FoundNode&) {};
  /// Called for each ephemeral below the source; these are not copied.
  std::function<void(const FoundNode& node)> left_out{};
  /// Returns the report if the copy ends early: `done` says what was copied, and `unknown` what may
  /// have been.
  std::function<std::string(const std::string& done, const std::string& unknown)> incomplete{};
};

/// Throws ZkError or Error unless all of a node could be read: its data, its children, and its ACL
/// with all hashes. `path` is the node's.
void require_whole(const FoundNode& node, const std::string& path);

/// Copies values, ACLs and kinds of nodes, as dump and apply do, but not quotas, and shows the
/// progress. Returns the number of nodes created. Blocks; throws what TreeApply::run throws.
std::size_t copy_tree(Context& cx, const CopyPlan& plan);

}  // namespace zksh
