// du: show the sizes of subtrees: nodes and bytes.
#include "base/number.h"
#include "command/command.h"
#include "command/output.h"
#include "command/work.h"
#include "node/node_json.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

#include <algorithm>
#include <queue>
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

/// Whether one comes before another.
struct IsLarger {
  By by = By::Bytes;

  bool operator()(const Extent& one, const Extent& other) const {
    const bool by_nodes = one.nodes != other.nodes && (by == By::Nodes || one.bytes == other.bytes);
    return by_nodes                   ? one.nodes > other.nodes
           : one.bytes != other.bytes ? one.bytes > other.bytes
                                      : one.path < other.path;
  }
};

/// Adds up sizes during a walk: a subtree's is complete when the walk leaves it.
class Measure {
 public:
  void enter(const TreeNode& node) {
    open_.push_back({.path = node.path, .nodes = 1, .bytes = node.stat.data_length});
  }
  Extent leave() {
    auto extent = std::move(open_.back());
    open_.pop_back();
    if (!open_.empty()) {
      open_.back().nodes += extent.nodes;
      open_.back().bytes += extent.bytes;
    }
    return extent;
  }

 private:
  std::vector<Extent> open_;  ///< the nodes on the path to the current one
};

/// Keeps the largest subtrees.
class Largest {
 public:
  Largest(std::size_t most, By by) : most_(most), smallest_first_(IsLarger{by}) {}
  void add(Extent extent) {
    smallest_first_.push(std::move(extent));
    if (smallest_first_.size() > most_) smallest_first_.pop();
  }
  std::vector<Extent> sorted() {
    std::vector<Extent> all;
    all.reserve(smallest_first_.size());
    for (; !smallest_first_.empty(); smallest_first_.pop()) all.push_back(smallest_first_.top());
    std::ranges::reverse(all);
    return all;
  }

 private:
  std::size_t most_;
  std::priority_queue<Extent, std::vector<Extent>, IsLarger> smallest_first_;
};

std::string line_of(Context& cx, const Args& a, const Extent& extent) {
  if (cx.out.json())
    return path_json(extent.path).set("nodes", extent.nodes).set("bytes", extent.bytes).text();
  const auto size = a.human ? size_text(extent.bytes) : std::to_string(extent.bytes);
  const auto path = cx.out.shown(extent.path);
  if (cx.out.plain()) return fmt::format("{}\t{}\t{}", size, extent.nodes, path);
  return fmt::format("{:>12} {:>9}  {}", size, extent.nodes, path);
}

/// The names of the columns, for people.
void add_header(const Context& cx, std::string& line) {
  const auto& style = cx.out.style();
  if (style.for_people && style.out_is_terminal && cx.input != Input::Pipe)
    line = fmt::format("{:>12} {:>9}  {}\n", "bytes", "nodes", "path") + line;
}

std::size_t shown_depth(const Args& a) {
  if (a.depth && *a.depth < 0) throw ValueError("--depth must be at least 0");
  if (a.depth && a.summary)
    throw ValueError("-s shows the total only; it cannot be combined with -d");
  if (a.summary) return 0;
  if (a.depth) return static_cast<std::size_t>(*a.depth);
  return a.top ? any_depth : 1;
}

int run(Context& cx, const Args& a) {
  const auto depth = shown_depth(a);
  if (a.top && *a.top < 1) throw ValueError("--top must be at least 1");
  if (a.by && !a.top) throw ValueError("--by needs -n");
  ResultLines lines(cx.out);
  SkippedNodes skipped(cx);
  Measure measure;
  bool first = true;
  const auto next_line = [&](const Extent& extent) {
    auto line = line_of(cx, a, extent);
    if (std::exchange(first, false)) add_header(cx, line);
    return line;
  };
  Largest largest(static_cast<std::size_t>(a.top.value_or(1)), a.by.value_or(By::Bytes));
  const auto enter = [&](const TreeNode& node) {
    if (node.hides_children()) skipped.add(node.path);
    measure.enter(node);
  };
  const auto leave = [&](std::size_t at) {
    auto extent = measure.leave();
    if (at > depth) return;
    if (a.top)
      largest.add(std::move(extent));
    else
      lines.add(next_line(extent));
  };
  walk_for_lines(cx, a.walk, {.enter = enter, .leave = leave}, lines, skipped);
  for (const auto& extent : largest.sorted()) cx.out.line("{}", next_line(extent));
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
     .strict = true,
     .pages = true},
    declare, run);
}  // namespace zksh::command_du
