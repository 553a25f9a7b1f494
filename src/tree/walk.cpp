// Walk: visits subtrees of any size in a defined order, with many requests in flight.
//
// The list `ahead_` is in the order of the visits. It has nodes that were requested, and rows,
// siblings that were not. When the window has room, the first row in that order provides the next
// node. So the head of the list never waits behind requests for later nodes, and the list stays
// short.
#include "tree/walk.h"

#include "base/text.h"
#include "client/node_path.h"
#include "client/patient_connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace zksh {
namespace {

/// The limit for the rows' paths, and for those from the top down to a row. A tree of short names
/// reaches it at about 5000 levels, a chain at 8000.
constexpr std::size_t most_path_bytes = 64U << 20U;
/// The limit for the rows' names. Those of one answer take at most 512 MiB.
constexpr std::size_t most_name_bytes = 768U << 20U;

/// A row of siblings; the tops of a walk are a row without a parent.
struct WalkRow {
  std::string parent{};
  std::size_t depth = 0;
  std::shared_ptr<const NameList> names{};
  std::uint32_t next = 0;  ///< the first that has not been requested
  /// Sorts rows in the order of the visits: four bytes for each step from the top, the index among
  /// the siblings.
  std::string key{};

  std::size_t path_bytes() const { return parent.size() + key.size(); }
  bool exhausted() const { return next == names->size(); }
  std::string path(std::uint32_t place) const {
    const auto name = (*names)[place];
    return parent.empty() ? std::string(name) : join_path(parent, name);
  }

  std::string key_below(std::uint32_t place) const {
    auto below = key;
    for (const unsigned shift : {24U, 16U, 8U, 0U})
      below += static_cast<char>((place >> shift) & 0xffU);
    return below;
  }
};

/// An item in the order of the visits: a requested node, a row with nodes still to request, or the
/// end of a node's subtree.
struct WalkStop {
  enum class Kind { Node, Row, Leave };
  Kind kind = Kind::Node;
  std::shared_ptr<WalkRow> row{};  ///< the row of a node
  std::uint32_t place = 0;         ///< the index of a node in its row

  TreeNode node{};  ///< for Node and Leave
  bool complete = false;
  bool vanished = false;
  int code = code::ok;  ///< why it could not be read

  Pending<Listing> listing{};
  Pending<Stat> stat{};
  Pending<Node> value{};
  Pending<NodeAcl> acl{};
};
using WalkStops = std::list<WalkStop>;

// The limit for values in flight or waiting to be visited.
constexpr std::size_t value_bytes = 16U << 20U;

template <class T>
bool is_there(const Pending<T>& pending, const Monitor::Held& held) {
  return !pending || (*pending)(held).has_value();
}

template <class T>
void take_outcome(Pending<T>& pending, std::optional<Outcome<T>>& to, const Monitor::Held& held) {
  if (!pending) return;
  to = std::move(*(*pending)(held));
  pending = nullptr;
}

/// What to read of a node, each with a request of its own.
struct Requests {
  bool listing = false;
  bool stat = false;
  bool value = false;
  bool acl = false;

  std::size_t count() const {
    return std::size_t{listing} + std::size_t{stat} + std::size_t{value} + std::size_t{acl};
  }
};

template <class T>
int code_of(const std::optional<Outcome<T>>& outcome) {
  return outcome ? outcome->code : code::ok;
}

bool answered(const WalkStop& node, const Monitor::Held& held) {
  return is_there(node.listing, held) && is_there(node.stat, held) && is_there(node.value, held) &&
         is_there(node.acl, held);
}

/// The requests of a walk. Used on one thread.
class WalkReads {
 public:
  /// All three must outlive it.
  WalkReads(Client& client, const WalkPlan& plan, const std::stop_token& stop)
      : client_(client),
        plan_(plan),
        stop_(stop),
        pace_(client, plan.limits.rate),
        most_in_flight_(plan.data ? 1 : plan.limits.window) {}

