// Subtree removal: finds the nodes of a subtree and removes them.
#include "tree/subtree_removal.h"

#include "client/client.h"
#include "client/connect_string.h"
#include "client/node_path.h"
#include "tree/batch_writer.h"
#include "tree/tree_record.h"
#include "tree/walk.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace zksh {
namespace {

constexpr std::size_t listed_one_by_one = 10'000;
// The limit for one part of the tree.
constexpr std::size_t most_memory = 32U << 20U;

/// Nodes in the order of a walk, the last one on top. Each takes eight bytes and the part of its
/// path that the next one does not share: in a chain nothing, in a row the end of its name.
class FoundNodes {
 public:
  void push(const std::string& path, bool is_guessed_leaf) {
    const auto shared = std::ranges::mismatch(top_, path).in1 - top_.begin();
    below_.push_back({.shared = static_cast<std::uint32_t>(shared),
                      .rest = static_cast<std::uint32_t>(rests_.size())});
    guessed_leaves_.push_back(is_guessed_leaf);
    rests_.append(top_, static_cast<std::size_t>(shared));
    top_ = path;
  }
  void pop() {
    const auto below = below_.back();
    top_.resize(below.shared);
    top_.append(rests_, below.rest);
    rests_.resize(below.rest);
    below_.pop_back();
    guessed_leaves_.pop_back();
  }

  std::size_t size() const { return below_.size(); }
  bool empty() const { return below_.empty(); }
  const std::string& path() const { return top_; }
  bool is_guessed_leaf() const { return guessed_leaves_.back(); }
  /// In bytes.
  std::size_t memory() const { return rests_.size() + below_.size() * sizeof(Below); }

 private:
  /// The path of the node before.
  struct Below {
    std::uint32_t shared;  ///< how much of this node's path it shares
    std::uint32_t rest;    ///< where in `rests_` the rest begins
  };

  std::string top_;
  std::string rests_;
  std::vector<Below> below_;
  std::vector<bool> guessed_leaves_;
};

class Remover {
 public:
  Remover(Client& client, const RemovalPlan& plan, Removal& result, const std::stop_token& stop)
      : client_(client),
        plan_(plan),
        result_(result),
        stop_(stop),
        writer_(
            client,
            {.count = plan.batch,
             .limits = plan.limits,
             .fails_all = [this](int code) { return fails_all(code); }},
            [this](const Write& write, const Written& written) { record(write, written); }, stop) {}
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;
  /// Also after a failure.
  ~Remover() { result_.unknown = writer_.in_flight(); }

  void run() {
    std::vector<std::string> tops{plan_.top};
    for (bool found_before = false; !tops.empty(); found_before = true) {
      remove(tops, found_before);
      tops = std::exchange(not_leaves_, {});
    }
    std::ranges::sort(above_those_, std::greater(), &std::string::size);  // bottom-up
    is_last_try_ = true;
    for (const auto& path : above_those_) send(path, false);
    writer_.finish();
  }

 private:
  /// `found_before`: the tops were found before and assumed to be leaves; they may be gone by now.
  void remove(const std::vector<std::string>& tops, bool found_before) {
    FoundNodes nodes;
    std::size_t bytes_of_paths = 0;
    const auto enter = [&](const TreeNode& node) {
      if (!node.readable) throw ZkError(code::no_auth, node.path);
      if (nodes.memory() > most_memory) remove_part(nodes, node.path);
      nodes.push(node.path, node.guessed_leaf);
      guesses_any_ = guesses_any_ || node.guessed_leaf;
      bytes_of_paths += node.path.size();
      ++listed_;
      tell();
    };
    walk_tree(client_,
              {.tops = tops,
               .may_be_missing = found_before,
               .stats = false,
               .collects = true,
               .guess_leaves_from = listed_one_by_one,
               .limits = plan_.limits,
               .enter = enter},
              stop_);
    result_.found += std::exchange(listed_, 0);
    if (found_before) result_.found -= tops.size();  // they were counted again
    if (!guesses_any_ && nodes.size() <= listed_one_by_one && bytes_of_paths <= most_memory) {
      std::vector<std::string> paths;
      for (; !nodes.empty(); nodes.pop()) paths.push_back(nodes.path());
      const auto depth = [](const std::string& path) { return std::ranges::count(path, '/'); };
      std::ranges::stable_sort(paths, std::greater(), depth);
      for (const auto& path : paths) send(path, false);
    }
    for (; !nodes.empty(); nodes.pop()) send(nodes.path(), nodes.is_guessed_leaf());
    writer_.finish();
  }

  /// Removes all but the nodes above the one that the walk has come to. Nothing is read meanwhile:
  /// a session's reads wait until its own writes are applied.
  void remove_part(FoundNodes& nodes, const std::string& next) {
    result_.found += std::exchange(listed_, 0);
    std::vector<std::string> above;
    for (; !nodes.empty(); nodes.pop())
      if (is_within(next, nodes.path()))
        above.push_back(nodes.path());
      else
        send(nodes.path(), nodes.is_guessed_leaf());
    writer_.finish();
    for (; !above.empty(); above.pop_back()) nodes.push(above.back(), false);
  }

  /// Whether a failure with this code fails the whole transaction, and ends the removal.
  bool fails_all(int code) const {
    return !plan_.salvages && code != code::no_node && (code != code::not_empty || !guesses_any_);
  }

  /// / cannot be removed. The server's own makes its transaction fail; a chroot's is left alone.
  void send(const std::string& path, bool is_guessed_leaf) {
    if (result_.failure && fails_all(result_.failure->code())) return;
    const auto is_chroot = [&] { return !parse_connect_string(client_.server()).chroot.empty(); };
    if (path == "/" && (plan_.salvages || is_chroot()))
      return note_failure(ZkError(code::bad_arguments, path));
    guesses_.push_back(is_guessed_leaf);
    writer_.add(RemoveOp{.path = path});
  }

  void record(const Write& write, const Written& written) {
    const bool was_guess = guesses_.front();
    guesses_.pop_front();
    if (written.code == code::not_empty && !is_last_try_ && !fails_all(written.code))
      return (was_guess ? not_leaves_ : above_those_).push_back(path_of(write));
    if (written.code == code::ok || (written.code == code::no_node && written.sent_before))
      ++result_.removed;
    else if (written.code != code::no_node && written.code != code::runtime_inconsistency)
      note_failure(error_of(write, written));
    tell();
  }

  void note_failure(ZkError failure) {
    if (!result_.failure) result_.failure = std::move(failure);
  }
  void tell() const {
    if (!plan_.progress) return;
    auto now = result_;
    now.found += listed_;
    plan_.progress(now);
  }

  Client& client_;
  const RemovalPlan& plan_;
  Removal& result_;
  const std::stop_token& stop_;
  std::size_t listed_ = 0;                ///< nodes found since anything was removed
  bool guesses_any_ = false;              ///< leaves were guessed
  std::deque<bool> guesses_;              ///< whether the writes in flight are of guessed leaves
  std::vector<std::string> not_leaves_;   ///< guessed leaves that have children
  std::vector<std::string> above_those_;  ///< and other nodes that are not empty
  bool is_last_try_ = false;              ///< for those that are not empty
  BatchWriter writer_;
};

}  // namespace

void remove_subtree(Client& client, const RemovalPlan& plan, Removal& result,
                    const std::stop_token& stop) {
  Remover(client, plan, result, stop).run();
}

}  // namespace zksh
