// MultiLock: several locks at once, or none.
#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "recipes/lock_turn.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

namespace zksh {
namespace {

/// The exclusive locks of several paths. If anything fails, all are given back, in reverse.
///
/// In order: joins one queue after the other, in byte order of the paths, whatever order they are
/// given in. So no two such contenders deadlock. Source: resource ordering, Havender 1968;
/// Curator's InterProcessMultiLock, which uses its caller's order.
///
/// Atomic: joins all queues in one transaction. So two such contenders are in the same order in
/// every queue, and do not deadlock either.
///
/// The two kinds could deadlock: one that goes in order holds /a and waits for /b behind an atomic
/// one that waits for /a. Therefore the names of atomic contenders are recognisable (see
/// joins_many). A contender that goes in order, when it finds one before it, gives everything back,
/// holds nothing until that one is gone, and starts again.
class MultiLock final : public ContendingRecipe {
 public:
  MultiLock(Client& client, Fiber& fiber, const RecipeReport& report, LockRequest request)
      : ContendingRecipe(client, fiber, report, std::move(request)),
        names_(request_.compat.value_or(Compat::Curator)),
        watch_(requests_) {
    if (request_.read_write || request_.mode == LockMode::Shared)
      throw UsageError("several locks at once must be exclusive; there are no read locks");
    auto sorted = request_.paths;
    std::ranges::sort(sorted);
    if (request_.atomic) {
      stages_.emplace_back(*this, sorted);
      return;
    }
    for (const auto& path : sorted) {
      auto& stage = stages_.emplace_back(*this, std::vector{path});
      // A contender that holds nothing may wait for anybody.
      if (stages_.size() > 1) stage.queues.front().turn.yield_to_multi_joiners();
    }
  }

  Task<bool> release() override {
    for (auto& stage : stages_) stage.leave_queues(true);
    co_return co_await take_back();
  }

  /// Nodes and tokens in the order of the paths as given.
  const Holding& holding() const override { return holding_; }

 private:
  /// The queue of one path.
  struct Queue {
    Queue(MultiLock& lock, const std::string& path)
        : request(lock.request_), report(lock.report_), turn(lock.requests_, report, request) {
      request.paths = {path};
      report.waiting = [this, &outer = lock.report_](QueuePlace place) {
        holder = place.holder;
        place.path = request.path();
        if (outer.waiting) outer.waiting(place);
      };
      report.relisted = [&lock, &outer = lock.report_](const std::vector<std::string>& nodes) {
        lock.ask_existence();
        if (outer.relisted) outer.relisted(nodes);
      };
    }

    LockRequest request;
    RecipeReport report;
    LockTurn turn;
    std::string holder;  ///< the owner data of the first in the queue, as last reported
  };
  /// Queues that are joined in one transaction.
  struct Stage {
    Stage(MultiLock& lock, const std::vector<std::string>& paths)
        : nodes(
              lock.requests_,
              [this, &names = lock.names_](const std::string& guid) { return plan(names, guid); },
              paths.size() > 1) {
      for (const auto& path : paths) queues.emplace_back(lock, path);
    }

    NodesPlan plan(Compat names, const std::string& guid) const {
      NodesPlan all;
      for (const auto& queue : queues) {
        auto one = contender_plan(queue.request, names, guid);
        all.parents = one.parents;
        std::ranges::move(one.nodes, std::back_inserter(all.nodes));
      }
      return all;
    }
    void leave_queues(bool nodes_go) {
      for (auto& queue : queues) queue.turn.leave(nodes_go);
    }

    std::deque<Queue> queues{};
    LockNodes nodes;
  };

  Task<> contend() override {
    if (request_.try_only) co_await look_first();
    for (;;) {
      auto turn = Turn::Held;
      stopped_at_ = nullptr;
      for (auto& stage : stages_)
        if (turn == Turn::Held) turn = co_await join(stage);
      bool held = turn == Turn::Held;
      if (held) held = co_await prove();
      if (held) co_return;
      std::string obstacle;
      if (turn == Turn::OtherNames) {
        names_ = Compat::All;
        stopped_at_->turn.report_other_names();
      } else if (turn == Turn::GivesWay) {
        obstacle = stopped_at_->turn.obstacle();
        requests_.step(
            "releasing everything: the contender ahead joined other queues, too, and may wait for "
            "what this one holds: " +
            obstacle);
      } else if (request_.requeue) {
        report_lost();
      } else {
        throw LockLost(
            fmt::format("the place in a queue of {} is lost", fmt::join(request_.paths, " ")));
      }
      co_await give_up();
      if (!obstacle.empty())
        co_await await_gone(obstacle);
      else if (turn != Turn::OtherNames)
        co_await requests_.pause_after_loss();
    }
  }

