// Walk: the order of the visits, and what is asked ahead of them.
//
// What is ahead lies in a list in the order of the visits: nodes that have been asked for, and
// rows, the siblings of which nobody has asked for yet. Whenever there is room in the window, the
// first row in that order gives its next node. So the head of the list never waits behind requests
// for what comes later, and what is ahead stays small.
#include "tree/walk.h"

#include "client/node_path.h"
#include "tree/walk_reads.h"

#include <algorithm>
#include <map>
#include <utility>

namespace zksh {
namespace {

class Walk {
 public:
  Walk(Client& client, const WalkPlan& plan, const std::stop_token& stop)
      : client_(client),
        plan_(plan),
        stop_(stop),
        // Enough for the window to be full while the first waits for its children, and few enough
        // for their memory not to matter.
        reach_(std::max<std::size_t>(4096, 4 * plan.limits.window)),
        reads_(client, plan, stop) {}

  void run() {
    if (plan_.tops.empty()) return;
    client_.await_connection(plan_.tops.front(), stop_);
    auto tops = std::make_shared<NameList>();
    for (const auto& top : plan_.tops) tops->add(top);
    add_row(ahead_.end(), {.names = std::move(tops)});
    while (!ahead_.empty()) {
      if (stop_.stop_requested()) throw Cancelled();
      if (visit_first()) continue;
      ask_ahead();
      reads_.await_some();
      while (const auto complete = reads_.take()) open(*complete);
    }
  }

 private:
  void add_row(WalkStops::iterator before, WalkRow row) {
    auto shared = std::make_shared<WalkRow>(std::move(row));
    const auto& key = shared->key;
    rows_.emplace(key, ahead_.insert(before, {.kind = WalkStop::Kind::Row, .row = shared}));
  }

  bool first_is_unasked() const { return ahead_.front().kind == WalkStop::Kind::Row; }

  void ask_ahead() {
    while (!rows_.empty() && reads_.has_room(first_is_unasked()) &&
           (nodes_ahead_ < reach_ || first_is_unasked())) {
      const auto first = rows_.begin();
      const auto marker = first->second;
      auto& row = *marker->row;
      const auto node = ahead_.insert(marker, {.row = marker->row, .place = row.next});
      node->node.path = row.path(row.next);
      node->node.depth = row.depth;
      ++row.next;
      node->node.last = row.parent.empty() || row.exhausted();
      ++nodes_ahead_;
      if (row.exhausted()) {
        ahead_.erase(marker);
        rows_.erase(first);
      }
      if (plan_.ahead) plan_.ahead(node->node.path);
      reads_.ask(node);
    }
  }

  /// What is behind a node that has been read.
  void open(WalkStops::iterator stop) {
    if (stop->vanished || stop->code != code::ok) return;
    const auto& node = stop->node;
    auto behind = std::next(stop);
    if (plan_.leave)
      behind = ahead_.insert(
          behind,
          {.kind = WalkStop::Kind::Leave,
           .node = {.path = node.path, .depth = node.depth, .last = node.last, .stat = node.stat}});
    if (node.depth < plan_.depth && !node.children->empty())
      add_row(behind, {.parent = node.path,
                       .depth = node.depth + 1,
                       .names = node.children,
                       .key = stop->row->key_below(stop->place)});
  }

  /// False when the first in the order has not been read yet.
  bool visit_first() {
    auto& first = ahead_.front();
    if (first.kind == WalkStop::Kind::Leave) {
      plan_.leave(first.node);
    } else {
      if (first.kind == WalkStop::Kind::Row || !first.complete) return false;
      --nodes_ahead_;
      reads_.visited(first);
      enter(first);
    }
    ahead_.pop_front();
    return true;
  }

  void enter(WalkStop& first) {
    auto& node = first.node;
    const bool may_be_missing = node.depth > 0 || plan_.may_be_missing;
    if (first.code != code::ok) throw ZkError(first.code, node.path);
    if (first.vanished && !may_be_missing) {
      if (!plan_.missing) throw ZkError(code::no_node, node.path);
      plan_.missing(node.path);
    }
    if (!first.vanished && plan_.enter) plan_.enter(node);
  }

  Client& client_;
  const WalkPlan& plan_;
  const std::stop_token& stop_;
  std::size_t reach_;
  WalkReads reads_;
  WalkStops ahead_;
  std::map<std::string, WalkStops::iterator> rows_;  ///< by their keys
  std::size_t nodes_ahead_ = 0;
};

}  // namespace

void walk_tree(Client& client, const WalkPlan& plan, const std::stop_token& stop) {
  Walk(client, plan, stop).run();
}

void visit_subtree(Client& client, const std::string& top, const Watch& watch,
                   const WorkLimits& limits, const std::function<void(const std::string&)>& visit,
                   const std::stop_token& stop) {
  client.get(top, watch, stop);
  const auto enter = [&](const TreeNode& node) {
    if (node.depth == 0) visit(top);
    if (!node.readable) throw ZkError(code::no_auth, node.path);
    for (std::size_t i = 0; i < node.children->size(); ++i)
      visit(join_path(node.path, (*node.children)[i]));
  };
  walk_tree(client, {.tops = {top}, .watch = watch, .limits = limits, .enter = enter}, stop);
}

void visit_stats(Client& client, std::vector<std::string> tops, const StatVisitor& visitor,
                 const std::stop_token& stop) {
  const auto enter = [&](const TreeNode& node) {
    visitor.visit(node.path, node.stat);
    if (!node.readable && node.stat.num_children > 0)
      visitor.unlisted(ZkError(code::no_auth, node.path));
  };
  walk_tree(
      client,
      {.tops = std::move(tops), .may_be_missing = true, .limits = visitor.limits, .enter = enter},
      stop);
}

}  // namespace zksh
