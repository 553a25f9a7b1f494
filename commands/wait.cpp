// wait: wait until a node meets a condition.
#include "base/monitor.h"
#include "base/regex.h"
#include "base/time.h"
#include "client/client.h"
#include "client/patient_connection.h"
#include "command/command.h"
#include "node/node_json.h"
#include "node/node_wait.h"

namespace zksh::command_wait {
namespace {

struct Args {
  bool exists = false;
  bool gone = false;
  std::optional<std::string> children;
  std::optional<std::string> value;
  std::optional<std::string> timeout;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.flag("-e,--exists", a.exists, "Wait until the node exists.");
  o.flag("-g,--gone", a.gone, "Wait until the node is gone.");
  o.text("-c,--children", a.children,
         "Wait until it has this many children: 3, 3+ (at least 3), or '>=3', '<=3', '>3', '<3'.",
         "number");
  o.text(
      "-m,--value", a.value,
      "Wait until a part of its value matches this regular expression (RE2's syntax); ^ and $ are "
      "the ends of lines.",
      "regex");
  o.text("-t,--timeout", a.timeout,
         "Give up after this time (500ms, 5s, 2m), with status 124; 0: look once.", "time");
  o.node("path", a.path, "The node; it need not exist.");
}

NodeCondition condition_of(const Args& a) {
  if (int{a.exists} + int{a.gone} + int{a.children.has_value()} + int{a.value.has_value()} != 1)
    throw SyntaxError("one of --exists, --gone, --children and --value is required");
  using LooksAt = NodeCondition::LooksAt;
  if (a.exists) return {.holds = [](const NodeState& node) { return node.stat.has_value(); }};
  if (a.gone) return {.holds = [](const NodeState& node) { return !node.stat.has_value(); }};
  if (a.children)
    return {.looks_at = LooksAt::Children,
            .holds = [count = ChildCount(*a.children, "--children")](const NodeState& node) {
              return node.stat && count.allows(node.stat->num_children);
            }};
  const auto regex = std::make_shared<Regex>(*a.value, "--value");
  return {.looks_at = LooksAt::Value, .holds = [regex](const NodeState& node) {
            return node.value && regex->matches(*node.value);
          }};
}

/// The node's state when the time was up.
std::string unmet(const Args& a, const NodeState& node) {
  if (!node.known) return "its state is unknown, since no server answers";
  if (!node.stat) return "it does not exist";
  if (a.gone) return "it exists";
  if (a.children)
    return fmt::format("it has {} {}", node.stat->num_children,
                       node.stat->num_children == 1 ? "child" : "children");
  return node.value ? "its value does not match" : "its value is null";
}

/// Whether a server still answers: a connection that hangs is noticed late, and what was read
/// before may no longer be true.
bool is_answered(Context& cx, const std::string& path) {
  constexpr std::chrono::seconds patience{2};
  bool answered = false;
  in_time(cx.monitor(), patience, cx.stop, [&](const std::stop_token& stop) {
    const auto look = cx.client.await(cx.client.start_exists(path, Watch::none()), stop);
    answered = !is_connection_failure(look.code);
  });
  return answered;
}

/// Whether the condition holds now.
bool holds_now(Context& cx, const std::string& path, const NodeCondition& condition,
               NodeState& seen) {
  constexpr std::chrono::seconds patience{5};
  bool holds = false;
  const auto look = [&](const NodeState& node) {
    holds = condition.holds(node);
    return true;
  };
  in_time(cx.monitor(), patience, cx.stop, [&](const std::stop_token& stop) {
    await_node(cx.client, path, {.looks_at = condition.looks_at, .holds = look}, seen, stop);
  });
  return holds;
}

/// Whether the condition holds before the time is up.
bool comes_to_hold(Context& cx, const std::string& path, const NodeCondition& condition,
                   std::optional<std::chrono::milliseconds> time, NodeState& seen) {
  const auto wait = [&](const std::stop_token& stop) {
    await_node(cx.client, path, condition, seen, stop);
  };
  if (in_time(cx.monitor(), time, cx.stop, wait)) return true;
  seen.known = seen.known && is_answered(cx, path);
  return false;
}

int run(Context& cx, const Args& a) {
  const auto condition = condition_of(a);
  const auto path = cx.resolve(a.path);
  const auto time =
      a.timeout ? std::optional(parse_duration(*a.timeout, "--timeout")) : std::nullopt;
  NodeState node;
  cx.allow_move();
  const bool once = time && time->count() == 0;
  if (once ? !holds_now(cx, path, condition, node)
           : !comes_to_hold(cx, path, condition, time, node)) {
    const bool has_unit = !is_number(a.timeout->substr(a.timeout->size() - 1));
    const auto when = once ? "" : fmt::format(" after {}{}", *a.timeout, has_unit ? "" : " s");
    throw Error(fmt::format("{}: {}{}", path, unmet(a, node), when), status::timed_out, path);
  }
  if (cx.out.json()) {
    auto json = path_json(path);
    json.set("stat", node.stat ? stat_json(*node.stat) : Json());
    if (a.value) json.set("data", node.value);
    print_json(cx, json);
  }
  return status::ok;
}

}  // namespace

extern const Command wait_command = make_command<Args>(
    {.name = "wait",
     .group = "Watches",
     .summary = "Wait until a node meets a condition",
     .keywords = {"block", "barrier", "until", "poll", "sleep"},
     .details = "Exits with status 0 when the condition holds, or 124 when the time is up. It "
                "prints nothing; with -o json it prints the node. The node is read again only "
                "after a watch event; lost connections and expired sessions are survived. A "
                "missing node has no children and no value, and a null value matches nothing.",
     .examples = {{"wait --exists /app", "Wait until the node exists."},
                  {"wait --gone --timeout 5s /app/old",
                   "Wait until it is gone, for at most five seconds."},
                  {"wait --children 1+ /app", "Wait until it has a child."},
                  {"wait --value '^$|ready' /app/config",
                   "Wait until the value is empty or contains \"ready\"."}},
     .json = "path stat [data]"},
    declare, run);
}  // namespace zksh::command_wait
