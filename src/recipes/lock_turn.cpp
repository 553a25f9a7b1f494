// LockTurn: waits in the queue of a lock until all that must come before are gone.
#include "recipes/lock_turn.h"

#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "recipes/lock_flaws.h"

#include <algorithm>

namespace zksh {

NodesPlan contender_plan(const LockRequest& request, Compat names, const std::string& guid) {
  NodesPlan plan;
  for (const auto& prefix : contender_prefixes(names, request.mode, request.read_write, guid))
    plan.nodes.push_back({.path = join_path(request.path(), prefix),
                          .data = request.owner,
                          .acl = request.acl,
                          .mode = CreateMode::Ephemeral,
                          .sequential = true});
  // kazoo's objects fail if the lock node that they have seen is removed.
  const auto usual = names == Compat::Curator ? CreateMode::Container : CreateMode::Persistent;
  plan.parents = request.parent.value_or(usual);
  return plan;
}

/// nullopt if one of our nodes is missing: not everybody sees us any more.
std::optional<std::size_t> LockTurn::own_place(const LockQueue& queue,
                                               const LockNodes& nodes) const {
  const auto own = std::ranges::find_if(queue.contenders, [&](const Contender& contender) {
    return nodes.has(contender.nodes.front());
  });
  if (own == queue.contenders.end()) return std::nullopt;
  const auto there = [&](const std::string& path) {
    return parent_path(path) != request_.path() ||
           std::ranges::find(own->nodes, base_name(path), &LockName::text) != own->nodes.end();
  };
  if (!std::ranges::all_of(nodes.holding().nodes, there)) return std::nullopt;
  return static_cast<std::size_t>(own - queue.contenders.begin());
}

std::string LockTurn::path_of(const std::string& name) const {
  return join_path(request_.path(), name);
}

const std::string& LockTurn::called() const {
  return request_.called.empty() ? request_.path() : request_.called;
}

void LockTurn::report_lost_place(bool same_session) {
  const auto* const why = same_session ? "its node was deleted" : "the session ended";
  report_.warn(position_ > 0 ? fmt::format("{}: place {} in the queue is lost ({}); queueing "
                                           "again at its end",
                                           called(), position_, why)
                             : fmt::format("{}: {}; asking again", called(), why));
  position_ = 0;
}

void LockTurn::report_other_names() const {
  report_.warn(request_.path() +
               ": other contenders here would not see Curator's names; queueing with names that "
               "all libraries see (--compat all)");
}

void LockTurn::leave(bool nodes_go) {
  listing_.forget();
  position_ = 0;
  // Removing our nodes fires the herd's watch.
  if (nodes_go && herd_)
    watch_.let_go();
  else
    watch_.drop();
}

Task<LockQueue> LockTurn::look() {
  auto names = co_await listing_.names(false);
  auto queue = co_await order(std::move(names));
  co_return queue;
}

/// A failed try must not cost others anything: no node, no watch, no event.
Task<> LockTurn::look_first() {
  const auto queue = co_await look();
  const bool free = std::ranges::none_of(queue.contenders, [&](const Contender& contender) {
    return request_.mode == LockMode::Exclusive || contender.mode == LockMode::Exclusive;
  });
  if (!free) throw LockBusy(called() + " is busy");
}

Task<Turn> LockTurn::await(LockNodes& nodes, Compat names) {
  for (;;) {
    auto listed = co_await listing_.names(herd_);
    std::optional<QueuePlace> place;
    // Giving way requires knowing the others.
    if (nodes.same_session() && nodes.holding().nodes.size() == 1 && !gives_way_)
      place = plain_place(listed, base_name(nodes.holding().nodes.front()));
    if (!place) {
      const auto queue = co_await order(std::move(listed));
      const auto own = nodes.same_session() ? own_place(queue, nodes) : std::nullopt;
      if (!own) co_return Turn::PlaceLost;
      if (needs_other_names(queue, *own, names)) co_return Turn::OtherNames;
      warn_of_flaws(queue, *own);
      place = queue.place(*own);
      const bool waits = !place->predecessor_node.empty() && !request_.try_only;
      if (waits && gives_way_ && finds_obstacle(queue, *own)) co_return Turn::GivesWay;
    }
    if (place->predecessor_node.empty()) co_return Turn::Held;
    if (request_.try_only) throw LockBusy(called() + " is busy");
    nodes.ask_token();
    co_await await_change(std::move(*place));
    nodes.renew_lease();
    look_again(nodes);
  }
}

/// Lists again at once. A recipe that acts on the answer may need other answers as soon, and can
/// send those requests right behind (RecipeReport::relisted).
void LockTurn::look_again(const LockNodes& nodes) {
  if (requests_.client().current_state() != SessionState::Connected || !nodes.same_session())
    return;
  listing_.ask(herd_);
  if (report_.relisted) report_.relisted(nodes.holding().nodes);
}

bool LockTurn::finds_obstacle(const LockQueue& queue, std::size_t own) {
  for (std::size_t i = 0; i < own; ++i) {
    const auto& node = queue.contenders[i].nodes.front();
    if (!joins_many(node)) continue;
    obstacle_ = path_of(node.text);
    return true;
  }
  return false;
}

Task<LockQueue> LockTurn::order(std::vector<std::string>&& names) {
  std::map<std::string, std::int64_t> czxids;
  if (order_needs_stats(names)) czxids = co_await fetch_order(names);
  auto queue = make_lock_queue(std::move(names), czxids);
  co_return queue;
}

/// Reads the czxids: the parent's counter is exhausted, and only they tell who came first.
Task<std::map<std::string, std::int64_t>> LockTurn::fetch_order(std::vector<std::string> names) {
  for (;;) {
    std::vector<RecipeRequests::Sent<Stat>> questions;
    questions.reserve(names.size());
    for (const auto& name : names)
      questions.push_back(requests_.send(
          requests_.client().start_exists(path_of(name), Watch::none()), "exists {}", name));
    std::map<std::string, std::int64_t> order;
    bool complete = true;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const auto outcome = co_await requests_.answer(std::move(questions[i]));
      if (is_connection_failure(outcome.code)) complete = false;
      // Nobody waits for one that is gone by now; one that may not be read may be before this one.
      const bool known = outcome.code == code::ok || outcome.code == code::no_node ||
                         is_connection_failure(outcome.code);
      if (!known) throw ZkError(outcome.code, path_of(names[i]));
      order[names[i]] = outcome.code == code::ok ? outcome.value.czxid : INT64_MAX;
    }
    if (complete) co_return order;
    co_await requests_.connected();
  }
}

