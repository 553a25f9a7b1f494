// ls: list the children of a node.
#include "base/column_table.h"
#include "base/number.h"
#include "client/node_path.h"
#include "command/command.h"
#include "command/output.h"
#include "command/screen.h"
#include "command/work.h"
#include "node/listing.h"
#include "node/node_json.h"
#include "tree/walk.h"
#include "txnlog/moment.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace zksh::command_ls {
namespace {

struct Args {
  bool stat = false;
  bool human = false;
  bool watch = false;
  bool recursive = false;
  bool option_list = false;
  bool details = false;
  bool by_time = false;
  bool by_size = false;
  WorkOptions limits;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's Stat below the list; not with -R.");
  o.flag("-h,--human", a.human,
         "With -s: show ages, sizes and owners beside the fields; with -l: sizes in KiB or MiB.");
  o.flag("-w,--watch", a.watch, "Report the next change of the list; with -R of every list.");
  o.flag("-R,--recursive", a.recursive, "List the whole subtree, one path a line.");
  o.flag("-l,--long", a.details,
         "A child a line, with version, size, number of children, time of the last write, owner.");
  o.flag("-t,--by-time", a.by_time, "With -l: the last written first.");
  o.flag("-S,--by-size", a.by_size, "With -l: the largest value first.");
  o.legacy().flag("-?", a.option_list, "Print zkCli's option summary before the result.");
  o.instead_of("-1", "one name a line is what `ls -o plain` prints");
  o.instead_of("-a,-A", "no node is hidden");
  o.instead_of("-r", "-R lists the whole subtree");
  o.instead_of("-d", "`stat` shows the node itself");
  declare_work_limits(o, a.limits);
  o.nodes("path", a.paths, "The nodes to list; by default the current node.", false);
}

/// The children, with their Stats, in the requested order.
std::vector<TreeNode> children_with_stats(Context& cx, const std::string& path, const Args& a) {
  std::vector<TreeNode> children;
  const auto enter = [&](TreeNode& node) {
    if (node.depth == 0 && !node.readable) throw ZkError(code::no_auth, node.path);
    if (node.depth == 1) children.push_back(std::move(node));
  };
  walk_tree(cx.client, {.tops = {path}, .depth = 1, .limits = a.limits.limits(), .enter = enter},
            cx.stop);
  const auto key = [&](const TreeNode& node) {
    return a.by_time ? node.stat.mtime : a.by_size ? node.stat.data_length : std::int64_t{0};
  };
  std::ranges::stable_sort(children, std::greater<>(), key);
  return children;
}

/// The cells of a child: version, size, children, time, owner.
std::vector<std::string> cells_of(const TreeNode& node, bool for_people, bool human) {
  constexpr std::size_t until_seconds = 19;
  const auto& stat = node.stat;
  if (!node.stat_readable) return {"-", "-", "-", "-", "-"};
  return {std::to_string(stat.version),
          human && for_people ? size_text(stat.data_length) : std::to_string(stat.data_length),
          std::to_string(stat.num_children),
          for_people ? local_time_text(stat.mtime).substr(0, until_seconds)
                     : std::to_string(stat.mtime),
          stat.ephemeral_owner == 0 ? "-" : session_text(stat.ephemeral_owner)};
}

enum Column : std::uint8_t { Version, Size, NumChildren, Written, Owner, Name };

/// If the terminal is too narrow, leaves columns out, but not the one that the rows are sorted by.
std::vector<std::string> fitting_lines(ColumnTable& table, const Args& a, std::size_t columns) {
  constexpr std::size_t least_name = 28;  // a contender's, with a short guid
  table.set_elastic(Name, ColumnTable::Cut::Middle);
  for (const auto column : {Version, NumChildren, Owner, a.by_time ? Size : Written})
    if (columns > 0 && table.width(least_name) > columns) table.drop(column);
  return table.lines(columns, cut_mark());
}

/// `first`: of several nodes, whether it is the first; null: it is the only one.
void print_long(Context& cx, const std::string& path, const Args& a, bool* first) {
  const bool bare = cx.out.plain();
  ColumnTable table({{.title = "version", .right = true},
                     {.title = "size", .right = true},
                     {.title = "children", .right = true},
                     {.title = "written"},
                     {.title = "owner"},
                     {.title = "name"}});
  ResultLines lines(cx.out);
  const auto children = children_with_stats(cx, path, a);
  if (first && !bare && !cx.out.json()) print_heading(cx, path, *first);
  for (const auto& node : children) {
    auto cells = cells_of(node, !bare, a.human);
    const bool whole = first && bare;
    cells.push_back(cx.out.shown(whole ? node.path : base_name(node.path)));
    if (cx.out.json())
      lines.add(path_json(node.path)
                    .set("stat", node.stat_readable ? stat_json(node.stat) : Json())
                    .text());
    else if (bare)
      lines.add(fmt::format("{}", fmt::join(cells, "\t")));
    else
      table.add_row(std::move(cells));
  }
  if (!bare && !cx.out.json() && !children.empty())
    for (const auto& line : fitting_lines(table, a, result_columns(cx.out))) lines.add(line);
  lines.flush();
}

constexpr DeprecatedForm old_form{"ls path [watch]", "ls [-w] path"};

Sent run(Context& cx, const Args& a) {
  if (a.option_list) {  // zkCli's ls prints it before its answer
    if (cx.input != Input::Pipe) throw UsageError("unknown option -?; see `ls --help`");
    cx.out.line("usage: ls [options] path\n -?   help\n -R   recurse\n -s   stat\n -w   watch");
  }
  // zkCli requires a path.
  if (a.paths.empty() && cx.input == Input::Pipe && !cx.knows_current_node())
    throw SyntaxError("too few arguments: path expected");
  const auto given = a.paths.empty() ? NodeWords{.paths = cx.resolve_all_or_current({})}
                                     : node_words(cx, a.paths, is_watch_word, &old_form);
  const auto watch = cx.printed_watch(a.watch || given.legacy);
  const ListingForm form{
      .with_stat = a.stat, .with_paths = given.paths.size() > 1, .human = a.human};
  const auto limits = a.limits.limits();
  if ((a.by_time || a.by_size) && !a.details) throw ValueError("-t and -S need -l");
  if (a.details && (a.stat || a.recursive || a.watch))
    throw ValueError("-l cannot be combined with -s, -R and -w");
  if (a.details) {
    bool first = true;
    return each_node(cx, given.paths, [&](const std::string& path) {
      print_long(cx, path, a, given.paths.size() > 1 ? &first : nullptr);
      return status::ok;
    });
  }
  if (a.recursive)
    return each_node(cx, given.paths, [&](const std::string& path) {
      ResultLines lines(cx.out);
      const auto add = [&](const std::string& node) {
        lines.add_result([&] { return path_json(node); }, [&] { return cx.out.shown(node); });
      };
      lines.during([&] { visit_subtree(cx.client, path, watch, limits, add, cx.stop); });
      return status::ok;
    });
  const auto start = [&cx, watch](const std::string& path) {
    return cx.client.start_children(path, watch);
  };
  const auto print = [&cx, form](const std::string& path, Children children) {
    print_children(cx, path, std::move(children), form);
  };
  return read_each(cx, given.paths, start, print);
}

}  // namespace

