// wait: wait until a node meets a condition.
#include "base/regex.h"
#include "base/time.h"
#include "command/command.h"
#include "command/time_limit.h"
#include "node/node_json.h"
#include "node/node_wait.h"

#include <fmt/format.h>

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
         "Wait until it has this many children: 3, 3+ (at least), or >=3, <=3, >3, <3 in quotes.",
         "number");
  o.text(
      "-m,--value", a.value,
      "Wait until a part of its value matches this regular expression (RE2's syntax); ^ and $ are "
      "the ends of lines.",
      "regex");
  o.text("-t,--timeout", a.timeout, "Give up after this time (500ms, 5s, 2m), with status 124.",
         "time");
  o.node("path", a.path, "The node; it need not exist.");
}

NodeCondition condition_of(const Args& a) {
  if (int{a.exists} + int{a.gone} + int{a.children.has_value()} + int{a.value.has_value()} != 1)
    throw SyntaxError("say what to wait for: --exists, --gone, --children or --value");
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

Json state_json(const Args& a, const std::string& path, const NodeState& node) {
  auto json = path_json(path);
  json.set("stat", node.stat ? stat_json(*node.stat) : Json());
  if (a.value) json.set("data", data_json(node.value));
  return json;
}

/// The node's state when the time was over.
std::string unmet(const Args& a, const NodeState& node) {
  if (!node.known) return "no server has told how it is";
  if (!node.stat) return "it does not exist";
  if (a.gone) return "it exists";
  if (a.children)
    return fmt::format("it has {} {}", node.stat->num_children,
                       node.stat->num_children == 1 ? "child" : "children");
  return node.value ? "its value does not match" : "its value is null";
}

int run(Context& cx, const Args& a) {
  const auto wish = condition_of(a);
  const auto path = cx.resolve(a.path);
  const auto time =
      a.timeout ? std::optional(parse_duration(*a.timeout, "--timeout")) : std::nullopt;
  const TimeLimit limit(cx.client.monitor(), time, cx.stop);
  NodeState node;
  cx.allow_move();
  try {
    await_node(cx.client, path, wish, node, limit.stop());
  } catch (const Cancelled&) {
    if (!limit.reached()) throw;
    cx.out.err_line("{}: {} after {}", cx.out.shown_in_error(path), unmet(a, node),
                    is_number(*a.timeout) ? *a.timeout + " s" : *a.timeout);
    return status::timed_out;
  }
  if (cx.out.json()) print_json(cx, state_json(a, path, node));
  return status::ok;
}

}  // namespace

extern const Command wait_command = make_command<Args>(
    {.name = "wait",
     .group = "Watches",
     .summary = "Wait until a node meets a condition",
     .keywords = {"block", "barrier", "until", "poll"},
     .details = "For scripts: prints nothing and ends with status 0 when the condition holds, or "
                "124 when the time is over. It reads the node again only after a watch event, and "
                "survives lost connections and expired sessions. A node that does not exist has no "
                "number of children, and no value; a null value matches nothing. With -o "
                "json it prints the node as it is then.",
     .examples = {{"wait --exists /app", "Until it is there."},
                  {"wait --gone --timeout 5s /app/old", "Until it is gone, five seconds at most."},
                  {"wait --children 1+ /app", "Until it has at least one child."},
                  {"wait --value '^$|ready' /app/config", "Until its value says so."}},
     .json = "path stat [data]",
     .strict = true},
    declare, run);
}  // namespace zksh::command_wait
