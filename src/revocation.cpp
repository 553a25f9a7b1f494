// Revocation: finding the nodes, writing the word, waiting for the end.
#include "revocation.h"

#include "lock_text.h"
#include "node_path.h"
#include "quoting.h"
#include "recipes/lock_queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace zksh {
namespace {

LockQueue queue_of(Context& cx, const std::string& path, const std::vector<std::string>& names) {
  std::map<std::string, std::int64_t> order;
  if (order_needs_stats(names))
    for (const auto& name : names)
      if (const auto stat = cx.client.exists(join_path(path, name), Watch::none(), cx.stop))
        order[name] = stat->czxid;
  return make_lock_queue(names, order);
}

/// The nodes of those who hold: the path itself when it is a contender's; else all first ones below
/// it, as readers hold together; of a semaphore every lease.
std::vector<std::string> holders(Context& cx, const std::string& path, bool node_only) {
  const bool is_node = parse_lock_name(base_name(path)).has_value();
  if (is_node) return {path};
  if (node_only)
    throw Error(fmt::format(
        "{0} is not held by this shell (`locks {0}` shows who holds it, `revoke {0}` asks for it)",
        as_word(path)));
  auto place = path;
  auto names = cx.client.children(path, Watch::none(), cx.stop).names;
  const bool semaphore = std::ranges::find(names, "leases") != names.end();
  if (semaphore) {
    place = join_path(path, "leases");
    names = cx.client.children(place, Watch::none(), cx.stop).names;
  }
  const auto queue = queue_of(cx, place, names);
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < queue.contenders.size(); ++i)
    if (semaphore || queue.holds(i))
      nodes.push_back(join_path(place, queue.contenders[i].nodes.front().text));
  if (nodes.empty()) throw Error(path + ": nobody holds it");
  return nodes;
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

void ask(Context& cx, const std::string& node, const std::string& word) {
  const auto now = cx.client.get(node, Watch::none(), cx.stop);
  if (now.stat.ephemeral_owner == 0)
    throw Error(node + " is no contender's node: it is not ephemeral");
  const auto owner = owner_in_line(now.data.value_or(""));
  cx.client.set({.path = node, .data = word, .version = now.stat.version}, cx.stop);
  cx.out.err_line("asked {} to release {}", owner.empty() ? "its owner" : owner, as_word(node));
}

}  // namespace

int ask_holder(Context& cx, const std::string& path, const RevocationWish& wish) {
  const auto nodes = holders(cx, path, wish.node_only);
  for (const auto& node : nodes) ask(cx, node, wish.word);
  if (wish.patience.count() == 0 && !wish.force) return status::ok;
  const auto deadline = Clock::now() + wish.patience;
  int result = status::ok;
  for (const auto& node : nodes) {
    if (await_end(cx, node, deadline)) {
      cx.out.err_line("released {}", as_word(node));
    } else if (wish.force) {
      cx.client.remove({.path = node}, cx.stop);
      cx.out.err_line("removed {}: its owner may believe that it holds the lock until it looks",
                      as_word(node));
    } else {
      cx.out.err_line("{} is not released yet; `revoke --force {}` removes it", as_word(node),
                      as_word(node));
      result = status::failure;
    }
  }
  return result;
}

}  // namespace zksh
