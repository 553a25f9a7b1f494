// WalkReads: the requests of a walk that are in flight, and what their answers say of a node.
#pragma once

#include "tree/walk.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace zksh {

/// Siblings; the tops of a walk are a row without a parent.
struct WalkRow {
  std::string parent{};
  std::size_t depth = 0;
  std::shared_ptr<const NameList> names{};
  std::uint32_t next = 0;  ///< the first that nobody has asked for
  /// Rows sorted by it are in the order of the visits: for each step on the way from the top, the
  /// place among the siblings, as four bytes.
  std::string key{};

  bool exhausted() const { return next == names->size(); }
  std::string path(std::uint32_t place) const;
  std::string key_below(std::uint32_t place) const;
};

/// Something in the order of the visits: a node that was asked for, a row of which some are still
/// to be asked for, or the end of a node's subtree.
struct WalkStop {
  enum class Kind { Node, Row, Leave };
  Kind kind = Kind::Node;
  std::shared_ptr<WalkRow> row{};  ///< where a node comes from
  std::uint32_t place = 0;         ///< of a node: in its row

  TreeNode node{};  ///< of Node and of Leave
  bool complete = false;
  bool vanished = false;
  int code = code::ok;  ///< otherwise why it could not be read

  Pending<Listing> listing{};
  Pending<Stat> stat{};
  Pending<Node> value{};
  Pending<NodeAcl> acl{};
};
using WalkStops = std::list<WalkStop>;

/// Used on one thread.
class WalkReads {
 public:
  /// All three outlive it.
  WalkReads(Client& client, const WalkPlan& plan, const std::stop_token& stop);

  /// Whether one more node may be asked for; `first`: the one that everything waits for.
  bool has_room(bool first) const;
  /// Sends what a node needs first. Blocks to keep to the rate.
  void ask(WalkStops::iterator node);
  /// Blocks until about half of what is in flight has been answered. Throws Cancelled.
  void await_some();
  /// The next node that is complete, in the order of their first requests as long as none has to be
  /// asked again; nothing: wait. Sends what an answer makes necessary. Blocks for a lost
  /// connection.
  std::optional<WalkStops::iterator> take();
  /// A complete node's memory does not count any more.
  void visited(const WalkStop& node);

 private:
  struct Answers {
    std::optional<Outcome<Listing>> listing{};
    std::optional<Outcome<Stat>> stat{};
    std::optional<Outcome<Node>> value{};
    std::optional<Outcome<NodeAcl>> acl{};
  };

  bool take_answers(WalkStop& node, Answers& answers);
  bool lost(const Answers& answers) const;
  void understand(WalkStop& stop, Answers& answers);
  bool is_leaf(const WalkStop& node) const;
  void send(WalkStops::iterator node, bool listing, bool stat, bool value, bool acl);
  static std::size_t memory(const WalkStop& node);

  Client& client_;
  const WalkPlan& plan_;
  const std::stop_token& stop_;
  Pace pace_;
  std::deque<WalkStops::iterator> asked_;
  std::size_t in_flight_ = 0;    ///< requests
  std::size_t most_in_flight_;   ///< grows to the window: nobody knows yet how large values are
  std::size_t usual_value_ = 0;  ///< about the largest of late, in bytes
  std::size_t bytes_ahead_ = 0;  ///< of complete nodes that are not visited yet
  Clock::time_point last_answer_ = Clock::now();
};

}  // namespace zksh
