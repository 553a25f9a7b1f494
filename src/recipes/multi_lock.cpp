// MultiLock: several locks at once, or none.
#include "recipes/multi_lock.h"

#include "base/text.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "recipes/fair_lock.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace zksh {

MultiLock::Queue::Queue(MultiLock& lock, const std::string& path)
    : request(lock.request_),
      report(lock.report_),
      turn(lock.requests_, report, request, LockWait::Predecessor) {
  request.path = path;
  report.waiting = [this, &outer = lock.report_](LockPlace place) {
    holder = place.holder;
    place.path = request.path;
    if (outer.waiting) outer.waiting(place);
  };
}

MultiLock::MultiLock(Client& client, Fiber& fiber, const LockReport& report, LockRequest request,
                     std::vector<std::string> paths, bool atomic)
    : requests_(client, fiber, report),
      report_(report),
      request_(std::move(request)),
      paths_(std::move(paths)),
      names_(request_.compat.value_or(Compat::Curator)),
      watch_(requests_) {
  if (request_.read_write || request_.mode == LockMode::Shared)
    throw UsageError("several locks at once must be exclusive; there are no read locks");
  auto sorted = paths_;
  std::ranges::sort(sorted);
  if (atomic) {
    add_stage(sorted);
  } else {
    for (const auto& path : sorted) add_stage({path});
  }
}

void MultiLock::add_stage(const std::vector<std::string>& paths) {
  auto stage = std::make_unique<Stage>();
  for (const auto& path : paths) stage->queues.push_back(std::make_unique<Queue>(*this, path));
  stage->nodes = std::make_unique<LockNodes>(
      requests_, [this, &it = *stage](const std::string& guid) { return plan(it, guid); },
      paths.size() > 1);
  // A contender that holds nothing may wait for anybody.
  const bool holds_others = !stages_.empty();
  if (holds_others) stage->queues.front()->turn.yield_to_multi_joiners();
  stages_.push_back(std::move(stage));
}

LockNodesPlan MultiLock::plan(const Stage& stage, const std::string& guid) const {
  LockNodesPlan all;
  for (const auto& queue : stage.queues) {
    auto one = contender_plan(queue->request, names_, guid);
    all.parents = one.parents;
    std::ranges::move(one.nodes, std::back_inserter(all.nodes));
  }
  return all;
}

Task<> MultiLock::acquire(Clock::time_point deadline) {
  return attempt_until(deadline, requests_, contend(), [this] { return give_up(); });
}

Task<> MultiLock::contend() {
  if (request_.try_only) co_await look_first();
  for (;;) {
    auto turn = Turn::Held;
    stopped_at_ = nullptr;
    for (std::size_t i = 0; i < stages_.size() && turn == Turn::Held; ++i) turn = co_await join(i);
    bool held = turn == Turn::Held;
    if (held) held = co_await prove();
    if (held) co_return;
    std::string obstacle;
    if (turn == Turn::OtherNames) {
      names_ = Compat::All;
      report_other_names(report_, stopped_at_->request.path);
    } else if (turn == Turn::GivesWay) {
      obstacle = stopped_at_->turn.obstacle();
      requests_.step(
          "releasing everything: the contender ahead joined other queues, too, and may wait for "
          "what this one holds: " +
          obstacle);
    } else if (request_.requeue) {
      report_lost();
    } else {
      throw LockLost(fmt::format("the place in a queue of {} is lost", fmt::join(paths_, " ")));
    }
    co_await give_up();
    if (!obstacle.empty())
      co_await await_gone(obstacle);
    else if (turn != Turn::OtherNames)
      co_await requests_.pause_after_loss();
  }
}

void MultiLock::report_lost() {
  if (stopped_at_)
    stopped_at_->turn.report_lost_place(same_session_);
  else if (report_.warning)
    report_.warning(fmt::format("{}: one was lost while waiting for the others; asking again",
                                fmt::join(paths_, " ")));
}

/// A failed try must not cost others anything: no node, no watch, no event.
Task<> MultiLock::look_first() {
  for (const auto& stage : stages_) {
    for (const auto& queue : stage->queues) {
      const auto seen = co_await queue->turn.look();
      if (seen.contenders.empty()) continue;
      const auto node = join_path(queue->request.path, seen.contenders.front().nodes.front().text);
      auto sent = requests_.send_get(node);
      const auto outcome = co_await requests_.answer(std::move(sent));
      const auto holder = outcome.value.data.value_or("");
      throw LockBusy(queue->request.path + " is busy" +
                     (holder.empty() ? holder : ", held by " + escape_for_terminal(holder)));
    }
  }
}

