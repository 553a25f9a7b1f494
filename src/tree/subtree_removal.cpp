// Subtree removal: finds the nodes of a subtree and removes them.
#include "tree/subtree_removal.h"

#include "base/mapped.h"
#include "base/name_list.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "tree/batch_writer.h"
#include "tree/walk.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {
namespace {

constexpr std::size_t listed_one_by_one = 10'000;
// The limit for one part of the tree.
constexpr std::size_t most_memory = 32U << 20U;

/// A compact list of subtrees' nodes, every parent before its children: about ten bytes per node
/// plus the names.
class FoundTree {
 public:
  static constexpr std::uint32_t no_parent = 0xffffffff;

  /// Numbers the nodes from 0 on. The name of a top is its path.
  void add(std::size_t parent, std::string_view name) {
    names_.add(name);
    parents_.push_back(static_cast<std::uint32_t>(parent));
    guessed_.push_back(false);
  }
  std::size_t size() const { return parents_.size(); }
  bool is_top(std::size_t node) const { return parents_[node] == no_parent; }
  /// Takes time linear in its length, however deep the node.
  std::string path(std::size_t node) const {
    std::size_t size = 0;
    auto at = node;
    for (; !is_top(at); at = parents_[at]) size += 1 + names_[at].size();
    const auto top = names_[at];
    if (at == node) return std::string(top);
    std::string path(top == "/" ? "" : top);
    auto end = path.size() + size;
    path.resize(end);
    for (at = node; !is_top(at); at = parents_[at]) {
      const auto name = names_[at];
      end -= name.size();
      name.copy(path.data() + end, name.size());
      path[--end] = '/';
    }
    return path;
  }
  /// In bytes.
  std::size_t memory() const {
    return names_.memory() + parents_.size() * sizeof(std::uint32_t) + guessed_.size() / 8;
  }

  /// Whether the node was assumed to be a leaf without listing it.
  bool is_guessed_leaf(std::size_t node) const { return guessed_[node]; }
  void guess_leaf(std::size_t node) { guessed_[node] = true; }

 private:
  NameList names_;
  std::vector<std::uint32_t> parents_;
  std::vector<bool> guessed_;
};

/// Finds the nodes of subtrees, breadth first, with many requests in flight.
class Explorer {
 public:
  /// `progress` gets the number of nodes found so far.
  Explorer(Client& client, const WorkLimits& limits, std::function<void(std::size_t)> progress,
           const std::stop_token& stop)
      : client_(client),
        limits_(limits),
        pace_(client, limits.rate),
        progress_(std::move(progress)),
        stop_(stop) {}

  /// Returns nullopt if the nodes take too much memory. Skips missing tops if `may_be_missing`.
  std::optional<FoundTree> explore(const std::vector<std::string>& tops, bool may_be_missing) {
    client_.start_reads({});  // finds out what the server supports
    client_.await_connection(tops.front(), stop_);
    window_ = window_of(client_, limits_);
    for (const auto& top : tops) found_.add(FoundTree::no_parent, top);
    ask_each(0, found_.size());
    tops_may_be_missing_ = may_be_missing;
    while (!to_ask_.empty() || !asked_.empty()) {
      while (!to_ask_.empty() && has_room()) ask_next();
      await_first();
      while (!asked_.empty() && take_answers())
        if (is_too_large()) return std::nullopt;
      progress_(found_.size());
    }
    return std::move(found_);
  }

 private:
  /// A row of nodes to list one by one, or a node that stands for its later siblings.
  struct Question {
    std::size_t node;
    std::size_t end;
    bool stands_for_all = false;
  };
  /// Questions that are asked together.
  struct Batch {
    std::vector<Question> questions{};
    Reads reads{};
  };

  void ask_each(std::size_t begin, std::size_t end) {
    if (begin < end) to_ask_.push_back({.node = begin, .end = end});
  }

  bool has_room() const {
    constexpr std::size_t nodes_per_request = 8;
    return requests_in_flight_ < window_ && nodes_in_flight_ < nodes_per_request * window_;
  }

