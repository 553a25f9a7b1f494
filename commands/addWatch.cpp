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
           "PERSISTENT (the node and its list of children) or PERSISTENT_RECURSIVE (the node and "
           "everything below it; the default), in upper or lower case.");
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
         "Prints every change until `removewatches` removes the watch or the session ends. A "
         "second addWatch on the same node replaces its mode. PERSISTENT_RECURSIVE reports "
         "NodeCreated, NodeDeleted and NodeDataChanged of the node and of all nodes below it. "
         "PERSISTENT reports these for the node alone, and its NodeChildrenChanged.\n\nThe server "
         "reports each change as it happens, in order. It keeps nothing while there is no "
         "connection: afterwards the metadata of the watched nodes is read once, and tells which "
         "were created or written meanwhile (several writes are one event). Of nodes that were "
         "deleted below a recursive watch, only the parent is known: NodeChildrenChanged of the "
         "parent stands for them, unless a child was created there later: that hides "
         "it.\n\nServers have such watches from 3.6 on, and servers before 3.9 keep one mode for a "
         "node, whoever set it. A server that does not tell its version (srvr) counts as older.",
     .examples = {{"addWatch /app", "Print every change at and below /app."},
                  {"addWatch -m PERSISTENT /app/jobs",
                   "Only the node and its list of children; it need not exist yet."}},
     .zkcli_syntax =
         "[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - "
         "default is PERSISTENT_RECURSIVE",
     .strict = true},
    declare, run);
}  // namespace zksh::command_addWatch
