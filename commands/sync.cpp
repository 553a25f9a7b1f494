// sync: wait until the server has all earlier writes.
#include "client/client.h"
#include "command/command.h"
#include "command/zkcli_style.h"
#include "node/node_json.h"

namespace zksh::command_sync {
namespace {

struct Args {
  std::string path;
};

void declare(Options& o, Args& a) { o.node("path", a.path, "A node; it need not exist."); }

/// Reports a failure as zkCli does; rethrows what it does not report.
int report_failure(Context& cx, const ZkError& error) {
  if (error.code() == code::invalid_state || cx.out.json()) throw;
  cx.out.line("Sync has failed. rc={}", error.code());
  return cx.excused(error.exit_status());
}

int finish(Context& cx, const Pending<Nothing>& pending, const std::string& path) {
  try {
    cx.client.answer_of(
        pending, path, [&] { return cx.client.start_sync(path); }, cx.stop);
  } catch (const ZkError& error) {
    return report_failure(cx, error);
  }
  print_result(cx, path_json(path), prints_as_34(cx) ? "Sync returned 0" : "Sync is OK");
  return status::ok;
}

Sent run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  try {
    cx.client.await_connection(path, cx.stop);
  } catch (const ZkError& error) {
    return report_failure(cx, error);
  }
  const auto pending = cx.client.start_sync(path);
  return {path, pending, [&cx, pending, path] { return finish(cx, pending, path); }};
}

}  // namespace

extern const Command sync_command = make_command<Args>(
    {.name = "sync",
     .group = "Session",
     .summary = "Wait until the server has caught up with the leader",
     .keywords = {"consistency", "stale", "flush"},
     .details = "A follower may lag behind the leader. After sync, its answers are at least as new "
                "as the leader's data was when sync was sent.",
     .examples = {{"sync /", "Catch up with the leader."}},
     .json = "path",
     .zkcli_syntax = "path"},
    declare, run);
}  // namespace zksh::command_sync