  /// How many nodes are listed with a request, if the server can do that; else, awaited together.
  std::size_t at_once() const {
    constexpr std::size_t most = 256;
    constexpr std::size_t most_requests = 32;
    const auto paced = limits_.rate > 0 ? limits_.rate / 10 + 1 : most;
    return std::min({is_batched_ ? most : most_requests, window_, paced});
  }

  void ask_next() {
    std::vector<Question> some;
    while (!to_ask_.empty() && some.size() < at_once()) {
      auto& next = to_ask_.front();
      some.push_back(next);
      if (next.stands_for_all || ++next.node == next.end) to_ask_.pop_front();
    }
    send(std::move(some));
  }
  void send(std::vector<Question> questions) {
    const auto ops = mapped(questions, [&](const Question& question) {
      return ReadOp{.what = ReadOp::What::Names, .path = found_.path(question.node)};
    });
    pace_.take(ops.size(), stop_);
    Batch batch{.questions = std::move(questions), .reads = client_.start_reads(ops)};
    if (ops.size() > 1) is_batched_ = batch.reads.requests < ops.size();
    requests_in_flight_ += batch.reads.requests;
    nodes_in_flight_ += ops.size();
    asked_.push_back(std::move(batch));
  }

  void await_first() {
    auto& first = *asked_.front().reads.answer;
    if (!client_.monitor().wait(stop_,
                                [&](const Monitor::Held& held) { return first(held).has_value(); }))
      throw Cancelled();
  }

  bool is_too_large() const { return found_.memory() > most_memory; }
  bool may_vanish(std::size_t node) const { return !found_.is_top(node) || tops_may_be_missing_; }

  /// Returns false if the next answers have not arrived. Ends early if there is too much.
  bool take_answers() {
    auto outcome = client_.monitor().with_lock([&](const Monitor::Held& held) {
      return std::exchange((*asked_.front().reads.answer)(held), std::nullopt);
    });
    if (!outcome) return false;
    auto batch = std::move(asked_.front());
    asked_.pop_front();
    requests_in_flight_ -= batch.reads.requests;
    nodes_in_flight_ -= batch.questions.size();
    if (is_connection_failure(outcome->code)) {
      await_reconnection(client_, found_.path(batch.questions.front().node), last_answer_, stop_);
      send(std::move(batch.questions));
      return true;
    }
    last_answer_ = Clock::now();
    outcome->value.resize(batch.questions.size(), {.code = outcome->code});
    for (std::size_t i = 0; i < batch.questions.size() && !is_too_large(); ++i)
      take(batch.questions[i], outcome->value[i]);
    return true;
  }

  void take(const Question& question, const ReadResult& result) {
    const bool vanished = result.code == code::no_node && may_vanish(question.node);
    if (result.code != code::ok && !vanished)
      throw ZkError(result.code, found_.path(question.node));
    if (question.stands_for_all) judge_siblings(question, result.names.empty() && !vanished);
    add_row(question.node, result.names);
  }

  void add_row(std::size_t parent, const NameList& names) {
    const auto begin = found_.size();
    for (std::size_t i = 0; i < names.size(); ++i) found_.add(parent, names[i]);
    const auto end = found_.size();
    if (end <= listed_one_by_one || begin == end) return ask_each(begin, end);
    to_ask_.push_back({.node = begin, .end = end, .stands_for_all = true});
  }

  void judge_siblings(const Question& question, bool leaf) {
    if (!leaf) return ask_each(question.node + 1, question.end);
    for (auto i = question.node + 1; i < question.end; ++i) found_.guess_leaf(i);
  }

  Client& client_;
  WorkLimits limits_;
  Pace pace_;
  std::function<void(std::size_t)> progress_;
  const std::stop_token& stop_;
  FoundTree found_;
  bool tops_may_be_missing_ = false;
  std::deque<Question> to_ask_;
  std::deque<Batch> asked_;
  std::size_t window_ = 0;
  std::size_t requests_in_flight_ = 0;
  std::size_t nodes_in_flight_ = 0;
  bool is_batched_ = false;  ///< as far as is known
  Clock::time_point last_answer_ = Clock::now();
};

class Remover {
 public:
  Remover(Client& client, const RemovalPlan& plan, Removal& result, const std::stop_token& stop)
      : client_(client), plan_(plan), result_(result), stop_(stop) {}

