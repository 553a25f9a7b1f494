// FairLock: from the first request to holding: the queue, the turn, the wait.
#include "recipes/fair_lock.h"

#include "node_path.h"

#include <algorithm>
#include <chrono>

namespace zksh {
FairLock::FairLock(Client& client, Strand& strand, const LockReport& report, LockRequest request,
                   LockWait wait)
    : requests_(client, strand, report),
      strand_(strand),
      report_(report),
      request_(std::move(request)),
      wait_(wait) {}

std::string FairLock::path_of(const std::string& name) const {
  return join_path(request_.path, name);
}

bool FairLock::same_session() { return requests_.client().session_id() == holding_.session; }

Flow<> FairLock::acquire(Clock::time_point deadline) {
  requests_.set_deadline(deadline);
  std::exception_ptr failure;
  try {
    co_await contend();
  } catch (...) {  // thrown on when the nodes are gone
    failure = std::current_exception();
  }
  requests_.set_deadline(Strand::never);
  if (!failure) co_return;
  co_await withdraw(false);
  std::rethrow_exception(failure);
}

Flow<> FairLock::contend() {
  if (request_.try_only) co_await look_first();
  for (;;) {
    co_await enter();
    const auto turn = co_await await_turn();
    if (turn == Turn::Held) break;
    if (turn == Turn::OtherNames) {
      co_await withdraw(true);
    } else if (request_.requeue) {
      tell_lost_place();
    } else {
      throw LockLost("the place in the queue of " + request_.path + " is lost");
    }
  }
  co_await prove_token();
}

void FairLock::tell_lost_place() {
  if (!report_.warning) return;
  const auto* const why = same_session() ? "its node was deleted" : "the session expired";
  report_.warning(position_ > 0 ? fmt::format("{}: place {} in the queue is lost ({}); queueing "
                                              "again at its end",
                                              request_.path, position_, why)
                                : fmt::format("{}: {}; asking again", request_.path, why));
  position_ = 0;
}

/// A try that fails must cost the others nothing: no node, no watch, no event.
Flow<> FairLock::look_first() {
  co_await list();
  listed_ = false;
  const bool free = std::ranges::none_of(queue_.contenders, [&](const Contender& contender) {
    return request_.mode == LockMode::Exclusive || contender.mode == LockMode::Exclusive;
  });
  if (!free) throw LockBusy(request_.path + " is busy");
}

Flow<FairLock::Turn> FairLock::await_turn() {
  for (;;) {
    if (!listed_) co_await list();
    listed_ = false;
    const auto own = same_session() ? queue_.index_of(key_) : std::nullopt;
    if (!own) co_return Turn::PlaceLost;
    if (wants_other_names(*own)) {
      fallback_ = Compat::All;
      if (report_.warning)
        report_.warning(request_.path +
                        ": others here would not see Curator's names; queueing with the names of "
                        "all libraries (--compat all)");
      co_return Turn::OtherNames;
    }
    warn_of_flaws();
    const auto before = queue_.predecessor(*own);
    if (!before) co_return Turn::Held;
    if (request_.try_only) throw LockBusy(request_.path + " is busy");
    co_await await_change(*own, *before);
  }
}

Flow<> FairLock::list() {
  for (;;) {
    co_await requests_.connected();
    const auto at = BootClock::now();
    auto sent = requests_.send(
        [&] { return "getChildren " + request_.path; },
        [&] { return requests_.client().start_children(request_.path, listing_watch()); });
    auto outcome = co_await requests_.answer(std::move(sent));
    if (LockRequests::lost(outcome.code)) continue;
    if (outcome.code != code::ok && outcome.code != code::no_node)
      throw ZkError(outcome.code, request_.path);
    const auto& names = outcome.value.names;
    std::map<std::string, std::int64_t> order;
    if (order_needs_stats(names)) order = co_await fetch_order(names);
    queue_ = make_lock_queue(names, order);
    listed_ = true;
    if (queue_.index_of(key_)) holding_.proven = at;
    co_return;
  }
}

/// The counter of the parent is at its end, or past it: only czxid tells who came first.
Flow<std::map<std::string, std::int64_t>> FairLock::fetch_order(std::vector<std::string> names) {
  if (report_.warning && warned_.insert("counter").second)
    report_.warning(request_.path +
                    ": the sequence counter is at its end; zksh goes by czxid, but other "
                    "libraries cannot tell who is first here any more (use a new lock node)");
  for (;;) {
    std::vector<LockRequests::Sent<Stat>> questions;
    questions.reserve(names.size());
    for (const auto& name : names)
      questions.push_back(requests_.send(
          [&] { return "exists " + name; },
          [&] { return requests_.client().start_exists(path_of(name), Watch::none()); }));
    std::map<std::string, std::int64_t> order;
    bool complete = true;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const auto outcome = co_await requests_.answer(std::move(questions[i]));
      if (LockRequests::lost(outcome.code))
        complete = false;
      else if (outcome.code == code::ok)
        order[names[i]] = outcome.value.czxid;
      else
        order[names[i]] = INT64_MAX;  // gone meanwhile: it keeps nobody waiting
    }
    if (complete) co_return order;
    co_await requests_.connected();
  }
}

