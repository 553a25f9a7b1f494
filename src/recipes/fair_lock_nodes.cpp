// FairLock: its nodes: made without doubling one, proven, taken back without forgetting one.
#include "node_path.h"
#include "recipes/fair_lock.h"

#include <algorithm>

namespace zksh {
namespace {

/// How often the lock node may vanish, or be made by another, between two requests of ours.
constexpr int parent_races = 20;

/// "_c_GUID-__WRIT__0000000007" → the name of the reader that takes its place in the queue.
std::string reader_name(const LockName& writer) {
  const auto* const tag = writer.tag == LockTag::KazooLock ? "__rlock__" : "__READ__";
  return fmt::format("{}{}{:010}", writer.prefix, tag, writer.sequence);
}

}  // namespace

CreateOp FairLock::parent_creation() const {
  // kazoo's objects fail when the lock node that they have seen is gone.
  const auto usual =
      names() == Compat::Curator && containers_ ? CreateMode::Container : CreateMode::Persistent;
  return {.path = request_.path,
          .data = std::string(),
          .acl = request_.acl,
          .mode = request_.parent.value_or(usual)};
}

std::vector<Op> FairLock::creations() const {
  std::vector<Op> ops;
  for (const auto& prefix : contender_prefixes(names(), request_.mode, request_.read_write, guid_))
    ops.emplace_back(CreateOp{.path = path_of(prefix),
                              .data = request_.owner,
                              .acl = request_.acl,
                              .mode = CreateMode::Ephemeral,
                              .sequential = true});
  return ops;
}

/// Makes the nodes, whatever was lost on the way: a creation without an answer is looked for by its
/// guid, which no other contender has; a new session gets a new guid, since what the old one made
/// will vanish.
Flow<> FairLock::enter() {
  bool with_parent = false;
  for (int race = 0; race < parent_races;) {
    co_await requests_.connected();
    if (!sent_ || !same_session()) {
      holding_ = {.nodes = {}, .session = requests_.client().session_id()};
      guid_ = fresh_guid();
      key_ = parse_lock_name(
                 contender_prefixes(names(), request_.mode, request_.read_write, guid_).front() +
                 "0000000000")
                 ->key;
    }
    sent_ = true;
    const int result = co_await create(with_parent);
    if (result == code::ok) co_return;
    if (LockRequests::lost(result)) {
      if (co_await find_created()) co_return;
      continue;
    }
    sent_ = false;  // refused: nothing was made
    ++race;
    if (result == code::no_node && !with_parent) {
      with_parent = true;
    } else if (result == code::no_node) {
      co_await make_ancestors(requests_, std::string(parent_path(request_.path)),
                              CreateMode::Persistent, request_.acl);
    } else if (result == code::unimplemented && with_parent && containers_) {
      containers_ = false;
    } else {
      throw ZkError(result, request_.path);
    }
  }
  throw Error(request_.path + " keeps vanishing: somebody removes it again and again");
}

/// Sends the creation and, right behind it, the listing: the server answers in order, so that a
/// free lock costs one round trip. The lock node, when it is missing, is made in the same breath: a
/// container that never has a child is never removed. The code is the creation's.
Flow<int> FairLock::create(bool with_parent) {
  const auto ops = creations();
  listed_ = false;
  const auto what = [&] {
    std::string text = ops.size() == 1 ? "create" : "multi: create";
    for (const auto& op : ops) text += " " + std::get<CreateOp>(op).path;
    return text + " (ephemeral, sequential)";
  };
  std::optional<LockRequests::Sent<Created>> parent;
  std::optional<LockRequests::Sent<Created>> one;
  std::optional<LockRequests::Sent<std::vector<OpResult>>> several;
  auto& client = requests_.client();
  const auto at = BootClock::now();
  // Not in one transaction: the C client (3.8.0) aborts at the answer to a container in a multi.
  if (with_parent)
    parent = requests_.send([&] { return "create " + request_.path; },
                            [&] { return client.start_create(parent_creation()); });
  if (ops.size() == 1)
    one = requests_.send(what, [&] { return client.start_create(std::get<CreateOp>(ops[0])); });
  else
    several = requests_.send(what, [&] { return client.start_multi(ops); });
  auto listing =
      requests_.send([&] { return "getChildren " + request_.path; },
                     [&] { return client.start_children(request_.path, listing_watch()); });
  int made_parent = code::ok;
  if (parent) made_parent = (co_await requests_.answer(std::move(*parent))).code;
  int result = code::ok;
  if (one) {
    const auto outcome = co_await requests_.answer(std::move(*one));
    result = outcome.code;
    if (result == code::ok)
      adopt({{.code = code::ok, .path = outcome.value.path, .stat = outcome.value.stat}});
  } else {
    const auto outcome = co_await requests_.answer(std::move(*several));
    result = outcome.code;
    if (result == code::ok) adopt(outcome.value);
  }
  const auto listed = co_await requests_.answer(std::move(listing));
  if (result == code::ok && listed.code == code::ok && !order_needs_stats(listed.value.names)) {
    queue_ = make_lock_queue(listed.value.names);
    listed_ = true;
    holding_.proven = at;
  }
  // Why there is no parent says more than that there is none.
  const bool parent_explains = made_parent != code::ok && made_parent != code::node_exists;
  co_return result == code::no_node&& parent_explains ? made_parent : result;
}

void FairLock::adopt(const std::vector<OpResult>& results) {
  holding_.nodes.clear();
  for (const auto& result : results) {
    holding_.nodes.push_back(result.path);
    if (holding_.token == 0) holding_.token = result.stat.czxid;
  }
}

/// Looks for nodes whose creation got no answer; what is still on its way is waited for (sync).
/// False: there are none, or the session has ended.
Flow<bool> FairLock::find_created() {
  auto& client = requests_.client();
  while (co_await session_is_there()) {
    auto flushed = requests_.send([&] { return "sync " + request_.path; },
                                  [&] { return client.start_sync(request_.path); });
    auto listing =
        requests_.send([&] { return "getChildren " + request_.path; },
                       [&] { return client.start_children(request_.path, Watch::none()); });
    const auto sync = co_await requests_.answer(std::move(flushed));
    const auto listed = co_await requests_.answer(std::move(listing));
    if (LockRequests::lost(sync.code) || LockRequests::lost(listed.code)) continue;
    if (listed.code != code::ok && listed.code != code::no_node)
      throw ZkError(listed.code, request_.path);
    holding_.nodes.clear();
    for (const auto& name : listed.value.names) {
      const auto parsed = parse_lock_name(name);
      if (parsed && parsed->key == key_) holding_.nodes.push_back(path_of(name));
    }
    if (!holding_.nodes.empty()) co_return true;
    break;
  }
  sent_ = false;
  co_return false;
}

Flow<> FairLock::prove_token() {
  while (holding_.token == 0) {
    co_await requests_.connected();
    const auto& node = holding_.nodes.front();
    const auto at = BootClock::now();
    auto sent =
        requests_.send([&] { return "exists " + node; },
                       [&] { return requests_.client().start_exists(node, Watch::none()); });
    const auto outcome = co_await requests_.answer(std::move(sent));
    if (LockRequests::lost(outcome.code) && same_session()) continue;
    if (outcome.code != code::ok) throw LockLost(request_.path + ": lost as soon as it was held");
    holding_.token = outcome.value.czxid;
    holding_.proven = at;
  }
}

/// Waits until the session in which the nodes were made can be asked; false: it has ended, and its
/// nodes with it.
Flow<bool> FairLock::session_is_there() {
  auto& client = requests_.client();
  co_await strand_.until(
      [&](const Monitor::Held& held) { return client.state(held) != SessionState::Connecting; });
  const auto state = client.current_state();
  const bool open = state == SessionState::Connected || state == SessionState::ConnectedReadOnly;
  co_return open&& same_session();
}

Flow<bool> FairLock::withdraw(bool known_to_exist) {
  const Strand::Shield shield(strand_);
  known_to_exist = known_to_exist || !holding_.nodes.empty();
  if (!watched_.empty()) requests_.client().drop_watches(watched_, mailbox_);
  watched_.clear();
  bool asked = false;
  while (sent_) {
    if (!co_await session_is_there()) break;
    if (!known_to_exist && !co_await find_created()) break;
    known_to_exist = true;
    const int result = co_await remove_nodes();
    if (LockRequests::lost(result)) {
      asked = true;
      continue;
    }
    if (result != code::ok && result != code::no_node) throw ZkError(result, request_.path);
    sent_ = false;
    // What a lost answer may have been about is gone by our own request.
    co_return result == code::ok || asked;
  }
  sent_ = false;
  co_return false;
}

/// no_node when none of them was there any more.
Flow<int> FairLock::remove_nodes() {
  auto& client = requests_.client();
  std::vector<Op> ops;
  ops.reserve(holding_.nodes.size());
  for (const auto& node : holding_.nodes) ops.emplace_back(RemoveOp{.path = node});
  if (ops.size() > 1) {
    auto sent = requests_.send([&] { return fmt::format("multi: delete {} nodes", ops.size()); },
                               [&] { return client.start_multi(ops); });
    const auto outcome = co_await requests_.answer(std::move(sent));
    if (outcome.code != code::no_node) co_return outcome.code;
  }
  int result = code::no_node;
  for (const auto& node : holding_.nodes) {
    auto sent = requests_.send([&] { return "delete " + node; },
                               [&] { return client.start_remove({.path = node}); });
    const auto outcome = co_await requests_.answer(std::move(sent));
    if (outcome.code == code::ok)
      result = code::ok;
    else if (outcome.code != code::no_node)
      co_return outcome.code;
  }
  co_return result;
}

Flow<bool> FairLock::release() {
  requests_.set_deadline(Strand::never);
  co_return co_await withdraw(true);
}

Flow<> FairLock::downgrade() {
  if (!request_.read_write || request_.mode != LockMode::Exclusive)
    throw UsageError(request_.path + " is not held for writing");
  const Strand::Shield shield(strand_);
  co_await list();
  const auto own = queue_.index_of(key_);
  if (!own || !same_session()) throw LockLost(request_.path + " was lost before the downgrade");
  const bool ordered = std::ranges::all_of(
      queue_.contenders, [](const Contender& contender) { return contender.czxid == 0; });
  if (!ordered)
    throw Error(request_.path +
                ": the sequence counter is at its end, where a new name has no "
                "place in the queue; release the lock instead");
  std::vector<Op> ops;
  std::vector<std::string> after;
  for (const auto& node : queue_.contenders[*own].nodes) {
    if (node.tag != LockTag::Write && node.tag != LockTag::KazooLock) {
      after.push_back(path_of(node.text));
      continue;
    }
    after.push_back(path_of(reader_name(node)));
    ops.emplace_back(CreateOp{.path = after.back(),
                              .data = request_.owner,
                              .acl = request_.acl,
                              .mode = CreateMode::Ephemeral});
    ops.emplace_back(RemoveOp{.path = path_of(node.text)});
  }
  auto sent =
      requests_.send([&] { return "multi: create " + after.back() + ", delete the writer"; },
                     [&] { return requests_.client().start_multi(ops); });
  const auto outcome = co_await requests_.answer(std::move(sent));
  if (LockRequests::lost(outcome.code)) {
    // All of it happened, or nothing: the nodes of the guid tell.
    co_await requests_.connected();
    if (!same_session() || !co_await find_created())
      throw LockLost(request_.path + " was lost during the downgrade");
    after = holding_.nodes;
    if (parse_lock_name(base_name(after.front()))->mode() == LockMode::Exclusive)
      throw ZkError(outcome.code, request_.path);
  } else if (outcome.code == code::no_node) {
    throw LockLost(request_.path + " was lost before the downgrade");
  } else if (outcome.code != code::ok) {
    throw ZkError(outcome.code, request_.path);
  }
  holding_.nodes = after;
  request_.mode = LockMode::Shared;
}

}  // namespace zksh
