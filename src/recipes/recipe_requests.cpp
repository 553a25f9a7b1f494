// RecipeRequests: the requests and watches of recipes, reported step by step.
#include "recipes/recipe_requests.h"

#include "base/time.h"
#include "client/client.h"
#include "client/lease_renewal.h"
#include "client/node_path.h"
#include "client/patient_connection.h"

#include <algorithm>
#include <chrono>

namespace zksh {

using namespace std::chrono_literals;

std::string answer_text(const Created& created) {
  return "made " + created.path.substr(created.path.rfind('/') + 1);
}
std::string answer_text(const Nothing& /*nothing*/) { return "done"; }
std::string answer_text(const Stat& stat) { return fmt::format("version {}", stat.version); }
std::string answer_text(const Node& node) {
  return fmt::format("{} bytes", node.data ? node.data->size() : 0);
}
std::string answer_text(const Children& children) {
  return fmt::format("{} {}", children.names.size(),
                     children.names.size() == 1 ? "child" : "children");
}
std::string answer_text(const std::vector<OpResult>& results) {
  return fmt::format("{} operations done", results.size());
}

namespace {

/// Whether no session's end removes it.
bool stays(const Outcome<Node>& contender) {
  return contender.code == code::ok && contender.value.stat.ephemeral_owner == 0;
}

}  // namespace

void note_predecessor(const Outcome<Node>& predecessor, QueuePlace& place) {
  place.predecessor = predecessor.value.data.value_or("");
  place.predecessor_stays = stays(predecessor);
}

void note_holder(const Outcome<Node>& first, QueuePlace& place) {
  if (first.code != code::ok) return;
  place.holder = first.value.data.value_or("");
  place.holder_age_ms = std::max<std::int64_t>(wall_clock_now() - first.value.stat.ctime, 0);
  place.holder_stays = stays(first);
}

RecipeRequests::Sent<Node> RecipeRequests::send_get(const std::string& path) {
  return send(client_.start_get(path, Watch::none()), "getData {}", path);
}

RecipeRequests::Sent<Children> RecipeRequests::send_children(const std::string& path) {
  return send(client_.start_children(path, Watch::none()), "getChildren {}", path);
}

RecipeRequests::Sent<Stat> RecipeRequests::send_exists(const std::string& path) {
  return send(client_.start_exists(path, Watch::none()), "exists {}", path);
}

RecipeRequests::Sent<Nothing> RecipeRequests::send_probe() {
  return send(client_.start_probe_newer(), "getConfig");
}

RecipeRequests::Sent<Nothing> RecipeRequests::send_sync(const std::string& path) {
  return send(client_.start_sync(path), "sync {}", path);
}

void RecipeRequests::report_answer(const std::string& what, Clock::time_point at, int code,
                                   const std::string& answer) const {
  report_.step(fmt::format("{}: {} ({})", what,
                           code == code::ok ? answer : keeper_message(code, {}),
                           short_time(Clock::now() - at)));
}

std::deque<Event> RecipeRequests::take_events(const Mailbox& mailbox) const {
  auto events = fiber_.monitor().with_lock(
      [&](const Monitor::Held& held) { return std::exchange((*mailbox)(held), {}); });
  for (const auto& event : events) {
    if (report_.event) report_.event();
    if (report_.step)
      report_.step(fmt::format("event {} of {}", event_name(event.type), event.path));
  }
  return events;
}

Task<> RecipeRequests::connected() {
  bool loss_reported = false;
  for (;;) {
    const auto state = client_.current_state();
    if (state == SessionState::Connected) break;
    if (state == SessionState::ConnectedReadOnly)
      throw Error("a lock needs a server that accepts writes; this one is read-only",
                  status::read_only);
    if (state == SessionState::Closed || state == SessionState::AuthFailed)
      throw ZkError(code::invalid_state, {});
    if (!loss_reported) step("no connection: waiting for one");
    loss_reported = true;
    client_.ensure_session();  // perhaps nobody else replaces an expired session
    const bool changed = co_await fiber_.until(
        [&](const Monitor::Held& held) { return client_.state(held) != SessionState::Connecting; },
        deadline_);
    if (!changed) throw LockUnsettled("no connection in time");
  }
  if (loss_reported) step("connected");
}

Task<> RecipeRequests::pause_after_loss() {
  constexpr auto shortest = 10ms;
  constexpr auto longest = 1000ms;
  const auto now = Clock::now();
  if (now - std::exchange(last_loss_, now) > 10 * longest) pause_ = {};
  const auto pause =
      std::exchange(pause_, std::clamp<Clock::duration>(2 * pause_, shortest, longest));
  if (pause.count() == 0) co_return;
  co_await fiber_.pause_until(std::min(now + pause, deadline_));
  if (Clock::now() >= deadline_)
    throw LockUnsettled("the place in the queue was lost again and again");
}

Task<> ContendingRecipe::acquire(Clock::time_point deadline) {
  requests_.set_deadline(deadline);
  std::exception_ptr failure;
  try {
    co_await contend();
  } catch (...) {  // rethrown once all is given back
    failure = std::current_exception();
  }
  requests_.set_deadline(Fiber::never);
  if (!failure) co_return;
  co_await give_up();
  std::rethrow_exception(failure);
}

void AncestorSearch::ask(const std::set<std::string>& paths) {
  forget();
  is_asked_ = true;
  if (!paths.empty()) flushed_ = requests_.send_sync(*paths.begin());
  for (const auto& path : paths)
    for (std::string_view at = path; at != "/"; at = parent_path(at))
      if (std::string node(at); !asked_.contains(node))
        asked_.emplace(node, requests_.send_exists(node));
}

Task<std::optional<std::vector<std::string>>> AncestorSearch::missing() {
  std::vector<std::string> missing;
  bool lost = false;
  if (flushed_) {
    const auto sync = co_await requests_.answer(*std::exchange(flushed_, std::nullopt));
    lost = is_connection_failure(sync.code);
  }
  for (auto& [path, asked] : asked_) {
    const auto outcome = co_await requests_.answer(std::move(asked));
    lost = lost || is_connection_failure(outcome.code);
    if (outcome.code == code::no_node) missing.push_back(path);
  }
  forget();
  if (lost) co_return std::nullopt;
  co_return missing;
}

Task<> make_ancestors(RecipeRequests& requests, std::string path, CreateMode last, Acl acl) {
  if (path == "/") throw ZkError(code::no_node, path);  // a missing chroot is a mistyped one
  AncestorSearch search(requests);
  std::set<std::string> wanted{path};
  for (;;) {
    co_await requests.connected();
    if (last == CreateMode::Container) requests.send_probe();
    search.ask(wanted);
    const auto missing = co_await search.missing();
    if (!missing) continue;
    if (missing->empty()) co_return;
    std::vector<RecipeRequests::Sent<Created>> sent;
    sent.reserve(missing->size());
    for (const auto& node : *missing) {
      const CreateOp op{.path = node,
                        .data = std::string(),
                        .acl = acl,
                        .mode = node == path ? last : CreateMode::Persistent};
      sent.push_back(requests.send(requests.client().start_create(op), "create {}", node));
    }
    bool done = true;
    const auto tried = last;
    auto node = missing->begin();
    for (auto& one : sent) {
      const auto outcome = co_await requests.answer(std::move(one));
      const bool made = outcome.code == code::ok || outcome.code == code::node_exists;
      const bool unsupported =
          outcome.code == code::unimplemented && tried == CreateMode::Container;
      const bool vanished = outcome.code == code::no_node && parent_path(*node) != "/";
      if (unsupported) last = CreateMode::Persistent;  // a server before 3.5.3
      if (!made && !unsupported && !vanished && !is_connection_failure(outcome.code))
        throw ZkError(outcome.code, *node);
      done = done && made;
      ++node;
    }
    if (done) co_return;
  }
}

void RecipeWatch::arm(const std::string& path, WatchKind kind) {
  if (path != path_ || kind != kind_) drop();
  path_ = path;
  kind_ = kind;
  session_ = requests_.client().session_id();
  // The answer to the next request includes what earlier events would report.
  requests_.fiber().monitor().with_lock(
      [&](const Monitor::Held& held) { (*mailbox_)(held).clear(); });
}

Watch RecipeWatch::on_children(const std::string& path) {
  arm(path, WatchKind::OfChildren);
  return Watch::into(mailbox_);
}

Task<Outcome<Node>> RecipeWatch::get(std::string path) {
  arm(path, WatchKind::OfData);
  auto& client = requests_.client();
  auto outcome = co_await requests_.answer(requests_.send(
      client.start_get(path, Watch::into(mailbox_)), "getData with a watch {}", path));
  if (outcome.code == code::no_auth) {
    const auto existence = co_await requests_.answer(requests_.send(
        client.start_exists(path, Watch::into(mailbox_)), "exists with a watch {}", path));
    outcome.code = existence.code;
    // Unlike getData, exists sets a watch on a missing node.
    if (existence.code == code::no_node) drop();
  }
  if (outcome.code != code::ok) path_.clear();
  co_return outcome;
}

Task<bool> RecipeWatch::event() {
  using Request = LeaseRenewal::Request;
  auto& client = requests_.client();
  auto& fiber = requests_.fiber();
  LeaseRenewal renewal(client.lease().timeout, LeaseRenewal::Stage::Waiting, BootClock::now());
  const auto is_over = [&](const Monitor::Held& held) {
    return !(*mailbox_)(held).empty() || client.state(held) != SessionState::Connected ||
           client.session_id(held) != session_;
  };
  std::optional<RecipeRequests::Sent<Stat>> reading;
  bool woken = false;
  for (;;) {
    woken = co_await fiber.until(
        is_over, std::min(requests_.deadline(), wait_until(renewal.next())), mailbox_.get());
    if (woken || Clock::now() >= requests_.deadline()) break;
    if (renewal.due(BootClock::now()) == Request::None) continue;
    renewal.sent(Request::Read, BootClock::now());
    const bool answered = !reading || fiber.monitor().with_lock([&](const Monitor::Held& held) {
      return (*reading->pending)(held).has_value();
    });
    if (!answered) continue;
    if (reading) {
      const auto outcome = co_await requests_.answer(std::move(*reading));
      woken = outcome.code == code::no_node;
      if (woken) break;
    }
    const auto& node = requests_.own_node();
    reading = requests_.send_exists(node.empty() ? path_ : node);
  }
  const auto events = requests_.take_events(mailbox_);
  if (!events.empty()) path_.clear();
  co_return woken;
}

void RecipeWatch::drop() {
  if (!path_.empty()) requests_.client().drop_watches(std::exchange(path_, {}), mailbox_, kind_);
}

void ChildListing::ask(bool with_watch) {
  const auto watch = with_watch ? watch_.on_children(path_) : Watch::none();
  sent_ = requests_.send(requests_.client().start_children(path_, watch), "getChildren{} {}",
                         with_watch ? " with a watch" : "", path_);
}

Task<std::vector<std::string>> ChildListing::names(bool with_watch) {
  for (;;) {
    if (!sent_) {
      co_await requests_.connected();
      ask(with_watch);
    }
    const auto outcome = co_await requests_.answer(*std::exchange(sent_, std::nullopt));
    if (is_connection_failure(outcome.code)) continue;
    if (outcome.code != code::ok && outcome.code != code::no_node)
      throw ZkError(outcome.code, path_);
    co_return outcome.value.names.strings();
  }
}

}  // namespace zksh