  /// Whether another node may be requested; `first`: the node that all others wait for.
  bool has_room(bool first) const {
    if (in_flight_ == 0 && first) return true;
    const auto expected = bytes_ahead_ + (in_flight_ + 1) * usual_value_;
    return in_flight_ < most_in_flight_ && (first || expected <= value_bytes);
  }

  /// Sends a node's first requests. Blocks to keep to the rate.
  void ask(WalkStops::iterator node) {
    const bool lists = !plan_.data && !is_leaf(*node);
    send(node,
         {.listing = lists, .stat = !plan_.data && !lists, .value = plan_.data, .acl = plan_.acls});
  }

  /// Blocks until about half of the requests in flight are answered. Throws Cancelled.
  void await_some() {
    if (asked_.empty()) return;
    // Answers arrive in the order of requests. Waiting for one in the middle saves wake-ups, each
    // of which costs more than handling an answer.
    const auto& middle = *asked_[(asked_.size() - 1) / 2];
    if (!client_.monitor().wait(stop_,
                                [&](const Monitor::Held& held) { return answered(middle, held); }))
      throw Cancelled();
    if (most_in_flight_ < plan_.limits.window)
      most_in_flight_ = std::min(plan_.limits.window, 2 * most_in_flight_);
  }

  /// The next complete node, in the order of first requests unless some are repeated; nullopt: call
  /// await_some. Sends further requests that an answer makes necessary. Blocks after a lost
  /// connection.
  std::optional<WalkStops::iterator> take() {
    while (!asked_.empty()) {
      Answers answers;
      const auto node = asked_.front();
      if (!take_answers(*node, answers)) return std::nullopt;
      asked_.pop_front();
      const auto requests = answers.requests();
      in_flight_ -= requests.count();
      if (std::ranges::any_of(answers.codes(), is_connection_failure)) {
        await_reconnection(client_, node->node.path, last_answer_, stop_);
        send(node, requests);
        continue;
      }
      last_answer_ = Clock::now();
      understand(*node, answers);
      if (node->vanished || node->code != code::ok) {
        node->complete = true;
      } else if (!node->node.readable && !requests.stat) {
        send(node, {.stat = true});  // up to 3.8, anybody may read a Stat
        continue;
      } else if (requests.value && node->node.readable && node->node.stat.num_children > 0 &&
                 !is_leaf(*node)) {
        send(node, {.listing = true});
        continue;
      }
      if (!node->node.children) node->node.children = std::make_shared<const NameList>();
      node->complete = true;
      bytes_ahead_ += memory(*node);
      return node;
    }
    return std::nullopt;
  }

  /// Stops counting the memory of a complete node.
  void visited(const WalkStop& node) { bytes_ahead_ -= memory(node); }

 private:
  struct Answers {
    std::optional<Outcome<Listing>> listing{};
    std::optional<Outcome<Stat>> stat{};
    std::optional<Outcome<Node>> value{};
    std::optional<Outcome<NodeAcl>> acl{};

    std::array<int, 4> codes() const {
      return {code_of(listing), code_of(stat), code_of(value), code_of(acl)};
    }
    Requests requests() const {
      return {.listing = listing.has_value(),
              .stat = stat.has_value(),
              .value = value.has_value(),
              .acl = acl.has_value()};
    }
  };

  bool take_answers(WalkStop& node, Answers& answers) {
    return client_.monitor().with_lock([&](const Monitor::Held& held) {
      if (!answered(node, held)) return false;
      take_outcome(node.listing, answers.listing, held);
      take_outcome(node.stat, answers.stat, held);
      take_outcome(node.value, answers.value, held);
      take_outcome(node.acl, answers.acl, held);
      return true;
    });
  }

