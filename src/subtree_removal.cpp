// SubtreeRemoval: removing a node and all below it, as fast as the server takes transactions.
#include "subtree_removal.h"

#include "node_path.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace zksh {
namespace {

constexpr std::size_t listed_one_by_one = 10'000;
constexpr std::size_t reads_in_flight = 256;
constexpr std::size_t batches_in_flight = 8;
// Half of the server's default limit for one request (jute.maxbuffer, 1 MiB).
constexpr std::size_t batch_bytes = 512U << 10U;

/// The nodes of a subtree, every parent before its children.
struct Subtree {
  std::vector<std::string> paths;
  std::vector<bool> is_guessed_leaf;  ///< taken for a leaf without having been listed

  std::size_t size() const { return paths.size(); }
  void add(std::string path) {
    paths.push_back(std::move(path));
    is_guessed_leaf.push_back(false);
  }
};

/// Finds a subtree's nodes, many requests in flight.
class Explorer {
 public:
  Explorer(Client& client, const std::stop_token& stop) : client_(client), stop_(stop) {}

  Subtree explore(const std::string& top) {
    client_.await_connection(top, stop_);
    found_.add(top);
    to_ask_.push_back({.node = 0, .siblings_end = 1});
    while (!to_ask_.empty() || !asked_.empty()) {
      while (!to_ask_.empty() && asked_.size() < reads_in_flight) {
        asked_.push_back(to_ask_.front());
        to_ask_.pop_front();
        asked_.back().answer =
            client_.start_children(found_.paths[asked_.back().node], Watch::none());
      }
      take_answer();
    }
    return std::move(found_);
  }

 private:
  /// A node to list. It stands for its later siblings, up to siblings_end.
  struct Question {
    std::size_t node;
    std::size_t siblings_end;
    Pending<Children> answer{};
  };

  void take_answer() {
    const auto question = std::move(asked_.front());
    asked_.pop_front();
    const auto outcome = client_.await(question.answer, stop_);
    const bool vanished = outcome.code == code::no_node && question.node != 0;
    if (outcome.code != code::ok && !vanished)
      throw ZkError(outcome.code, found_.paths[question.node]);
    judge_siblings(question, outcome.value.names.empty() && !vanished);
    const auto begin = found_.size();
    for (const auto& name : outcome.value.names)
      found_.add(join_path(found_.paths[question.node], name));
    if (begin == found_.size()) return;
    if (found_.size() > listed_one_by_one)
      to_ask_.push_back({.node = begin, .siblings_end = found_.size()});
    else
      ask_each(begin, found_.size());
  }

  void judge_siblings(const Question& question, bool leaf) {
    if (leaf)
      std::fill(found_.is_guessed_leaf.begin() + static_cast<std::ptrdiff_t>(question.node) + 1,
                found_.is_guessed_leaf.begin() + static_cast<std::ptrdiff_t>(question.siblings_end),
                true);
    else
      ask_each(question.node + 1, question.siblings_end);
  }

  void ask_each(std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i) to_ask_.push_back({.node = i, .siblings_end = i + 1});
  }

  Client& client_;
  const std::stop_token& stop_;
  Subtree found_;
  std::deque<Question> to_ask_;
  std::deque<Question> asked_;
};

class Remover {
 public:
  Remover(Client& client, std::size_t batch, const std::stop_token& stop)
      : client_(client), batch_(std::max<std::size_t>(batch, 1)), stop_(stop) {}

  Removal run(const std::string& top) {
    remove(top);
    return std::move(result_);
  }

 private:
  using Answer = Pending<std::vector<OpResult>>;
  /// The nodes [begin, end) of the subtree, removed from the back.
  struct Batch {
    std::size_t begin;
    std::size_t end;
    Answer answer{};
  };

