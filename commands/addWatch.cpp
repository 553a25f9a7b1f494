// addWatch: print every change of a node or a subtree.
#include "client/persistent_watches.h"
#include "command/command.h"

namespace zksh::command_addWatch {
namespace {

constexpr NamedValues<WatchMode, 2> modes{
    {{"PERSISTENT", WatchMode::Persistent}, {"PERSISTENT_RECURSIVE", WatchMode::Recursive}}};

struct Args {
  std::optional<WatchMode> mode;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.choice("-m,--mode", a.mode, modes, "mode",
           "PERSISTENT: the node and its list of children; PERSISTENT_RECURSIVE, the default: the "
           "node and all below it. In upper or lower case.");
  o.node("path", a.path, "The node; it need not exist.");
}

int run(Context& cx, const Args& a) {
  cx.services.watches.add(cx.resolve(a.path), a.mode.value_or(WatchMode::Recursive), cx.stop);
  return status::ok;
}

}  // namespace

extern const Command addWatch_command = make_command<Args>(
    {.name = "addWatch",
     .group = "Watches",
     .summary = "Watch a node or a subtree until the session ends",
     .keywords = {"recursive", "persistent", "event", "notify"},
     .details =
         "The watch stays until `removewatches` or the end of the session; a second addWatch on "
         "the node replaces its mode. PERSISTENT_RECURSIVE reports NodeCreated, NodeDeleted and "
         "NodeDataChanged of the node and of all below it; PERSISTENT reports these for the node "
         "alone, and its NodeChildrenChanged.\n\n"
         "How it is done: the ZooKeeper C client has no call for such watches, so zksh leaves an "
         "ordinary watch on every node and sets it again after each event, reading what has "
         "changed meanwhile. No change goes unnoticed; but a node that came and went, or was "
         "deleted and created, between two reads can show fewer events than happened, and what "
         "several sessions do at once can show in another order. Each node costs the server two "
         "watches. The servers tell nothing about a node that this session may not read: zksh "
         "names it once, and does not see what is below it. After a lost connection everything is "
         "read again, and what was missed is reported.",
     .examples = {{"addWatch /app", "Everything that happens at /app and below."},
                  {"addWatch -m PERSISTENT /app/jobs",
                   "The node itself and its list of children; it need not exist yet."}},
     .zkcli_syntax =
         "[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - "
         "default is PERSISTENT_RECURSIVE",
     .strict = true},
    declare, run);
}  // namespace zksh::command_addWatch