  void report_lost() {
    if (stopped_at_)
      stopped_at_->turn.report_lost_place(same_session_);
    else
      report_.warn(fmt::format("{}: one was lost while waiting for the others; asking again",
                               fmt::join(request_.paths, " ")));
  }

  /// A failed try must not cost others anything: no node, no watch, no event.
  Task<> look_first() {
    for (auto& stage : stages_) {
      for (auto& queue : stage.queues) {
        const auto seen = co_await queue.turn.look();
        if (seen.contenders.empty()) continue;
        const auto node =
            join_path(queue.request.path(), seen.contenders.front().nodes.front().text);
        const auto outcome = co_await requests_.answer(requests_.send_get(node));
        throw LockBusy(queue.request.path() + " is busy", outcome.value.data.value_or(""));
      }
    }
  }

  /// Joins the queues of one stage, and waits in each.
  Task<Turn> join(Stage& stage) {
    joining_ = &stage;
    co_await stage.nodes.make([this, &stage] {
      for (auto& queue : stage.queues) queue.turn.ask();
      ask_existence();
    });
    for (auto& queue : stage.queues) {
      queue.holder.clear();
      const auto turn = co_await await_turn(queue, stage.nodes);
      if (turn == Turn::Held) continue;
      stopped_at_ = &queue;
      same_session_ = stage.nodes.same_session();
      co_return turn;
    }
    co_return Turn::Held;
  }

  /// If the wait was in vain, the error also says for whom.
  Task<Turn> await_turn(Queue& queue, LockNodes& nodes) {
    try {
      co_return co_await queue.turn.await(nodes, names_);
    } catch (const LockBusy& busy) {
      if (queue.holder.empty()) throw;
      throw LockBusy(busy.what(), queue.holder);
    }
  }

  /// For the last of several stages: sends reads of the other stages' nodes right behind each
  /// request for its queue. So the last reads are answered after the list that shows that the stage
  /// is held and that its own nodes exist: all nodes exist once all is acquired.
  void ask_existence() {
    existence_.clear();
    if (joining_ != &stages_.back()) return;
    for (const auto& stage : stages_)
      if (&stage != joining_)
        for (const auto& node : stage.nodes.holding().nodes)
          existence_.push_back(requests_.send_exists(node));
    existence_session_ = requests_.client().session_id();
  }

  /// Whether all that was acquired one after the other still exists, in one session.
  Task<bool> prove() {
    std::vector<std::string> nodes;
    for (auto& stage : stages_) {
      co_await requests_.connected();
      const bool proven = co_await stage.nodes.prove();
      if (!proven) co_return false;
      std::ranges::copy(stage.nodes.holding().nodes, std::back_inserter(nodes));
    }
    const auto session = stages_.front().nodes.holding().session;
    bool there = co_await existed(session);
    if (!there) there = co_await exist(std::move(nodes), session);
    if (there) note_holding();
    co_return there;
  }

  /// Whether the reads that were sent with the last list have found all nodes, in this session.
  Task<bool> existed(std::int64_t session) {
    bool all = !existence_.empty();
    for (auto& question : std::exchange(existence_, {})) {
      const auto outcome = co_await requests_.answer(std::move(question));
      all = all && outcome.code == code::ok;
    }
    if (existence_session_ != session || requests_.client().session_id() != session)
      co_return false;
    co_return all;
  }

  /// Whether all these nodes exist, in this session.
  Task<bool> exist(std::vector<std::string> nodes, std::int64_t session) {
    auto& client = requests_.client();
    for (;;) {
      co_await requests_.connected();
      if (client.session_id() != session) co_return false;
      std::vector<RecipeRequests::Sent<Stat>> questions;
      questions.reserve(nodes.size());
      for (const auto& node : nodes) questions.push_back(requests_.send_exists(node));
      bool lost = false;
      bool gone = false;
      for (auto& question : questions) {
        const auto outcome = co_await requests_.answer(std::move(question));
        const bool failed = is_connection_failure(outcome.code);
        lost = lost || failed;
        gone = gone || outcome.code == code::no_node;
        if (!failed && outcome.code != code::ok && outcome.code != code::no_node)
          throw ZkError(outcome.code, nodes.front());
      }
      if (client.session_id() != session || (gone && !lost)) co_return false;
      if (!lost) co_return true;
    }
  }