  void remove(const std::string& top) {
    const auto subtree = Explorer(client_, stop_).explore(top);
    result_.found += subtree.size();
    std::deque<Batch> sent;
    std::vector<Batch> not_empty;
    auto left = subtree.size();
    while (left > 0 || !sent.empty()) {
      if (left > 0 && sent.size() < batches_in_flight) {
        const auto begin = batch_begin(subtree, left);
        sent.push_back({begin, left, start(subtree, begin, left)});
        left = begin;
        continue;
      }
      const auto batch = std::move(sent.front());
      sent.pop_front();
      const auto outcome = client_.await(batch.answer, stop_);
      if (outcome.code == code::not_empty)
        not_empty.push_back(batch);
      else
        settle(subtree, batch, outcome);
    }
    for (const auto& batch : not_empty) retry(subtree, batch);
  }

  std::size_t batch_begin(const Subtree& subtree, std::size_t end) const {
    std::size_t bytes = 0;
    auto begin = end;
    while (begin > 0 && end - begin < batch_ && (begin == end || bytes < batch_bytes))
      bytes += subtree.paths[--begin].size() + 16;
    return begin;
  }

  Answer start(const Subtree& subtree, std::size_t begin, std::size_t end) {
    client_.await_connection(subtree.paths[begin], stop_);
    std::vector<Op> ops;
    ops.reserve(end - begin);
    for (auto i = end; i > begin; --i) ops.emplace_back(RemoveOp{.path = subtree.paths[i - 1]});
    return client_.start_multi(ops);
  }

  void settle(const Subtree& subtree, const Batch& batch,
              const Outcome<std::vector<OpResult>>& outcome) {
    if (outcome.code == code::ok) {
      result_.removed += batch.end - batch.begin;
    } else if (outcome.code == code::no_node) {
      remove_one_by_one(subtree, batch);
    } else {
      fail(outcome.code, culprit(subtree, batch, outcome));
    }
  }

  /// What made the transaction fail; its first node when the answer does not say.
  static const std::string& culprit(const Subtree& subtree, const Batch& batch,
                                    const Outcome<std::vector<OpResult>>& outcome) {
    if (!outcome.culprit.empty()) return outcome.culprit;
    const auto& results = outcome.value;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].code == outcome.code) return subtree.paths[batch.end - 1 - i];
    return subtree.paths[batch.end - 1];
  }

  void remove_one_by_one(const Subtree& subtree, const Batch& batch) {
    std::vector<Pending<Nothing>> answers;
    for (auto i = batch.end; i > batch.begin; --i)
      answers.push_back(client_.start_remove({.path = subtree.paths[i - 1]}));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto outcome = client_.await(answers[i], stop_);
      if (outcome.code == code::ok)
        ++result_.removed;
      else if (outcome.code != code::no_node)
        fail(outcome.code,
             outcome.culprit.empty() ? subtree.paths[batch.end - 1 - i] : outcome.culprit);
    }
  }

  /// A second try of a transaction that met a node with children: those of guessed leaves are
  /// removed first; others may have gone with a transaction that was tried again before.
  void retry(const Subtree& subtree, const Batch& batch) {
    std::vector<std::pair<std::size_t, Pending<Children>>> asked;
    for (auto i = batch.begin; i < batch.end; ++i)
      if (subtree.is_guessed_leaf[i])
        asked.emplace_back(i, client_.start_children(subtree.paths[i], Watch::none()));
    for (const auto& [i, answer] : asked) {
      const auto children = client_.await(answer, stop_);
      if (children.code != code::ok && children.code != code::no_node)
        throw ZkError(children.code, subtree.paths[i]);
      for (const auto& name : children.value.names) remove(join_path(subtree.paths[i], name));
    }
    const auto answer = start(subtree, batch.begin, batch.end);
    settle(subtree, batch, client_.await(answer, stop_));
  }

  void fail(int code, const std::string& path) {
    if (!result_.failure) result_.failure.emplace(code, path, true);
  }

  Client& client_;
  std::size_t batch_;
  const std::stop_token& stop_;
  Removal result_;
};

}  // namespace

Removal remove_subtree(Client& client, const std::string& top, std::size_t batch,
                       const std::stop_token& stop) {
  return Remover(client, batch, stop).run(top);
}

}  // namespace zksh
