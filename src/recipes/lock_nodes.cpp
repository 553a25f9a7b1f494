// LockNodes: creates a contender's nodes without duplicates, and removes them without leaving any
// behind.
#include "recipes/lock_nodes.h"

#include "base/mapped.h"
#include "client/client.h"
#include "client/lease_renewal.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "recipes/lock_distance.h"
#include "recipes/lock_name.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <tuple>
#include <utility>

namespace zksh {
namespace {

/// How often a parent may vanish, or be created by others, between two of our requests.
constexpr int parent_races = 20;

bool is_answer(int code) { return code == code::ok || code == code::no_node; }
/// Whether to ask again: once there is a server that takes writes, or has less to do.
bool was_not_asked(int code) {
  return is_connection_failure(code) || code == code::not_read_only || code == code::throttled;
}

}  // namespace

void LockNodes::begin_anew() {
  guid_ = hex_ = fresh_guid(joins_many_);
  std::erase(hex_, '-');
  plan_ = planner_(guid_);
  holding_ = {.nodes = {}, .session = requests_.client().session_id()};
  asked_ = unsure_ = true;
  token_asked_.reset();
}

Task<int> LockNodes::make(std::function<void()> on_sent) {
  parents_.clear();
  search_.forget();
  probe_.reset();
  for (int race = 0; race < parent_races;) {
    co_await requests_.connected();
    begin_anew();
    const auto session = holding_.session;
    const int result = co_await create(on_sent);
    bool made = result == code::ok;
    if (made || is_connection_failure(result)) {
      if (!made) made = co_await find();
      unsure_ = holding_.session != session || !same_session();
      if (made && !unsure_) {
        parents_exist_ = true;
        requests_.set_own_node(holding_.nodes.front());
        co_return code::ok;
      }
      // A new session has begun. The nodes may be the old session's, which a lagging server still
      // shows, or the new one's, if it was faster than the request.
      co_await take_back();
      continue;
    }
    asked_ = unsure_ = false;  // refused: nothing was created
    if (result == code::node_exists && !plan_.nodes.front().sequential) co_return result;
    if (result == code::lock_lost || result == code::bad_version) co_return result;
    if (result != code::no_node)
      throw ZkError(result, std::string(parent_path(plan_.nodes.front().path)));
    ++race;
    parents_exist_ = false;
    co_await find_missing();
  }
  throw Error(fmt::format("{} keeps disappearing: somebody deletes it again and again",
                          parent_path(plan_.nodes.front().path)));
}

/// Creates the nodes, and right before them the missing parents: a container that never had a child
/// is never removed. Returns the code for the nodes.
Task<int> LockNodes::create(const std::function<void()>& on_sent) {
  auto& client = requests_.client();
  // Not in the same transaction: the C client (3.8.0) aborts at the answer to a container in a
  // multi.
  const auto paths = parents_;
  auto parents = mapped(paths, [&](const std::string& path) {
    const bool is_lock = direct_parents().contains(path) || path == plan_.top;
    const CreateOp op{.path = path,
                      .data = std::string(),
                      .acl = plan_.nodes.front().acl,
                      .mode = containers_ && is_lock ? plan_.parents : CreateMode::Persistent};
    return requests_.send(client.start_create(op), "create {}", path);
  });
  int result = code::ok;
  if (plan_.nodes.size() == 1 && plan_.removals.empty()) {
    const auto& node = plan_.nodes.front();
    auto sent = requests_.send(client.start_create(node), "create {} (ephemeral{})", node.path,
                               node.sequential ? ", sequential" : "");
    sent_creation(on_sent);
    const auto outcome = co_await requests_.answer(std::move(sent));
    result = outcome.code;
    if (result == code::ok)
      adopt({{.code = code::ok, .path = outcome.value.path, .stat = outcome.value.stat}});
  } else {
    result = co_await create_all(on_sent);
  }
  if (result != code::no_node) co_return result;
  auto path = paths.begin();
  const bool with_containers = containers_;
  for (auto& parent : parents) {
    const auto outcome = co_await requests_.answer(std::move(parent));
    // A server before 3.5.3 has no containers.
    if (with_containers && outcome.code == code::unimplemented)
      containers_ = false;
    else
      explain(*path, outcome.code);
    ++path;
  }
  co_return result;
}

/// Creates the nodes and does the plan's removals in one transaction.
Task<int> LockNodes::create_all(const std::function<void()>& on_sent) {
  std::vector<Op> ops(plan_.nodes.begin(), plan_.nodes.end());
  std::ranges::copy(plan_.removals, std::back_inserter(ops));
  std::string what;
  for (const auto& node : plan_.nodes) what += ' ' + node.path;
  what += " (ephemeral, sequential)";
  for (const auto& node : plan_.removals) what += ", delete " + node.path;
  auto sent = requests_.send(requests_.client().start_multi(ops), "multi: create{}", what);
  sent_creation(on_sent);
  auto outcome = co_await requests_.answer(std::move(sent));
  auto& results = outcome.value;
  if (outcome.code == code::no_node) {
    const auto failed = std::ranges::find(results, outcome.code, &OpResult::code) - results.begin();
    if (failed >= std::ssize(plan_.nodes)) co_return code::lock_lost;
  }
  results.resize(std::min(results.size(), plan_.nodes.size()));
  if (outcome.code == code::ok) adopt(results);
  co_return outcome.code;
}

/// Sends what follows the creation, before its answer has come. Far from the servers, that includes
/// what is needed if a parent is missing, unless all were there before.
void LockNodes::sent_creation(const std::function<void()>& on_sent) {
  if (on_sent) on_sent();
  const bool may_be_missing = parents_.empty() && !parents_exist_ && !search_.is_asked();
  if (may_be_missing && is_far(requests_.client())) ask_ancestors();
}

std::set<std::string> LockNodes::direct_parents() const {
  std::set<std::string> parents;
  for (const auto& node : plan_.nodes) parents.emplace(parent_path(node.path));
  return parents;
}

/// Asks about the ancestors of the direct parents. The answers matter only if one of the direct
/// parents is missing, which the leader finds out.
void LockNodes::ask_ancestors() {
  if (plan_.parents == CreateMode::Container && containers_) probe_ = requests_.send_probe();
  std::set<std::string> above;
  for (const auto& parent : direct_parents())
    if (parent_path(parent) != "/") above.emplace(parent_path(parent));
  search_.ask(above);
}

/// Finds out which parents to create.
Task<> LockNodes::find_missing() {
  const auto direct = direct_parents();
  if (direct.contains("/")) throw ZkError(code::no_node, "/");  // a mistyped chroot
  if (!search_.is_asked()) ask_ancestors();
  const auto missing = co_await search_.missing();
  if (probe_) co_await requests_.answer(*std::exchange(probe_, std::nullopt));
  auto all = direct;
  if (missing) all.insert(missing->begin(), missing->end());
  parents_.assign(all.begin(), all.end());
}

void LockNodes::adopt(const std::vector<OpResult>& results) {
  holding_.nodes = mapped(results, &OpResult::path);
  holding_.token = results.front().stat.czxid;  // 0: not known
}

/// Evaluates the answer to the creation of a parent without which the nodes could not be created.
/// Returns if the next attempt may succeed, else throws.
void LockNodes::explain(const std::string& path, int result) {
  const bool vanished = result == code::no_node && parent_path(path) != "/";
  if (result == code::ok || result == code::node_exists || vanished ||
      is_connection_failure(result))
    return;
  asked_ = unsure_ = false;
  throw ZkError(result, path);
}

/// Searches for nodes whose creation got no answer. Returns false if there are none or the session
/// has ended.
Task<bool> LockNodes::find() {
  for (;;) {
    const bool there = co_await session_is_there();
    if (!there) break;
    std::optional<std::vector<std::string>> found;
    if (plan_.nodes.front().sequential)
      found = co_await find_by_names();
    else
      found = co_await find_by_data();
    if (!found) continue;
    holding_.nodes = std::move(*found);
    asked_ = !holding_.nodes.empty();
    co_return asked_;
  }
  asked_ = false;
  co_return false;
}

/// Sorted by sequence number; nullopt if the connection was lost again. Waits (sync) for what is
/// still on its way to the server's tree.
Task<std::optional<std::vector<std::string>>> LockNodes::find_by_names() {
  const auto parents = direct_parents();
  auto flushed = requests_.send_sync(*parents.begin());
  auto listings =
      mapped(parents, [&](const std::string& parent) { return requests_.send_children(parent); });
  const auto sync = co_await requests_.answer(std::move(flushed));
  bool lost = was_not_asked(sync.code);
  std::vector<std::tuple<std::string, std::int32_t, std::string>> found;
  auto parent = parents.begin();
  for (auto& listing : listings) {
    const auto listed = co_await requests_.answer(std::move(listing));
    lost = lost || is_connection_failure(listed.code);
    if (!lost && !is_answer(listed.code)) throw ZkError(listed.code, *parent);
    for (const auto& name : listed.value.names.strings()) {
      const auto parsed = parse_lock_name(name);
      if (parsed && has(*parsed)) found.emplace_back(*parent, parsed->sequence, name);
    }
    ++parent;
  }
  if (lost) co_return std::nullopt;
  std::ranges::sort(found);
  std::vector<std::string> nodes;
  nodes.reserve(found.size());
  for (const auto& [above, sequence, name] : found) nodes.push_back(join_path(above, name));
  co_return nodes;
}

/// As find_by_names, for a single node, which must be this session's and have our data.
Task<std::optional<std::vector<std::string>>> LockNodes::find_by_data() {
  const auto& node = plan_.nodes.front();
  auto flushed = requests_.send_sync(node.path);
  auto reading = requests_.send_get(node.path);
  const auto sync = co_await requests_.answer(std::move(flushed));
  const auto read = co_await requests_.answer(std::move(reading));
  if (was_not_asked(sync.code) || is_connection_failure(read.code)) co_return std::nullopt;
  if (!is_answer(read.code)) throw ZkError(read.code, node.path);
  const bool ours = read.code == code::ok && read.value.data == node.data &&
                    read.value.stat.ephemeral_owner == holding_.session;
  std::vector<std::string> nodes;
  if (ours) nodes.push_back(node.path);
  co_return nodes;
}

/// Waits until the nodes' session is connected to a server that takes writes; false if it has
/// ended, and its nodes with it.
Task<bool> LockNodes::session_is_there() {
  auto& client = requests_.client();
  const bool settled = co_await requests_.fiber().until(
      [&](const Monitor::Held& held) {
        const auto state = client.state(held);
        const bool at_reader =
            state == SessionState::ConnectedReadOnly && client.session_id(held) == holding_.session;
        return (state != SessionState::Connecting && !at_reader) || client.between_sessions(held);
      },
      requests_.deadline());
  if (!settled) throw LockUnsettled("no connection in time");
  const auto state = client.current_state();
  if (!is_connected(state)) co_return false;
  if (same_session()) co_return true;
  if (!unsure_) co_return false;
  // If the session was replaced right before the request was sent, the nodes are the new one's.
  holding_.session = client.session_id();
  co_return true;
}

Task<bool> LockNodes::take_back(bool asked) {
  const Fiber::Shield shield(requests_.fiber());
  const auto session = holding_.session;
  leave_own_node();
  while (asked_) {
    bool there = co_await session_is_there();
    if (there && holding_.nodes.empty()) there = co_await find();
    if (!there) break;
    const int result = co_await remove();
    if (was_not_asked(result)) {
      asked = asked || is_connection_failure(result);
      constexpr std::chrono::milliseconds pause{200};
      if (result == code::throttled) co_await requests_.fiber().pause_until(Clock::now() + pause);
      continue;
    }
    // The parent's ACL decides whether a node may be deleted.
    if (!is_answer(result)) throw ZkError(result, std::string(parent_path(holding_.nodes.front())));
    asked_ = false;
    // If an answer was lost, our own request may have removed the nodes.
    co_return (result == code::ok || asked) && holding_.session == session;
  }
  asked_ = false;
  co_return false;
}

void LockNodes::removed() {
  leave_own_node();
  asked_ = false;
}

bool LockNodes::same_session() const { return requests_.client().session_id() == holding_.session; }

void LockNodes::leave_own_node() {
  if (!holding_.nodes.empty() && requests_.own_node() == holding_.nodes.front())
    requests_.set_own_node({});
}

/// Returns no_node if one of them no longer existed; the others are removed nevertheless.
Task<int> LockNodes::remove() {
  auto& client = requests_.client();
  const auto& nodes = holding_.nodes;
  if (nodes.size() > 1) {
    const auto ops =
        mapped<Op>(nodes, [](const std::string& node) { return RemoveOp{.path = node}; });
    const auto outcome = co_await requests_.answer(
        requests_.send(client.start_multi(ops), "multi: delete {} nodes", ops.size()));
    if (outcome.code != code::no_node) co_return outcome.code;
  }
  int result = nodes.size() > 1 ? code::no_node : code::ok;
  for (const auto& node : nodes) {
    const RemoveOp op{.path = node};
    const auto outcome =
        co_await requests_.answer(requests_.send(client.start_remove(op), "delete {}", node));
    if (!is_answer(outcome.code)) co_return outcome.code;
    if (outcome.code == code::no_node) result = code::no_node;
  }
  co_return result;
}

Task<bool> LockNodes::prove() {
  while (holding_.token == 0) {
    co_await requests_.connected();
    if (!same_session()) co_return false;
    ask_token();
    const auto outcome = co_await requests_.answer(*std::exchange(token_asked_, std::nullopt));
    if (is_connection_failure(outcome.code)) continue;
    if (outcome.code != code::ok) co_return false;
    holding_.token = outcome.value.czxid;
  }
  co_return co_await await_lease();
}

void LockNodes::ask_token() {
  if (holding_.token != 0 || token_asked_) return;
  token_asked_ = requests_.send_exists(holding_.nodes.front());
}

bool LockNodes::lease_lasts() {
  auto& client = requests_.client();
  return client.lease_lasts(usual_reserve(client.lease().timeout));
}

RecipeRequests::Sent<std::vector<OpResult>> LockNodes::send_check() {
  const auto ops =
      mapped<Op>(holding_.nodes, [](const std::string& node) { return CheckOp{.path = node}; });
  return requests_.send(requests_.client().start_multi(ops), "multi: check {} nodes", ops.size());
}

void LockNodes::renew_lease() {
  if (same_session() && !lease_lasts()) send_check();
}

/// After a long time without a transaction, two are needed (session_lease.h); after a suspension of
/// this process, or far from the servers, perhaps more.
Task<bool> LockNodes::await_lease() {
  const auto begun = BootClock::now();
  auto& fiber = requests_.fiber();
  LeaseRenewal renewal(requests_.client().lease().timeout, LeaseRenewal::Stage::Acquiring,
                       BootClock::now());
  std::deque<RecipeRequests::Sent<std::vector<OpResult>>> checks;  // not answered yet
  const auto is_answered = [&](const Monitor::Held& held) {
    return !checks.empty() && (*checks.front().pending)(held).has_value();
  };
  while (same_session() && !lease_lasts()) {
    co_await requests_.connected();
    const auto timeout = requests_.client().lease().timeout;
    const bool was_patient = BootClock::now() > begun + 2 * timeout;
    if (const auto far = too_far_for_lock(requests_.client()); was_patient && !far.empty())
      throw ValueError(far);
    if (const auto now = BootClock::now(); renewal.due(now) == LeaseRenewal::Request::Check) {
      renewal.sent(LeaseRenewal::Request::Check, now);
      checks.push_back(send_check());
    }
    const auto next = std::min(wait_until(renewal.next()), requests_.deadline());
    const void* subject = this;
    if (!checks.empty()) subject = checks.front().pending.get();
    co_await fiber.until(is_answered, next, subject);
    if (Clock::now() >= requests_.deadline())
      throw LockUnsettled("the session could not be confirmed in time");
    while (fiber.monitor().with_lock(is_answered)) {
      auto check = std::move(checks.front());
      checks.pop_front();
      renewal.answered();
      const auto outcome = co_await requests_.answer(std::move(check));
      if (is_connection_failure(outcome.code)) continue;
      if (outcome.code == code::no_node) co_return false;
      // The nodes may not be readable, but even that answer was agreed on by a quorum.
      if (outcome.code != code::ok && outcome.code != code::no_auth)
        throw ZkError(outcome.code, holding_.nodes.front());
    }
  }
  co_return same_session();
}

Task<> LockNodes::exchange(std::vector<Op> ops, std::vector<std::string> after) {
  const Fiber::Shield shield(requests_.fiber());
  auto& client = requests_.client();
  const auto session = holding_.session;
  for (;;) {
    unsure_ = true;
    const auto outcome = co_await requests_.answer(
        requests_.send(client.start_multi(ops), "multi: {} operations", ops.size()));
    bool done = outcome.code == code::ok;
    bool lost = outcome.code == code::no_node;
    if (is_connection_failure(outcome.code)) {
      // All of it was applied, or nothing: the guid's nodes show which.
      const bool found = co_await find();
      lost = !found;
      done = std::ranges::find(holding_.nodes, after.back()) != holding_.nodes.end();
    } else if (!done && !lost) {
      unsure_ = false;
      throw ZkError(outcome.code, after.back());
    }
    if (lost || holding_.session != session || !same_session()) {
      holding_.nodes.clear();  // to be found again
      co_await take_back();
      throw LockLost(fmt::format("{} was lost before", parent_path(after.back())));
    }
    if (!done) continue;
    unsure_ = false;
    holding_.nodes = std::move(after);
    holding_.token = 0;
    token_asked_.reset();
    co_return;
  }
}

}  // namespace zksh
