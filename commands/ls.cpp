// ls: list the children of a node.
#include "command/command.h"
#include "command/current_node.h"
#include "command/result_lines.h"
#include "command/work_options.h"
#include "node/listing.h"
#include "node/node_json.h"
#include "tree/walk.h"

namespace zksh::command_ls {
namespace {

struct Args {
  bool stat = false;
  bool human = false;
  bool watch = false;
  bool recursive = false;
  bool option_list = false;
  WorkOptions limits;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's Stat below the list; not with -R.");
  o.flag("-h,--human", a.human, "With -s: show ages, sizes and owners beside the fields.");
  o.flag("-w,--watch", a.watch, "Report the next change of the list; with -R of every list.");
  o.flag("-R,--recursive", a.recursive, "List the whole subtree, one path a line.");
  o.legacy().flag("-?", a.option_list, "Print zkCli's option summary before the result.");
  o.instead_of("-1", "one name a line is what `ls -o plain` prints");
  o.instead_of("-l", "`ls -s` shows the node's Stat");
  declare_work_limits(o, a.limits);
  o.nodes("path", a.paths, "The nodes to list; by default the current node.", false);
}

/// The option list that zkCli's ls prints before its answer.
void print_option_list(Context& cx) {
  if (cx.input != Input::Pipe) throw UsageError("unknown option -?; see `ls --help`");
  cx.out.line("usage: ls [options] path\n -?   help\n -R   recurse\n -s   stat\n -w   watch");
}

void print_subtree(Context& cx, const std::string& top, const Watch& watch, WorkLimits limits) {
  ResultLines lines(cx.out);
  const auto add = [&](const std::string& node) {
    lines.add(cx.out.json() ? path_json(node).text() : cx.out.shown(node));
  };
  lines.during([&] { visit_subtree(cx.client, top, watch, limits, add, cx.stop); });
}

constexpr DeprecatedForm old_form{"ls path [watch]", "ls [-w] path"};

Sent run(Context& cx, const Args& a) {
  if (a.option_list) print_option_list(cx);
  // zkCli requires a path.
  if (a.paths.empty() && cx.input == Input::Pipe && !cx.knows_current_node())
    throw SyntaxError("too few arguments: path expected");
  const auto given = a.paths.empty() ? NodeWords{.paths = cx.resolve_all_or_current({})}
                                     : node_words(cx, a.paths, is_watch_word, &old_form);
  const auto watch = cx.printed_watch(a.watch || given.legacy);
  const ListingForm form{
      .with_stat = a.stat, .with_paths = given.paths.size() > 1, .human = a.human};
  const auto limits = a.limits.limits();
  if (a.recursive)
    return each_node(cx, given.paths, [&](const std::string& path) {
      print_subtree(cx, path, watch, limits);
      return status::ok;
    });
  const auto start = [&cx, watch](const std::string& path) {
    return cx.client.start_names(path, watch);
  };
  const auto print = [&cx, form](const std::string& path, Listing children) {
    print_children(cx, path, std::move(children), form);
  };
  return read_each(cx, given.paths, start, print, is_bare(cx));
}

}  // namespace

extern const Command ls_command = make_command<Args>(
    {.name = "ls",
     .group = "Nodes",
     .summary = "List the children of a node",
     .keywords = {"children", "directory", "recursive"},
     .details = "Lists the children of a node, sorted by name. On a terminal the names are in "
                "columns, in colours, with a slash after names that have children and a * after "
                "ephemerals. In `| program` and `> file` there is one name a line. zkCli's form, "
                "[a, b], is printed on piped input and with -o zkcli. -R prints full paths: the "
                "node, its children, then what is below each child; nodes that vanish meanwhile "
                "are left out. "
                "With several nodes, each list has its path above it; with -o plain, each name has "
                "its path "
                "before it. A last word watch, true or 1 is zkCli 3.4's form of -w.",
     .examples = {{"ls /", "List the children of the root."},
                  {"ls -s /zookeeper", "List the children and the Stat of the node itself."},
                  {"ls -R /zookeeper", "List a subtree."},
                  {"ls /a*", "List the children of every node whose name begins with a."}},
     .json = "path [children] [stat]",
     .zkcli_syntax = "[-s] [-w] [-R] path",
     .pages = true},
    declare, run);
}  // namespace zksh::command_ls
