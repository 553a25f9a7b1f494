// Revocation: finding the nodes, writing the word, waiting for the end.
#include "revocation.h"

#include "node_path.h"
#include "recipes/lock_queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace zksh {
namespace {

/// The node that says who holds: the path itself when it is a contender's, else the first
/// contender's below it.
std::string holder_node(Context& cx, const std::string& path, bool node_only) {
  const bool is_node = parse_lock_name(base_name(path)).has_value();
  if (is_node || node_only) {
    if (!is_node)
      throw Error(
          fmt::format("{} is not held by this shell (`locks {}` shows who holds it, `revoke "
                      "{}` asks for it)",
                      path, path, path));
    return path;
  }
  const auto children = cx.client.children(path, Watch::none(), cx.stop);
  std::map<std::string, std::int64_t> order;
  if (order_needs_stats(children.names))
    for (const auto& name : children.names)
      if (const auto stat = cx.client.exists(join_path(path, name), Watch::none(), cx.stop))
        order[name] = stat->czxid;
  const auto queue = make_lock_queue(children.names, order);
  if (queue.contenders.empty()) throw Error(path + ": nobody holds it");
  return join_path(path, queue.contenders.front().nodes.front().text);
}

/// Whether the node is gone by the deadline.
bool await_end(Context& cx, const std::string& node, Clock::time_point deadline) {
  const auto mailbox = std::make_shared<Guarded<std::deque<Event>>>();
  while (cx.client.exists(node, Watch::into(mailbox), cx.stop)) {
    const bool event = cx.client.monitor().wait_until(
        cx.stop, deadline, [&](const Monitor::Held& held) { return !(*mailbox)(held).empty(); });
    if (cx.stop.stop_requested()) {
      cx.client.drop_watches(node, mailbox);
      throw Cancelled();
    }
    if (!event) {
      cx.client.drop_watches(node, mailbox);
      return false;
    }
    cx.client.monitor().look([&](const Monitor::Held& held) { (*mailbox)(held).clear(); });
  }
  // The node was gone before it was asked for: the watch waits for its creation.
  cx.client.drop_watches(node, mailbox);
  return true;
}

}  // namespace

int ask_holder(Context& cx, const std::string& path, const RevocationWish& wish) {
  const auto node = holder_node(cx, path, wish.node_only);
  const auto now = cx.client.get(node, Watch::none(), cx.stop);
  if (now.stat.ephemeral_owner == 0)
    throw Error(node + " is no contender's node: it is not ephemeral");
  const auto owner = escape_for_terminal(now.data.value_or(""));
  cx.client.set({.path = node, .data = wish.word, .version = now.stat.version}, cx.stop);
  cx.out.err_line("asked {} to release {}", owner.empty() ? "its owner" : owner, node);
  if (wish.patience.count() == 0 && !wish.force) return status::ok;
  if (await_end(cx, node, Clock::now() + wish.patience)) {
    cx.out.err_line("released {}", node);
    return status::ok;
  }
  if (!wish.force) {
    cx.out.err_line(
        "{} is not released yet (`revoke --force {}` removes it; its owner may believe "
        "that it holds the lock until it looks)",
        node, node);
    return status::failure;
  }
  cx.client.remove({.path = node}, cx.stop);
  cx.out.err_line("removed {}: its owner may believe that it holds the lock until it looks", node);
  return status::ok;
}

}  // namespace zksh
