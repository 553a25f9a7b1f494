// ls2: list a node's children and its Stat.
#include "command/command.h"
#include "node/listing.h"

namespace zksh::command_ls2 {
namespace {

struct Args {
  std::string path;
  std::optional<std::string> legacy_watch;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The node to list.");
  o.legacy().text("watch", a.legacy_watch, "Any word: report the next change of the list.");
}

Sent run(Context& cx, const Args& a) {
  const auto watch = cx.printed_watch(a.legacy_watch.has_value());
  const auto start = [&cx, watch](const std::string& path) {
    return cx.client.start_children(path, watch);
  };
  const auto print = [&cx](const std::string& path, Children children) {
    print_children(cx, path, std::move(children), {.with_stat = true});
  };
  return start_read(cx, cx.resolve(a.path), start, print);
}

}  // namespace

extern const Command ls2_command = make_command<Args>(
    {.name = "ls2",
     .group = "Nodes",
     .summary = "List the children of a node and its Stat",
     .keywords = {"children", "stat"},
     .details = "The same as `ls -s`: a command of zkCli 3.4 that later versions dropped.",
     .examples = {{"ls2 /", "List the root, and show its Stat."}},
     .json = "path children stat",
     .strict = false,
     .pages = true},
    declare, run);
}  // namespace zksh::command_ls2