/// None while there is no node of ours: its end is what fires the last watch of the herd.
Watch FairLock::listing_watch() const {
  return wait_ == LockWait::Children && sent_ ? Watch::into(mailbox_) : Watch::none();
}

/// Reads another contender's node, and watches it unless the listing did.
Flow<Outcome<Node>> FairLock::look_at(std::string path) {
  const bool watches = wait_ == LockWait::Predecessor;
  const auto watch = watches ? Watch::into(mailbox_) : Watch::none();
  const auto* const how = watches ? " with a watch " : " ";
  auto& client = requests_.client();
  auto sent = requests_.send([&] { return "getData" + (how + path); },
                             [&] { return client.start_get(path, watch); });
  if (watches) watched_ = path;
  auto outcome = co_await requests_.answer(std::move(sent));
  if (outcome.code != code::no_auth) co_return outcome;
  // Who may not read it may still wait for its end.
  auto existing = requests_.send([&] { return "exists" + (how + path); },
                                 [&] { return client.start_exists(path, watch); });
  const auto existence = co_await requests_.answer(std::move(existing));
  // Unlike getData, it leaves a watch on a node that is not there.
  if (existence.code == code::no_node) client.drop_watches(path, mailbox_);
  co_return Outcome<Node>{existence.code, {}};
}

Flow<> FairLock::await_change(std::size_t own, std::size_t before) {
  const auto path = path_of(queue_.contenders[before].nodes.front().text);
  auto outcome = co_await look_at(path);
  if (outcome.code == code::no_node || LockRequests::lost(outcome.code)) {
    watched_.clear();  // getData leaves no watch on a missing node
    co_return;         // list again
  }
  if (outcome.code != code::ok) throw ZkError(outcome.code, path);
  co_await tell_place(own, before, std::move(outcome.value.data));

  const bool woken = co_await strand_.until(
      [&](const Monitor::Held& held) {
        return !(*mailbox_)(held).empty() ||
               requests_.client().state(held) != SessionState::Connected;
      },
      requests_.deadline(), mailbox_.get());
  if (!woken) throw LockBusy(request_.path + " is busy");
  const auto events = requests_.take_events(mailbox_);
  if (!events.empty()) watched_.clear();
}

Flow<> FairLock::tell_place(std::size_t own, std::size_t before, Data said) {
  if (!report_.waiting || position_ == own + 1) co_return;
  position_ = own + 1;
  LockPlace place{.position = own + 1,
                  .count = queue_.contenders.size(),
                  .behind = said.value_or(""),
                  .behind_node = queue_.contenders[before].nodes.front().text};
  const auto first = queue_.contenders.front().nodes.front().text;
  auto sent =
      requests_.send([&] { return "getData " + path_of(first); },
                     [&] { return requests_.client().start_get(path_of(first), Watch::none()); });
  const auto outcome = co_await requests_.answer(std::move(sent));
  if (outcome.code == code::ok) {
    place.holder = outcome.value.data.value_or("");
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    place.holder_age_ms = std::max<std::int64_t>(now.count() - outcome.value.stat.ctime, 0);
  }
  report_.waiting(place);
}

void FairLock::warn_of_flaws() {
  if (!report_.warning) return;
  for (const auto& flaw : lock_flaws(queue_, key_))
    if (warned_.insert(flaw).second) report_.warning(flaw);
}

/// Whether another contender recognises none of our names, but would if all were there.
bool FairLock::wants_other_names(std::size_t own) const {
  if (request_.compat || names() == Compat::All) return false;
  return std::ranges::any_of(queue_.contenders, [&](const Contender& other) {
    if (&other == &queue_.contenders[own] || other.nodes.size() > 1) return false;
    switch (other.nodes.front().tag) {
      case LockTag::KazooRead:
      case LockTag::KazooLock:
        return true;
      case LockTag::Read:
      case LockTag::Write:
        return !request_.read_write;
      case LockTag::Lock:
      case LockTag::Session:
        return request_.read_write;
      default:
        return false;
    }
  });
}

}  // namespace zksh