  void understand(WalkStop& stop, Answers& answers) {
    auto& node = stop.node;
    for (const int code : answers.codes()) {
      if (code == code::no_node) stop.vanished = true;
      if (code != code::ok && code != code::no_node && code != code::no_auth) stop.code = code;
    }
    if (code_of(answers.listing) == code::no_auth || code_of(answers.value) == code::no_auth)
      node.readable = false;
    if (answers.acl) {
      node.acl_readable = answers.acl->code == code::ok;
      node.acl = std::move(answers.acl->value.acl);
    }
    if (answers.stat) {
      node.stat = answers.stat->value;
      node.stat_readable = answers.stat->code == code::ok;
    }
    if (answers.value && answers.value->code == code::ok) {
      node.stat = answers.value->value.stat;
      node.data = std::move(answers.value->value.data);
      const auto size = node.data ? node.data->size() : 0;
      usual_value_ = std::max(size, usual_value_ - usual_value_ / 64);
    }
    if (answers.listing && answers.listing->code == code::ok) {
      if (!plan_.data) node.stat = answers.listing->value.stat;
      auto names = std::move(answers.listing->value.names);
      names.sort(stop_);
      node.children = std::make_shared<const NameList>(std::move(names));
    }
  }

  bool is_leaf(const WalkStop& node) const { return node.node.depth >= plan_.depth; }

  void send(WalkStops::iterator node, const Requests& requests) {
    pace_.take(requests.count(), stop_);
    const auto& path = node->node.path;
    if (requests.listing) node->listing = client_.start_names(path, plan_.watch);
    if (requests.stat) node->stat = client_.start_exists(path, Watch::none());
    if (requests.value) node->value = client_.start_get(path, Watch::none());
    if (requests.acl) node->acl = client_.start_get_acl(path);
    in_flight_ += requests.count();
    asked_.push_back(node);
  }

  static std::size_t memory(const WalkStop& node) {
    return (node.node.data ? node.node.data->size() : 0) + node.node.children->memory();
  }

  Client& client_;
  const WalkPlan& plan_;
  const std::stop_token& stop_;
  Pace pace_;
  std::deque<WalkStops::iterator> asked_;
  std::size_t in_flight_ = 0;    ///< requests
  std::size_t most_in_flight_;   ///< grows to the window: the size of values is not known at first
  std::size_t usual_value_ = 0;  ///< roughly the largest of recent values, in bytes
  std::size_t bytes_ahead_ = 0;  ///< of complete nodes not yet visited
  Clock::time_point last_answer_ = Clock::now();
};

class Walk {
 public:
  Walk(Client& client, const WalkPlan& plan, const std::stop_token& stop)
      : client_(client),
        plan_(plan),
        stop_(stop),
        // Enough to fill the window while the first node waits for its children, but little memory.
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
    path_bytes_ += row.path_bytes();
    name_bytes_ += row.names->memory();
    // A chain leaves no rows behind, but each path holds all the names above it.
    const auto chain_bytes = row.depth * row.parent.size() / 2;
    const bool too_deep = std::max(path_bytes_, chain_bytes) > most_path_bytes;
    if (too_deep || name_bytes_ > most_name_bytes)
      throw Error(fmt::format(
          "the tree is too large to walk, or endless: it is {} levels deep at {}, and its {} "
          "take more than {} MiB",
          row.depth, cut_to_width(row.parent, 40), too_deep ? "paths" : "names",
          (too_deep ? most_path_bytes : most_name_bytes) >> 20U));
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
        path_bytes_ -= row.path_bytes();
        name_bytes_ -= row.names->memory();
        ahead_.erase(marker);
        rows_.erase(first);
      }
      if (plan_.ahead) plan_.ahead(node->node.path);
      reads_.ask(node);
    }
  }

  /// Adds what follows a node that has been read.
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

  /// Returns false if the first item has not been read yet.
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
  std::map<std::string, WalkStops::iterator> rows_;  ///< by key
  std::size_t nodes_ahead_ = 0;
  // Taken by the rows:
  std::size_t path_bytes_ = 0;
  std::size_t name_bytes_ = 0;
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
    if (node.hides_children()) visitor.unlistable(ZkError(code::no_auth, node.path));
  };
  walk_tree(
      client,
      {.tops = std::move(tops), .may_be_missing = true, .limits = visitor.limits, .enter = enter},
      stop);
}

}  // namespace zksh
