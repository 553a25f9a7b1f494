// Revocation: asks the holder of a lock to release it.
#include "lock/revocation.h"

#include "base/quoting.h"
#include "client/node_path.h"
#include "lock/lock_options.h"
#include "lock/lock_text.h"
#include "lock/lock_view.h"
#include "recipes/lock_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

LockQueue fetch_queue(Context& cx, const std::string& path, const std::vector<std::string>& names) {
  std::map<std::string, std::int64_t> order;
  if (order_needs_stats(names))
    for (const auto& name : names)
      if (const auto stat = cx.client.exists(join_path(path, name), Watch::none(), cx.stop))
        order[name] = stat->czxid;
  return make_lock_queue(names, order);
}

/// The absolute paths of a contender's nodes. The first is the one to write to; with the names of
/// all libraries there are several.
using Nodes = std::vector<std::string>;

/// The contender with this node; its other nodes are known if they may be listed.
Nodes contender_of(Context& cx, const std::string& path) {
  Nodes nodes{path};
  const std::string place(parent_path(path));
  cx.client.await_connection(path, cx.stop);
  const auto listed = cx.client.await(cx.client.start_children(place, Watch::none()), cx.stop);
  if (listed.code != code::ok) return nodes;
  const auto own = parse_lock_name(base_name(path));
  for (const auto& name : listed.value.names) {
    const auto other = parse_lock_name(name);
    if (other && other->key() == own->key() && name != base_name(path))
      nodes.push_back(join_path(place, name));
  }
  return nodes;
}

/// The holders: the path itself if it is a contender's node; else all holders below it, since
/// readers hold a lock together; for a semaphore, every lease.
std::vector<Nodes> holders(Context& cx, const std::string& path, bool node_only) {
  const bool is_node = parse_lock_name(base_name(path)).has_value();
  if (is_node) return {contender_of(cx, path)};
  if (node_only)
    throw Error(
        fmt::format("{0} is not held by this shell (`locks {0}` shows the holder, `revoke {0}` "
                    "asks for the release)",
                    as_word(path)));
  auto place = path;
  auto names = cx.client.children(path, Watch::none(), cx.stop).names;
  const bool semaphore = std::ranges::find(names, "leases") != names.end();
  if (semaphore) {
    place = join_path(path, "leases");
    names = cx.client.children(place, Watch::none(), cx.stop).names;
  }
  const auto queue = fetch_queue(cx, place, names);
  std::vector<Nodes> all;
  for (std::size_t i = 0; i < queue.contenders.size(); ++i) {
    if (!semaphore && !queue.holds(i)) continue;
    auto& nodes = all.emplace_back();
    for (const auto& node : queue.contenders[i].nodes) nodes.push_back(join_path(place, node.text));
  }
  if (all.empty()) throw Error(path + ": nobody holds it");
  return all;
}

/// Whether the node is gone by the deadline. A node that may not be read cannot be watched on
/// servers since 3.9; it is not waited for.
bool await_end(Context& cx, const std::string& node, Clock::time_point deadline) {
  const auto mailbox = std::make_shared<Guarded<std::deque<Event>>>();
  for (;;) {
    cx.client.await_connection(node, cx.stop);
    const int found =
        cx.client.await(cx.client.start_exists(node, Watch::into(mailbox)), cx.stop).code;
    if (found == code::no_auth) return false;
    if (found != code::ok && found != code::no_node) throw ZkError(found, node);
    const bool event = found == code::ok && cx.client.monitor().wait_until(
                                                cx.stop, deadline, [&](const Monitor::Held& held) {
                                                  return !(*mailbox)(held).empty();
                                                });
    const bool stopped = found == code::ok && cx.stop.stop_requested();
    if (!event || stopped) {  // a watch on a node that is gone waits for its creation
      cx.client.drop_watches(node, mailbox);
      if (stopped) throw Cancelled();
      return found == code::no_node;
    }
    cx.client.monitor().with_lock([&](const Monitor::Held& held) { (*mailbox)(held).clear(); });
  }
}

/// Returns false if the node is gone.
bool ask(Context& cx, const std::string& node, const RevocationRequest& request) {
  for (;;) {
    cx.client.await_connection(node, cx.stop);
    const auto now = cx.client.await(cx.client.start_get(node, Watch::none()), cx.stop);
    if (now.code == code::no_node) return false;
    if (now.code == code::ok && now.value.stat.ephemeral_owner == 0)
      throw Error(node + " is not a contender's node, since it is not ephemeral");
    int result = now.code;
    const bool writes = result == code::ok;
    if (writes) {
      // Others expect only the word (Curator compares all of the data); zksh also shows who asks.
      auto data = request.word;
      if (is_zksh_owner(now.value.data)) data += " by " + lock_owner({});
      const SetOp op{.path = node, .data = data, .version = now.value.stat.version};
      result = cx.client.await(cx.client.start_set(op), cx.stop).code;
    }
    if (result == code::no_node) return false;
    if (result == code::bad_version) continue;  // somebody else has asked at the same time
    // The parent's ACL decides whether it may be removed.
    if (result == code::no_auth && request.force) {
      cx.out.err_line("{} cannot be asked: no permission to read or write its data", as_word(node));
      return true;
    }
    if (result != code::ok) throw ZkError(result, node, writes);
    if (is_release_request(now.value.data)) {
      cx.out.err_line("asked again to release {}", as_word(node));
      return true;
    }
    const auto owner = owner_in_line(now.value.data.value_or(""));
    cx.out.err_line("asked {} to release {}", owner.empty() ? "its owner" : owner, as_word(node));
    return true;
  }
}

/// Removes all nodes of a contender: any that remained would keep others waiting.
void take_away(Context& cx, Nodes nodes) {
  const auto name = as_word(nodes.front());
  std::ranges::reverse(nodes);
  bool removed = false;
  for (const auto& node : nodes) {
    cx.client.await_connection(node, cx.stop);
    const RemoveOp op{.path = node};
    const int result = cx.client.await(cx.client.start_remove(op), cx.stop).code;
    if (result != code::ok && result != code::no_node) throw ZkError(result, node, true);
    removed = removed || result == code::ok;
  }
  if (removed)
    cx.out.err_line("deleted {}; its owner may not have noticed yet", name);
  else
    cx.out.err_line("released {}", name);
}

}  // namespace

int ask_holder(Context& cx, const std::string& path, const RevocationRequest& request) {
  const bool is_node = parse_lock_name(base_name(path)).has_value();
  std::vector<Nodes> asked;
  for (auto& nodes : holders(cx, path, request.node_only)) {
    if (ask(cx, nodes.front(), request)) {
      asked.push_back(std::move(nodes));
      continue;
    }
    if (is_node) throw ZkError(code::no_node, path);
    cx.out.err_line("released {}", as_word(nodes.front()));
  }
  if (request.patience.count() == 0 && !request.force) return status::ok;
  const auto deadline = Clock::now() + request.patience;
  int result = status::ok;
  for (const auto& nodes : asked) {
    const auto name = as_word(nodes.front());
    if (await_end(cx, nodes.front(), deadline)) {
      cx.out.err_line("released {}", name);
    } else if (request.force) {
      take_away(cx, nodes);
    } else {
      cx.out.err_line("{0} is not released yet; `revoke --force {0}` deletes it", name);
      result = status::failure;
    }
  }
  return result;
}

}  // namespace zksh
