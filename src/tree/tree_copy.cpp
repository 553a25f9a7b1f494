// TreeCopy: passes what it reads to TreeApply as if it were a dump.
#include "tree/tree_copy.h"

#include "base/error.h"
#include "base/quoting.h"
#include "tree/tree_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// Servers show a digest's hash as x to sessions that may not administer the node.
bool hides_hash(const Acl& acl) {
  return std::ranges::any_of(acl, [](const AclEntry& entry) {
    return entry.scheme == "digest" && entry.id.ends_with(":x");
  });
}

std::string without_newline(std::string line) {
  line.pop_back();
  return line;
}

/// The lines of a dump, produced on demand.
class LiveText {
 public:
  LiveText(Client& client, const CopyPlan& plan, const std::stop_token& stop)
      : plan_(plan), tree_(client, {.top = plan.source, .limits = plan.limits}, stop) {}

  bool next(std::string& line) {
    switch (std::exchange(at_, at_ == Place::Start ? Place::Nodes : at_)) {
      case Place::Start:
        line = without_newline(tree_header(TreeFormat::Text, plan_.source));
        return true;
      case Place::Nodes:
        next_node(line);
        return true;
      case Place::End:
        return false;
    }
    return false;
  }

 private:
  enum class Place { Start, Nodes, End };

  void next_node(std::string& line) {
    while (auto node = tree_.next()) {
      if (node->record.life.kind == NodeKind::Ephemeral) {
        plan_.left_out(*node);
        continue;
      }
      require_whole(*node, path_below(plan_.source, node->record.path));
      plan_.copied(*node);
      node->record.limits = no_limits;
      line = without_newline(tree_line(TreeFormat::Text, node->record));
      return;
    }
    at_ = Place::End;
    line = without_newline(tree_end(TreeFormat::Text, 0));
  }

  const CopyPlan& plan_;
  LiveTree tree_;
  Place at_ = Place::Start;
};

}  // namespace

void require_whole(const FoundNode& node, const std::string& path) {
  if (!node.readable) throw ZkError(code::no_auth, path);
  if (hides_hash(node.record.acl))
    throw Error(fmt::format("the servers hide a hash in the ACL of {}, which this session may not "
                            "administer; `addauth` an identity that may",
                            as_word(path)),
                status::not_authorised);
}

void copy_tree(Client& client, const CopyPlan& plan, CopyCounts& counts,
               const std::stop_token& stop) {
  LiveText text(client, plan, stop);
  TreeReader reader([&](std::string& line) { return text.next(line); }, plan.source);
  TreeApply apply(client,
                  {.top = plan.target,
                   .rehearse = plan.rehearse,
                   .parents_made = plan.parents_made,
                   .limits = plan.limits,
                   .on_write = plan.on_write,
                   .conflict = [](const std::string& sentence) { throw Error(sentence); },
                   .reached = [](std::size_t /*count*/) {}},
                  stop);
  struct Counted {
    const TreeApply& apply;
    CopyCounts& counts;
    ~Counted() { counts = {.made = apply.counts().created, .unknown = apply.unanswered()}; }
  } const counted{.apply = apply, .counts = counts};
  apply.run(reader);
}

}  // namespace zksh