extern const Command ls_command = make_command<Args>(
    {.name = "ls",
     .group = "Nodes",
     .summary = "List the children of a node",
     .keywords = {"children", "directory", "recursive", "long", "newest", "largest", "\\d", "\\l",
                  "dir", "list", "ll", "keys"},
     .details =
         "Lists the children of a node, sorted by name. On a terminal the names are in columns, in "
         "colours, with a slash after names that have children and a * after ephemerals. In `| "
         "program` and `> file` there is one name a line. zkCli's form, [a, b], is printed on "
         "piped input, by `zksh ls /` (but not by `zksh -c 'ls /'`), and with -o zkcli. -R prints "
         "full paths: the node, its children, then what is below each child; nodes that vanish "
         "meanwhile are left out. -l prints a child a line, in columns; -o plain separates them by "
         "tabs, with the time in milliseconds since 1970. With several nodes, each list has its "
         "path above it; with -o plain, each name has its path before it. A last word watch, true "
         "or 1 is zkCli 3.4's form of -w.",
     .examples = {{"ls /", "List the children of the root."},
                  {"ls -s /zookeeper", "List the children and the Stat of the node itself."},
                  {"ls -lt /app", "Sizes, versions, owners; the last written first."},
                  {"ls -R /zookeeper", "List a subtree."},
                  {"ls /a*", "List the children of every node whose name begins with a."}},
     .json = "path [children] [stat] | path stat",
     .zkcli_syntax = "[-s] [-w] [-R] path",
     .pages = true},
    declare, run);
}  // namespace zksh::command_ls
