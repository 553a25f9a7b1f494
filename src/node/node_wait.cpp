// NodeWait: waits until a node meets a condition.
#include "node/node_wait.h"

#include "client/client.h"
#include "client/patient_connection.h"
#include "command/options.h"

#include <fmt/core.h>

#include <limits>
#include <utility>

namespace zksh {
namespace {

/// Reads a node; returns the code, which is ok also if there is no such node. Always sets a watch.
int read_watched(Client& client, const std::string& path, NodeCondition::LooksAt what,
                 const Watch& watch, NodeState& state, const std::stop_token& stop) {
  using LooksAt = NodeCondition::LooksAt;
  for (;;) {
    state = {};
    // These set no watch if there is no such node.
    if (what == LooksAt::Value) {
      auto node = client.await(client.start_get(path, watch), stop);
      if (node.code == code::ok)
        state = {.stat = node.value.stat, .value = std::move(node.value.data)};
      if (node.code != code::no_node) return node.code;
    } else if (what == LooksAt::Children) {
      const auto children = client.await(client.start_children(path, watch), stop);
      if (children.code == code::ok) state = {.stat = children.value.stat};
      if (children.code != code::no_node) return children.code;
    }
    const auto stat = client.await(client.start_exists(path, watch), stop);
    if (stat.code == code::no_node) return code::ok;
    if (stat.code != code::ok) return stat.code;
    if (what == LooksAt::Existence) {
      state.stat = stat.value;
      return code::ok;
    }
    // It was created a moment ago.
  }
}

}  // namespace

ChildCount::ChildCount(std::string_view text, std::string_view what) {
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  auto digits = text;
  const bool at_least = digits.starts_with(">=") || digits.ends_with('+');
  const bool at_most = digits.starts_with("<=");
  const bool more = !at_least && digits.starts_with('>');
  const bool less = !at_most && digits.starts_with('<');
  if (digits.ends_with('+'))
    digits.remove_suffix(1);
  else
    digits.remove_prefix(at_least || at_most ? 2 : more || less ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    throw ValueError(fmt::format(
        "{}: \"{}\" is not a number of children such as 3, 3+, >=3, <=3, >3 or <3", what, text));
  const auto number = parse_number(digits, what, 0, std::numeric_limits<std::int32_t>::max());
  least_ = at_most || less ? 0 : number + (more ? 1 : 0);
  most_ = at_least || more ? any : number - (less ? 1 : 0);
}

void await_node(Client& client, const std::string& path, const NodeCondition& condition,
                NodeState& seen, const std::stop_token& stop) {
  const Mailbox mailbox = std::make_shared<Guarded<std::deque<Event>>>();
  client.await_connection(path, stop);
  /// Removes the watches, however the wait ends.
  struct WatchRemover {
    Client& client;
    const std::string& path;
    const Mailbox& mailbox;
    ~WatchRemover() { client.forget_watches(path, mailbox); }
  } const remover{.client = client, .path = path, .mailbox = mailbox};
  auto& monitor = client.monitor();
  for (;;) {
    const auto session = monitor.with_lock([&](const Monitor::Held& held) {
      (*mailbox)(held).clear();
      return client.session_id(held);
    });
    NodeState now;
    const int result =
        read_watched(client, path, condition.looks_at, Watch::into(mailbox), now, stop);
    if (result != code::ok && !is_connection_failure(result)) throw ZkError(result, path);
    if (result == code::ok) {
      seen = std::move(now);
      seen.known = true;
      if (condition.holds(seen)) return;
      const bool news = monitor.wait(stop, [&](const Monitor::Held& held) {
        const auto state = client.state(held);
        return !(*mailbox)(held).empty() || client.session_id(held) != session ||
               !is_connected(state);
      });
      if (!news) throw Cancelled();
    }
    await_connection_patiently(client, path, stop);
  }
}

}  // namespace zksh