  /// `found_before`: the tops were found before and assumed to be leaves; they may be gone by now.
  void remove(const std::vector<std::string>& tops, bool found_before) {
    const auto tell = [this](std::size_t found) {
      auto now = result_;
      now.found += found;
      if (plan_.progress) plan_.progress(now);
    };
    const auto tree = Explorer(client_, plan_.limits, tell, stop_).explore(tops, found_before);
    if (found_before) result_.found -= tops.size();  // they are counted again
    if (tree)
      remove_found(*tree);
    else
      for (const auto& top : tops) remove_in_parts(top);
  }

 private:
  void remove_found(const FoundTree& tree) {
    result_.found += tree.size();
    std::vector<std::string> not_leaves;   // guessed leaves that have children
    std::vector<std::string> above_those;  // bottom-up
    auto answered = tree.size();
    BatchWriter writer(
        client_, {.count = plan_.batch, .limits = plan_.limits},
        [&](const Write& write, const Written& result) {
          --answered;
          if (result.code == code::not_empty)
            (tree.is_guessed_leaf(answered) ? not_leaves : above_those).push_back(path_of(write));
          else
            note(write, result);
        },
        stop_);
    send_all(writer, tree.size(), [&](std::size_t i) { return tree.path(tree.size() - 1 - i); });
    if (!not_leaves.empty()) remove(not_leaves, true);
    auto second_writer = plain_writer();
    send_all(second_writer, above_those.size(), [&](std::size_t i) { return above_those[i]; });
  }

  /// Removes a tree that is too large for memory, each node after all below it. Alternates reading
  /// and writing: a session's reads wait until its own writes are applied.
  void remove_in_parts(const std::string& top) {
    auto writer = plain_writer();
    NameList part;
    const auto remove_part = [&] {
      send_all(writer, part.size(), [&](std::size_t i) { return std::string(part[i]); });
      part.clear();
    };
    const auto enter = [](const TreeNode& node) {
      if (!node.readable && node.stat.num_children > 0) throw ZkError(code::no_auth, node.path);
    };
    const auto leave = [&](const TreeNode& node) {
      ++result_.found;
      part.add(node.path);
      if (part.memory() > most_memory) remove_part();
    };
    walk_tree(client_,
              {.tops = {top},
               .may_be_missing = true,
               .stats = false,
               .limits = plan_.limits,
               .enter = enter,
               .leave = leave},
              stop_);
    remove_part();
  }

  template <class PathOf>
  void send_all(BatchWriter& writer, std::size_t count, PathOf path_at) {
    /// Set at the end, also after a failure.
    struct Unanswered {
      const BatchWriter& writer;
      Removal& result;
      ~Unanswered() { result.unknown = writer.in_flight(); }
    } const unanswered{.writer = writer, .result = result_};
    for (std::size_t i = 0; i < count; ++i) add(writer, {.path = path_at(i)});
    writer.finish();
  }

  /// / cannot be removed, and must not make a transaction fail.
  void add(BatchWriter& writer, const RemoveOp& op) {
    if (!removes_root(op))
      writer.add(op);
    else if (!result_.failure)
      result_.failure = ZkError(code::bad_arguments, op.path);
  }

  BatchWriter plain_writer() {
    return {client_,
            {.count = plan_.batch, .limits = plan_.limits},
            [this](const Write& write, const Written& result) { note(write, result); },
            stop_};
  }

  void note(const Write& write, const Written& result) {
    if (result.code == code::ok || (result.code == code::no_node && result.sent_before))
      ++result_.removed;
    else if (result.code != code::no_node && !result_.failure)
      result_.failure = error_of(write, result);
    if (plan_.progress) plan_.progress(result_);
  }

  Client& client_;
  const RemovalPlan& plan_;
  Removal& result_;
  const std::stop_token& stop_;
};

}  // namespace

void remove_subtree(Client& client, const RemovalPlan& plan, Removal& result,
                    const std::stop_token& stop) {
  Remover(client, plan, result, stop).remove({plan.top}, false);
}

}  // namespace zksh
