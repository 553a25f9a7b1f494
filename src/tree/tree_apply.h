// TreeApply: making a subtree as a dump says, with the fewest writes.
#pragma once

#include "tree/batch_writer.h"
#include "tree/live_tree.h"
#include "tree/tree_text.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// What was done, or would be. Of each node that is in the text, at least one is counted.
struct ApplyCounts {
  std::size_t created = 0;
  std::size_t set = 0;  ///< data
  std::size_t acls = 0;
  std::size_t quotas = 0;
  std::size_t removed = 0;
  std::size_t unchanged = 0;
  std::size_t others = 0;      ///< nodes that are not in the text, and stay
  std::size_t ephemerals = 0;  ///< not in the text; never removed
  std::size_t sheltering = 0;  ///< others that --prune leaves, since ephemerals are below them
  std::size_t conflicts = 0;   ///< nodes that could not be made so
};

/// Makes the subtree below `top` so. Nodes are looked at and written in the order of the text:
/// parents before their children, what is to go before what comes behind it, children first.
///
/// An ACL: a leaf is created with its own. So is a node with children below which this session may
/// work then; any other has the session itself in its ACL, beside the final one, until all below it
/// is done: at no moment is it open to more than that. A kill leaves such nodes, and the next
/// application ends them.
///
/// What exists is changed only in the version that was seen. Nothing depends on what an earlier
/// application did: any number of them, each killed anywhere, and one that ends make the same tree.
class TreeApply {
 public:
  struct Change {
    std::string verb;  ///< create, set, set the ACL of, set the quota of, delete
    std::string path;
    std::string detail{};
  };
  struct Plan {
    std::string top{};  ///< an absolute path
    bool prune = false;
    bool rehearse = false;      ///< send nothing, tell what would be sent
    bool parents_made = false;  ///< those above `top` were made just now, perhaps in a rehearsal
    WorkLimits limits{};
    /// Hears of each write when the server has confirmed it (of a rehearsal: at once).
    std::function<void(const Change&)> told{};
    /// Hears of each node that could not be made so; the work goes on beside it.
    std::function<void(const std::string& sentence)> conflict{};
    /// Now and then: the number of nodes that were looked at.
    std::function<void(std::size_t)> reached{};
  };

  /// `client` outlives it.
  TreeApply(Client& client, Plan plan, std::stop_token stop);

  /// Blocks. Ends at the first write that is refused, once what was sent by then is answered:
  /// throws ZkError, or Error for a node that was changed meanwhile. Also throws Cancelled, and
  /// what the text and the walk throw. counts() are of what was confirmed by then.
  void run(TreeReader& text);
  const ApplyCounts& counts() const { return counts_; }
  /// The writes that were sent and not answered when run threw.
  std::size_t unanswered() const { return writer_.in_flight(); }

 private:
  /// A node whose last change waits until all below it is done.
  struct Open {
    std::string path{};         ///< relative
    std::optional<Acl> acl{};   ///< the final one; nothing: the node is to go
    std::int32_t version = -1;  ///< of the ACL or of the data
    bool shelters = false;      ///< an ephemeral is below it
  };

  void close_until(const std::string& path);
  void close(const Open& node);
  void found_only(const FoundNode& node);
  void create(const TreeRecord& record, bool inner);
  void reconcile(const TreeRecord& record, const FoundNode& node, bool inner);
  bool fits(const TreeRecord& record, const FoundNode& node);
  void write_acl(const TreeRecord& record, const FoundNode& node, bool inner, bool data_differ);
  void note_limits(const std::string& path, const QuotaLimits& wanted, const QuotaLimits& now);
  void set_all_limits();
  void write(Write write);
  void done(const Write& write, const Written& result);
  bool is_so(const Write& write, const Written& result);
  ZkError lack_of(const Write& write);
  void count(const Write& write);
  void tell(const Write& write) const;
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
  std::optional<std::string> skipped_{};         ///< a node below which nothing can be made
  std::map<std::string, QuotaLimits> limits_{};  ///< to be set at the end, by absolute path
  std::exception_ptr failure_{};                 ///< the first write that was refused
  BatchWriter writer_;
};

}  // namespace zksh
