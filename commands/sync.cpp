// sync: wait until the server has seen every write made before.
#include "command.h"
#include "node_json.h"

#include <fmt/core.h>

namespace zksh {
namespace {

struct Args {
  std::string path;
};

void declare(Options& o, Args& a) { o.node("path", a.path, "A node; it need not exist."); }

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  try {
    cx.client.sync(path, cx.stop);
  } catch (const ZkError& error) {
    if (error.code() == code::invalid_state || cx.out.json()) throw;
    cx.out.line("Sync has failed. rc={}", error.code());
    return error.exit_status();
  }
  if (cx.out.json())
    print_json(cx, path_json(path));
  else
    cx.out.line("Sync is OK");
  return status::ok;
}

}  // namespace

extern const Command sync_command = make_command<Args>(
    {.name = "sync",
     .group = "Session",
     .summary = "Wait until the server has seen every write made before",
     .details =
         "A follower may lag behind the leader; after sync its answers are at least as new as the "
         "leader's were when sync was sent.",
     .examples = {{"sync /", "Catch up with the leader."}},
     .zkcli_syntax = "path"},
    declare, run);
}  // namespace zksh