Task<> LockTurn::await_change(QueuePlace place) {
  const auto watched = path_of(place.watched_node);
  Outcome<Node> seen;
  if (!herd_)
    seen = co_await watch_.get(watched);
  else if (report_.waiting)
    seen = co_await requests_.answer(requests_.send_get(watched));
  if (seen.code == code::no_node || is_connection_failure(seen.code)) co_return;  // list again
  // Where servers hide the Stat, too (since 3.8.4 and 3.9.2), no watch is set, and nothing would
  // end the wait.
  const bool only_shown = herd_ && seen.code == code::no_auth;
  if (seen.code != code::ok && !only_shown) throw ZkError(seen.code, watched);
  co_await report_place(std::move(place), std::move(seen));
  const bool woken = co_await watch_.event();
  if (!woken) throw LockBusy(called() + " was not acquired in time");
}

Task<> LockTurn::report_place(QueuePlace place, Outcome<Node> before) {
  if (!report_.waiting || position_ == place.position) co_return;
  position_ = place.position;
  note_predecessor(before, place);
  const auto first = co_await requests_.answer(requests_.send_get(path_of(place.first_node)));
  note_holder(first, place);
  report_.waiting(place);
}

void LockTurn::warn_of_flaws(const LockQueue& queue, std::size_t own) {
  if (!report_.warning) return;
  for (const auto& flaw : lock_flaws(queue, queue.contenders[own].key()))
    if (warned_.insert(flaw).second) report_.warning(flaw);
  // Only once, although the text contains a changing number.
  const auto counter = queue.contenders[own].nodes.back().sequence;
  if (const auto flaw = counter_flaw(queue, counter); flaw && warned_.insert("counter").second)
    report_.warning(fmt::format("{}: {}", called(), *flaw));
}

/// Whether another contender recognises none of our names, but would if we used them all.
bool LockTurn::needs_other_names(const LockQueue& queue, std::size_t own, Compat names) const {
  if (request_.compat || names == Compat::All) return false;
  const bool read_write = request_.read_write || request_.mode == LockMode::Shared;
  return std::ranges::any_of(queue.contenders, [&](const Contender& other) {
    if (&other == &queue.contenders[own] || other.nodes.size() > 1) return false;
    const auto tag = other.nodes.front().tag;
    if (tag == ContenderTag::KazooRead || tag == ContenderTag::KazooLock) return true;
    return read_write ? tag == ContenderTag::Lock || tag == ContenderTag::Session
                      : tag == ContenderTag::Read || tag == ContenderTag::Write;
  });
}

}  // namespace zksh