  void note_holding() {
    holding_ = {.nodes = {}, .session = requests_.client().session_id()};
    for (const auto& path : request_.paths) {
      for (const auto& stage : stages_) {
        const auto& part = stage.nodes.holding();
        const auto before = holding_.nodes.size();
        std::ranges::copy_if(part.nodes, std::back_inserter(holding_.nodes),
                             [&](const auto& node) { return parent_path(node) == path; });
        if (holding_.nodes.size() > before) holding_.tokens.push_back(part.token);
      }
    }
    holding_.token = holding_.tokens.front();
  }

  /// Waits for the node to go, holding nothing.
  Task<> await_gone(std::string node) {
    for (;;) {
      co_await requests_.connected();
      const auto seen = co_await watch_.get(node);
      if (is_connection_failure(seen.code)) continue;
      if (seen.code == code::no_node) co_return;
      if (seen.code != code::ok) throw ZkError(seen.code, node);
      const auto holder = seen.value.data.value_or("");
      if (report_.waiting) {
        QueuePlace place{.predecessor_node = std::string(base_name(node)),
                         .path = std::string(parent_path(node))};
        note_predecessor(seen, place);
        note_holder(seen, place);
        report_.waiting(place);
      }
      const bool woken = co_await watch_.event();
      if (!woken)
        throw LockBusy(fmt::format("{} was not acquired in time", parent_path(node)), holder);
    }
  }

  Task<> give_up() override {
    watch_.drop();
    for (auto& stage : stages_) stage.leave_queues(false);
    co_await take_back();
  }

  /// Removes what there is of several stages in one transaction. Returns its code;
  /// code::unimplemented if it was not sent.
  Task<int> remove_together() {
    const Fiber::Shield shield(requests_.fiber());
    std::vector<Op> ops;
    for (const auto& stage : stages_) {
      if (!stage.nodes.may_exist()) continue;
      const auto& nodes = stage.nodes.holding().nodes;
      if (nodes.empty() || !stage.nodes.same_session()) co_return code::unimplemented;
      for (const auto& node : nodes) ops.emplace_back(RemoveOp{.path = node});
    }
    if (ops.empty() || stages_.size() < 2) co_return code::unimplemented;
    const auto outcome = co_await requests_.answer(
        requests_.send(requests_.client().start_multi(ops), "multi: delete {} nodes", ops.size()));
    co_return outcome.code;
  }

  /// Gives all back, even if one fails; then throws the first failure.
  Task<bool> take_back() {
    existence_.clear();
    const int result = co_await remove_together();
    const bool asked = is_connection_failure(result);
    std::exception_ptr failure;
    bool held =
        std::ranges::all_of(stages_, [](const Stage& stage) { return stage.nodes.may_exist(); });
    if (result == code::ok) {
      for (auto& stage : stages_) stage.nodes.removed();
      co_return held;
    }
    for (auto i = stages_.size(); i-- > 0;) {
      try {
        const bool had = co_await stages_[i].nodes.take_back(asked);
        held = held && had;
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    co_return held;
  }

  Compat names_;
  std::deque<Stage> stages_;
  RecipeWatch watch_;
  Queue* stopped_at_ = nullptr;     ///< where the wait ended before all were held
  bool same_session_ = true;        ///< whether the node there was still in its session
  const Stage* joining_ = nullptr;  ///< the stage whose queues were joined last
  std::vector<RecipeRequests::Sent<Stat>> existence_;  ///< reads that were sent ahead
  std::int64_t existence_session_ = 0;
  Holding holding_;
};

}  // namespace

std::unique_ptr<Recipe> make_multi_lock(Client& client, Fiber& fiber, const RecipeReport& report,
                                        LockRequest request) {
  return std::make_unique<MultiLock>(client, fiber, report, std::move(request));
}

}  // namespace zksh
