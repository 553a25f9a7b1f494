// du: show the sizes of subtrees: nodes and bytes.
#include "base/number.h"
#include "command/command.h"
#include "command/output.h"
#include "command/work.h"
#include "node/node_json.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace zksh::command_du {
namespace {

enum class By { Bytes, Nodes };
constexpr NamedValues<By, 2> orders{{{"bytes", By::Bytes}, {"nodes", By::Nodes}}};

struct Args {
  std::optional<std::int64_t> depth;
  std::optional<std::int64_t> top;
  std::optional<By> by;
  bool summary = false;
  bool human = false;
  WalkOptions walk;
};

void declare(Options& o, Args& a) {
  o.number("-d,--depth", a.depth, "depth", "Show subtrees down to this depth; 1 by default.");
  o.flag("-s,--summarize", a.summary, "Show only the total, like -d 0.");
  o.number("-n,--top", a.top, "number",
           "Show only the largest subtrees, this many, at any depth unless -d is given.");
  o.choice("--by", a.by, orders, "what",
           "With -n, the largest by this: bytes (the default) or nodes.");
  o.flag("-h,--human", a.human, "Print sizes in KiB, MiB or GiB.");
  declare_walk(o, a.walk);
}

/// The size of a subtree, including its top.
struct Extent {
  std::string path{};
  std::size_t nodes = 0;
  std::int64_t bytes = 0;
};

std::string line_of(Context& cx, const Args& a, const Extent& extent) {
  if (cx.out.json())
    return path_json(extent.path).set("nodes", extent.nodes).set("bytes", extent.bytes).text();
  const auto size = a.human ? size_text(extent.bytes) : std::to_string(extent.bytes);
  const auto path = cx.out.shown(extent.path);
  if (cx.out.plain()) return fmt::format("{}\t{}\t{}", size, extent.nodes, path);
  return fmt::format("{:>12} {:>9}  {}", size, extent.nodes, path);
}

std::size_t shown_depth(const Args& a) {
  const auto depth = depth_of(a.depth);
  if (a.depth && a.summary)
    throw ValueError("-s shows the total only; it cannot be combined with -d");
  if (a.summary) return 0;
  return a.depth || a.top ? depth : 1;
}

int run(Context& cx, const Args& a) {
  const auto depth = shown_depth(a);
  if (a.top && *a.top < 1) throw ValueError("--top must be at least 1");
  if (a.by && !a.top) throw ValueError("--by needs -n");
  ResultLines lines(cx.out);
  SkippedNodes skipped(cx);
  const auto& style = cx.out.style();
  std::string titles;  // above the first line, for people
  if (style.for_people && style.out_is_terminal && cx.input != Input::Pipe)
    titles = fmt::format("{:>12} {:>9}  {}\n", "bytes", "nodes", "path");
  const auto next_line = [&](const Extent& extent) {
    return std::exchange(titles, {}) + line_of(cx, a, extent);
  };
  std::vector<Extent> open;  // the nodes on the path to the current one
  const auto is_larger = [by_nodes = a.by == By::Nodes](const Extent& one, const Extent& other) {
    return by_nodes ? std::tie(other.nodes, other.bytes, one.path) <
                          std::tie(one.nodes, one.bytes, other.path)
                    : std::tie(other.bytes, other.nodes, one.path) <
                          std::tie(one.bytes, one.nodes, other.path);
  };
  std::multiset<Extent, decltype(is_larger)> largest(is_larger);
  const auto enter = [&](const TreeNode& node) {
    if (node.hides_children()) skipped.add(node.path);
    open.push_back({.path = node.path, .nodes = 1, .bytes = node.stat.data_length});
  };
  // A subtree is complete when the walk leaves it.
  const auto leave = [&](std::size_t at) {
    auto extent = std::move(open.back());
    open.pop_back();
    if (!open.empty()) {
      open.back().nodes += extent.nodes;
      open.back().bytes += extent.bytes;
    }
    if (at > depth) return;
    if (!a.top) return lines.add(next_line(extent));
    largest.insert(std::move(extent));
    if (std::ssize(largest) > *a.top) largest.erase(std::prev(largest.end()));
  };
  walk_for_lines(cx, a.walk, {.enter = enter, .leave = leave}, lines, skipped);
  for (const auto& extent : largest) cx.out.line("{}", next_line(extent));
  return skipped.report();
}

}  // namespace

extern const Command du_command = make_command<Args>(
    {.name = "du",
     .group = "Trees",
     .summary = "Show the size of subtrees in bytes and nodes",
     .keywords = {"size", "disk", "usage", "space", "biggest", "largest"},
     .details = "Prints a line for each subtree: the bytes of all its values, the number of its "
                "nodes including the top, and its path. A subtree comes after those below it. With "
                "-o plain, tabs separate the fields. ZooKeeper's own overhead, about a hundred "
                "bytes plus the path for each node, is not counted. Nodes whose children may not "
                "be listed are skipped, and the status is 7.",
     .examples = {{"du /", "Find the large children of the root."},
                  {"du -h -n 10 /", "The ten largest subtrees."},
                  {"du -n 10 --by nodes /", "Where most nodes are."},
                  {"du -s /app", "The total of one subtree."}},
     .json = "path nodes bytes",
     .pages = true},
    declare, run);
}  // namespace zksh::command_du