/// Joins the queues of one stage, and waits in each.
Task<Turn> MultiLock::join(std::size_t number) {
  auto& stage = *stages_[number];
  co_await stage.nodes->make([&stage] {
    for (const auto& queue : stage.queues) queue->turn.ask();
  });
  for (const auto& queue : stage.queues) {
    queue->holder.clear();
    const auto turn = co_await await_turn(*queue, *stage.nodes);
    if (turn == Turn::Held) continue;
    stopped_at_ = queue.get();
    same_session_ = stage.nodes->same_session();
    co_return turn;
  }
  co_return Turn::Held;
}

/// If the wait was in vain, the error also says for whom.
Task<Turn> MultiLock::await_turn(Queue& queue, LockNodes& nodes) {
  try {
    co_return co_await queue.turn.await(nodes, names_);
  } catch (const LockBusy& busy) {
    if (queue.holder.empty()) throw;
    throw LockBusy(
        fmt::format("{}: it is held by {}", busy.what(), escape_for_terminal(queue.holder)));
  }
}

/// Whether all that was acquired one after the other still exists, in one session.
Task<bool> MultiLock::prove() {
  std::vector<std::string> nodes;
  for (const auto& stage : stages_) {
    co_await requests_.connected();
    const bool proven = co_await stage->nodes->prove();
    if (!proven) co_return false;
    std::ranges::copy(stage->nodes->holding().nodes, std::back_inserter(nodes));
  }
  const auto session = stages_.front()->nodes->holding().session;
  const bool there = co_await nodes_exist(requests_, std::move(nodes), session);
  if (there) note_holding();
  co_return there;
}

void MultiLock::note_holding() {
  holding_ = {.nodes = {}, .session = requests_.client().session_id()};
  for (const auto& path : paths_) {
    for (const auto& stage : stages_) {
      const auto& part = stage->nodes->holding();
      std::int64_t token = 0;
      for (const auto& node : part.nodes) {
        if (parent_path(node) != path) continue;
        token = part.token;
        holding_.nodes.push_back(node);
      }
      if (token != 0) holding_.tokens.push_back(token);
    }
  }
  holding_.token = holding_.tokens.front();
}

/// Waits for the node to go, holding nothing.
Task<> MultiLock::await_gone(std::string node) {
  for (;;) {
    co_await requests_.connected();
    const auto seen = co_await watch_.get(node);
    if (is_connection_failure(seen.code)) continue;
    if (seen.code == code::no_node) co_return;
    if (seen.code != code::ok && seen.code != code::no_auth) throw ZkError(seen.code, node);
    const auto holder = seen.value.data.value_or("");
    if (report_.waiting)
      report_.waiting({.predecessor = holder,
                       .predecessor_node = std::string(base_name(node)),
                       .holder = holder,
                       .holder_age_ms = age_ms(seen.value.stat),
                       .path = std::string(parent_path(node))});
    const bool woken = co_await watch_.event();
    if (!woken)
      throw LockBusy(fmt::format("{} was not acquired in time: it is held by {}", parent_path(node),
                                 escape_for_terminal(holder)));
  }
}

Task<> MultiLock::give_up() {
  watch_.drop();
  for (const auto& stage : stages_)
    for (const auto& queue : stage->queues) queue->turn.leave(false);
  co_await take_back();
}

Task<bool> MultiLock::release() {
  requests_.set_deadline(Fiber::never);
  for (const auto& stage : stages_)
    for (const auto& queue : stage->queues) queue->turn.leave(true);
  co_return co_await take_back();
}

/// Gives all back, even if one fails; then throws the first failure.
Task<bool> MultiLock::take_back() {
  std::exception_ptr failure;
  bool held = true;
  for (std::size_t i = stages_.size(); i-- > 0;) {
    try {
      const bool had = co_await stages_[i]->nodes->take_back();
      held = held && had;
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  co_return held;
}

Task<> MultiLock::downgrade() {
  throw ValueError(fmt::format("{} are not held for writing", fmt::join(paths_, " ")));
  co_return;
}

}  // namespace zksh
