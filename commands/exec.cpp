// exec: send the operations collected since multi, all or nothing.
#include "client/client.h"
#include "command/command.h"
#include "command/transaction.h"
#include "node/transaction_commit.h"

namespace zksh::command_exec {
namespace {

int run(Context& cx) {
  const auto reads = cx.transaction.reads();
  const auto plan = cx.transaction.operations();
  if (!reads.empty()) {
    if (!cx.rehearsal) cx.transaction.drop();
    return cx.read_at_once(reads);
  }
  if (!plan.empty()) cx.client.await_connection("", cx.stop);
  // Drops only what was sent: without a connection, and after a dry run, it can be tried again.
  if (!cx.rehearsal) cx.transaction.drop();
  return commit(cx, plan);
}

}  // namespace

extern const Command exec_command = make_command(
    {.name = "exec",
     .group = "Nodes",
     .summary = "Commit the open transaction",
     .keywords = {"commit", "transaction"},
     .details = "Sends the operations entered since `multi`, and prints a line for each. If one "
                "fails, none is applied, and its status is returned. With --dry-run the "
                "transaction stays open for exec or discard. Reads print what they print alone.",
     .examples = {{"multi", "Open a transaction."},
                  {"create /app/a", "The first."},
                  {"set /app b", "The second."},
                  {"exec", "Commit it."}},
     .json = "op applied path [stat] | op applied path error | path data [stat] | path [children] "
             "[stat]",
     .writes = true,
     .allowed_in_transaction = true},
    run);
}  // namespace zksh::command_exec
