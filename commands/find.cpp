// find: list the nodes of a subtree that meet conditions.
#include "base/words.h"
#include "client/node_path.h"
#include "command/command.h"
#include "command/dry_run.h"
#include "command/output.h"
#include "command/questions.h"
#include "command/work.h"
#include "config/settings.h"
#include "node/node_failures.h"
#include "node/node_json.h"
#include "tree/batch_writer.h"
#include "tree/node_filter.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

#include <algorithm>

namespace zksh::command_find {
namespace {

struct Args {
  NodeFilterOptions filter;
  WalkOptions walk;
  bool quote = false;
  bool remove = false;
  bool yes = false;
  bool dry_run = false;
  std::optional<std::string> exec;
  std::optional<std::string> ok;
};

constexpr std::string_view mark = "{}";  // stands for the path

/// Where the text of a program begins, which /bin/sh reads, in the command of -exec or -ok.
std::size_t program_sign(const Context& cx, const std::string& command) {
  if (cx.input == Input::Terminal || cx.input == Input::Text)
    for (const auto& place : word_places(command))
      if (const auto sign = command.find('|', place.begin); !place.quoted() && sign < place.end)
        return sign;
  return std::string::npos;
}

/// The command with the path in it. `sign`: where a program's text begins.
std::string line_for(const std::string& given, std::size_t sign, const std::string& path) {
  const auto command = given.substr(0, sign);
  const auto program = sign == std::string::npos ? "" : ' ' + given.substr(sign);
  if (command.find(mark) == std::string::npos) return command + ' ' + as_word(path) + program;
  std::string line;
  std::size_t done = 0;
  for (const auto& place : split_words(command)) {
    auto word = place.text;
    auto at = word.find(mark);
    if (at == std::string::npos) continue;
    for (; at != std::string::npos; at = word.find(mark, at + path.size()))
      word.replace(at, mark.size(), path);
    line += command.substr(done, place.begin - done) + as_word(word);
    done = place.end;
  }
  return line + command.substr(done) + program;
}

void declare(Options& o, Args& a) {
  declare_node_filter(o, a.filter);
  o.instead_of("-mtime,-mmin,-ctime,-atime", "-newer 7d and -older 7d go by the last write");
  o.instead_of("-size", "-min-size 10k and -max-size 1M limit the size");
  o.instead_of("-path", "-regex '/app/.*/db' matches whole paths");
  o.instead_of("-print", "paths are printed anyway");
  o.instead_of("-print0", "a path has no newline, so a line is one path");
  o.instead_of("-empty", "-max-size 0 finds empty values, -max-children 0 leaves");
  o.instead_of("-perm", "-acl world:anyone:w finds who may write");
  o.instead_of("-user", "-acl digest:ann finds who is in an ACL, -owner whose ephemerals they are");
  o.instead_of("-not", "no condition can be negated; `find / | grep -v TEXT` leaves paths out");
  o.flag("--quote", a.quote, "Quote the paths as words of a command line.");
  o.exclusive().flag("-delete", a.remove, "Delete the nodes, children before parents.");
  o.exclusive().text("-exec", a.exec,
                     "Run this command of zksh for each node; {} stands for its path, which "
                     "otherwise comes last: -exec 'setAcl {} world:anyone:r'.",
                     "command");
  o.exclusive().text("-ok", a.ok, "The same, but ask before each.", "command");
  o.flag("-y,--yes", a.yes, "With -delete: do not ask.");
  o.flag("--dry-run", a.dry_run, "With -delete, -exec or -ok: only show what would be done.");
  declare_walk(o, a.walk);
}

/// Calls `use` with the nodes that match, parents before children; it may add lines. Returns the
/// status of the walk.
int walk(Context& cx, const Args& a, bool stats,
         const std::function<void(const TreeNode& node, ResultLines& lines)>& use) {
  const auto matches = node_filter(cx, a.filter);
  const bool by_stat = a.filter.needs_stats();
  SkippedNodes skipped(cx, a.filter.acl || by_stat ? "read" : "list");
  ResultLines lines(cx.out);
  const auto enter = [&](const TreeNode& node) {
    if (node.hides_children() || !node.acl_readable || (by_stat && !node.stat_readable))
      skipped.add(node.path);
    if (matches(node)) use(node, lines);
  };
  walk_for_lines(cx, a.walk,
                 {.depth = depth_of(a.filter.most_depth, "-max-depth"),
                  .stats = by_stat || stats,
                  .acls = a.filter.acl.has_value(),
                  .enter = enter},
                 lines, skipped);
  return skipped.report();
}

std::optional<std::string> refusal(Context& cx, const std::vector<std::string>& paths) {
  const auto& first = paths.back();
  const bool one = paths.size() == 1;
  return refusal_of(cx,
                    {.what = one ? as_word(first) + "."
                                 : fmt::format("{}, from {} to {}.", counted(paths.size(), "node"),
                                               as_word(first), as_word(paths.front())),
                     .word = one ? std::string(base_name(first)) : std::to_string(paths.size()),
                     .path = one ? first : "",
                     .nodes = paths.size()});
}

/// Without conditions, or with too wide a pattern, the roots would be among what is found.
void refuse_roots(const std::vector<std::string>& paths) {
  for (const auto& path : paths)
    if (path == "/" || path == "/zookeeper" || path.starts_with("/zookeeper/"))
      throw ValueError(fmt::format(
          "refusing to delete {}, which is among what was found; nothing was deleted", path));
}

int remove_all(Context& cx, const Args& a, std::vector<std::string> paths) {
  refuse_roots(paths);
  std::ranges::reverse(paths);  // children before parents
  if (a.dry_run) {
    for (const auto& path : paths) print_rehearsed(cx.out, {.verb = "delete", .path = path});
    return status::ok;
  }
  if (!paths.empty() && needs_confirmation(cx, a.yes)) {
    if (const auto why = refusal(cx, paths)) {
      cx.out.err_line("{}", *why);
      return status::failure;
    }
  }
  NodeFailures failures(cx);
  Progress progress(cx.out, cx.background, "nodes deleted");
  std::size_t done = 0;
  const auto take = [&](const Write& write, const Written& result) {
    if (result.code == code::ok || (result.sent_before && result.code == code::no_node)) {
      progress.reach(++done, paths.size());
      acknowledge(cx, path_json(path_of(write)).set("removed", 1));
      return;
    }
    progress.end();
    failures.report(error_of(write, result));
  };
  BatchWriter writer(cx.client, {.limits = a.walk.limits.limits()}, take, cx.stop);
  report_if_incomplete(
      cx, progress,
      [&] {
        for (const auto& path : paths) writer.add(RemoveOp{.path = path});
        writer.finish();
      },
      [&] {
        return fmt::format("{} of {} nodes were deleted; {}", done, paths.size(),
                           unknown_text(writer.in_flight()));
      });
  return failures.first();
}

/// Runs the command for each node, and goes on after failures. With -exec, many requests are in
/// flight: no command waits for the answer to the one before.
int run_each(Context& cx, const Args& a, const std::vector<std::string>& paths) {
  const auto& command = a.exec ? *a.exec : *a.ok;
  const auto sign = program_sign(cx, command);
  auto path = paths.begin();
  if (a.dry_run) {
    for (const auto& one : paths)
      print_rehearsed(cx.out, {.verb = "run", .path = line_for(command, sign, one)});
    return status::ok;
  }
  if (a.exec)
    return cx.run_lines([&] {
      return path == paths.end() ? std::nullopt : std::optional(line_for(command, sign, *path++));
    });
  int first_failure = status::ok;
  for (; path != paths.end(); ++path) {
    if (cx.stop.stop_requested()) throw Cancelled();
    const auto line = line_for(command, sign, *path);
    if (!confirmed_by_user(cx, fmt::format("{}?", line))) continue;
    const int result = cx.run_line(line);
    if (first_failure == status::ok) first_failure = result;
  }
  return first_failure;
}

int act(Context& cx, const Args& a) {
  if (a.remove && !a.dry_run && cx.services.protection.read_only)
    throw Error("find -delete refused: this zksh is read-only", status::read_only);
  std::vector<std::string> paths;
  const int walked = walk(cx, a, false, [&](const TreeNode& node, ResultLines& /*lines*/) {
    paths.push_back(node.path);
  });
  const int result = a.remove ? remove_all(cx, a, std::move(paths)) : run_each(cx, a, paths);
  return result == status::ok ? walked : result;
}

int run(Context& cx, const Args& a) {
  // In find(1), the command is several words.
  if ((a.exec || a.ok) &&
      (std::ranges::count(a.walk.tops, "{}") > 0 || std::ranges::count(a.walk.tops, ";") > 0))
    throw ValueError("the command of -exec or -ok must be one word: -exec 'get {}'");
  const auto command = a.exec ? *a.exec : a.ok.value_or("");
  const auto sign = program_sign(cx, command);
  if (sign != std::string::npos && command.find(mark, sign) != std::string::npos)
    throw ValueError(
        "{} cannot stand after |, where /bin/sh would run what a node's name says; the results of "
        "-o json have the path: -exec 'get -o json {} | PROGRAM'");
  if (a.ok && !a.dry_run && !cx.can_ask())
    throw ValueError("there is no terminal for the questions of -ok; -exec asks nothing");
  if (a.remove || a.exec || a.ok) return act(cx, a);
  if (a.dry_run || a.yes) throw ValueError("--dry-run and -y are for -delete, -exec and -ok");
  return walk(cx, a, cx.out.json(), [&](const TreeNode& node, ResultLines& lines) {
    lines.add_result(
        [&] {
          return path_json(node.path).set("stat",
                                          node.stat_readable ? stat_json(node.stat) : Json());
        },
        [&] { return a.quote ? as_word(node.path) : cx.out.shown(node.path); });
  });
}

}  // namespace

extern const Command find_command = make_command<Args>(
    {.name = "find",
     .group = "Trees",
     .summary = "Find nodes of a subtree by name, type, age or size",
     .keywords = {"search", "filter", "recursive", "permission", "ACL", "delete", "for each",
                  "xargs", "bulk", "clean up", "scan"},
     .details =
         "Prints the paths of nodes that meet all conditions, one a line; without conditions, "
         "every node. Parents come before their children, and siblings are sorted. Ages are those "
         "of the value, by this machine's clock. Options may have one dash or two. Servers do not "
         "tell clients whether a node is a container or has a TTL. Nodes whose children may not be "
         "listed are still checked themselves; they are named on stderr, and the status is 7. One "
         "whose Stat is hidden, too, as newer servers do, meets no condition on it.\n\n"
         "-delete, -exec and -ok first find all nodes, then act, in this session. At a terminal "
         "-delete asks, as deleteall does; a node with children that do not match is reported, and "
         "stays. A command may be any of zksh's. What -exec runs does not wait for the answer "
         "before, but prints in order; it runs for all nodes, also after failures, and the status "
         "is that of the first.",
     .examples = {{"find /app -name 'lock-*'", "Search by name."},
                  {"find / -type ephemeral", "All ephemeral nodes."},
                  {"find /app -older 30d -max-children 0",
                   "Leaves that have not been written for a month."},
                  {"find /app -min-size 100k", "Large values."},
                  {"find /app -name 'tmp-*' -delete --dry-run", "What would be deleted."},
                  {"find /app -type persistent -exec 'getAcl -o json {}'",
                   "A command for each node; JSON has its path."},
                  {"find /app -acl world:anyone:w", "Nodes that everybody may write."}},
     .json = "path stat [acl] | path removed",
     .pages = true,
     .endless = {"-ok"}},
    declare, run);
}  // namespace zksh::command_find
