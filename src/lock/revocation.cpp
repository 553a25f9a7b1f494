// Revocation: asks the holder of a lock to release it.
#include "lock/revocation.h"

#include "base/words.h"
#include "client/client.h"
#include "client/node_path.h"
#include "lock/options.h"
#include "lock/reader.h"
#include "lock/text.h"
#include "lock/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace zksh {
namespace {

/// The absolute paths of a contender's nodes. The first is the one to write to; with the names of
/// all libraries there are several.
using Nodes = std::vector<std::string>;

struct HolderNodes {
  Nodes nodes;
  std::optional<Outcome<Node>> seen{};  ///< the first node, if it was read
};

/// The contender with this node; its other nodes are known if they may be listed.
Nodes contender_of(Context& cx, const std::string& path) {
  Nodes nodes{path};
  const std::string place(parent_path(path));
  cx.client.await_connection(path, cx.stop);
  const auto listed = cx.client.await(cx.client.start_children(place, Watch::none()), cx.stop);
  if (listed.code != code::ok) return nodes;
  const auto own = parse_lock_name(base_name(path));
  for (const auto& name : listed.value.names.strings()) {
    const auto other = parse_lock_name(name);
    if (other && other->key() == own->key() && name != base_name(path))
      nodes.push_back(join_path(place, name));
  }
  return nodes;
}

/// The holders: the path itself if it is a contender's node; else all holders below it, since
/// readers hold a lock together; for a semaphore, every lease.
std::vector<HolderNodes> holders(Context& cx, const std::string& path, bool node_only) {
  const bool is_node = parse_lock_name(base_name(path)).has_value();
  if (is_node) return {{.nodes = contender_of(cx, path)}};
  if (node_only)
    throw Error(
        fmt::format("{0} is not held by this shell (`locks {0}` shows the holder, `revoke {0}` "
                    "asks for the release)",
                    as_word(path)));
  auto reading = LockReader(cx.client, path, false).read(cx.stop);
  const auto view = make_lock_view(*reading);
  std::vector<HolderNodes> all;
  for (const auto& seat : view.seats) {
    if (seat.state != SeatState::Holds) continue;
    auto& holder = all.emplace_back();
    for (const auto& node : seat.contender.nodes)
      holder.nodes.push_back(join_path(parent_of(view, seat), node.text));
    const auto& entry = entry_of(*reading, seat);
    if (std::cmp_less_equal(seat.owner_length, longest_owner))
      holder.seen = {.code = entry.readable ? code::ok : code::no_auth,
                     .value = {.data = entry.data, .stat = entry.stat}};
  }
  if (all.empty()) throw Error(path + ": nobody holds it");
  return all;
}

/// Whether the node is gone by the deadline. A node that may not be read cannot be watched on
/// servers since 3.8.4 and 3.9.2; it is not waited for.
bool await_end(Context& cx, const std::string& node, Clock::time_point deadline) {
  const auto mailbox = std::make_shared<Guarded<std::deque<Event>>>();
  for (;;) {
    cx.client.await_connection(node, cx.stop);
    const int found =
        cx.client.await(cx.client.start_exists(node, Watch::into(mailbox)), cx.stop).code;
    if (found == code::no_auth) return false;
    if (found != code::ok && found != code::no_node) throw ZkError(found, node);
    const bool event = found == code::ok &&
                       cx.monitor().wait_until(cx.stop, deadline, [&](const Monitor::Held& held) {
                         return !(*mailbox)(held).empty();
                       });
    const bool stopped = found == code::ok && cx.stop.stop_requested();
    if (!event || stopped) {  // a watch on a node that is gone waits for its creation
      cx.client.drop_watches(node, mailbox);
      if (stopped) throw Cancelled();
      return found == code::no_node;
    }
    cx.monitor().with_lock([&](const Monitor::Held& held) { (*mailbox)(held).clear(); });
  }
}

/// Writes the request to a node that was read.
Pending<Stat> send_request(Context& cx, const std::string& path, const Node& node,
                           const RevocationRequest& request) {
  if (node.stat.ephemeral_owner == 0)
    throw Error(path + " is not a contender's node, since it is not ephemeral");
  // Others expect only the word (Curator compares all of the data); zksh also shows who asks.
  auto data = request.word;
  if (is_zksh_owner(node.data)) data = release_request(request.word, lock_owner({}), node.data);
  return cx.client.start_set({.path = path, .data = data, .version = node.stat.version});
}

/// Reports that the owner of a node that exists was asked.
void report(Context& cx, const std::string& node, const Data& data) {
  if (is_release_request(data)) return cx.out.err_line("asked again to release {}", as_word(node));
  const auto owner = owner_in_line(data.value_or(""));
  cx.out.err_line("asked {} to release {}", owner.empty() ? "its owner" : owner, as_word(node));
}

/// Asks all of them at once. Returns those whose nodes are still there.
std::vector<Nodes> ask(Context& cx, std::vector<HolderNodes> holders, bool is_node,
                       const RevocationRequest& request) {
  std::vector<Nodes> asked;
  while (!holders.empty()) {
    cx.client.await_connection(holders.front().nodes.front(), cx.stop);
    std::vector<Pending<Node>> reads;
    reads.reserve(holders.size());
    for (const auto& holder : holders)
      reads.push_back(holder.seen ? nullptr
                                  : cx.client.start_get(holder.nodes.front(), Watch::none()));
    std::vector<Pending<Stat>> writes;
    writes.reserve(holders.size());
    for (std::size_t i = 0; i < holders.size(); ++i) {
      auto& [nodes, seen] = holders[i];
      if (!seen) seen = cx.client.await(reads[i], cx.stop);
      const bool readable = seen->code == code::ok;
      writes.push_back(readable ? send_request(cx, nodes.front(), seen->value, request) : nullptr);
    }
    std::vector<HolderNodes> again;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      auto& [nodes, seen] = holders[i];
      const auto& node = nodes.front();
      const int result = writes[i] ? cx.client.await(writes[i], cx.stop).code : seen->code;
      if (result == code::bad_version) {  // it has changed since, or somebody else asks, too
        again.push_back({.nodes = std::move(nodes)});
        continue;
      }
      if (result == code::no_node) {
        if (is_node) throw ZkError(result, node);
        cx.out.err_line("released {}", as_word(node));
        continue;
      }
      // The parent's ACL decides whether it may be removed.
      if (result == code::no_auth && request.force)
        cx.out.err_line("{} cannot be asked: no permission to read or write its data",
                        as_word(node));
      else if (result != code::ok)
        throw ZkError(result, node, writes[i] != nullptr);
      else
        report(cx, node, seen->value.data);
      asked.push_back(std::move(nodes));
    }
    holders = std::move(again);
  }
  return asked;
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
  const auto asked = ask(cx, holders(cx, path, request.node_only), is_node, request);
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
