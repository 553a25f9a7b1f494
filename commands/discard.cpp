// discard: drop the operations collected since multi.
#include "command/command.h"
#include "command/transaction.h"

namespace zksh::command_discard {
namespace {

int run(Context& cx) {
  const auto dropped = cx.transaction.drop();
  if (!dropped) throw ValueError("no transaction is open; `multi` opens one");
  if (cx.input == Input::Terminal) cx.out.err_line("{}", dropped_text(*dropped));
  return status::ok;
}

}  // namespace

extern const Command discard_command =
    make_command({.name = "discard",
                  .group = "Nodes",
                  .summary = "Drop the open transaction",
                  .keywords = {"rollback", "abort", "transaction"},
                  .details = "Drops the operations entered since `multi`. At the prompt, "
                             "Ctrl-C on an empty line does the same.",
                  .examples = {{"multi", "Open a transaction."},
                               {"create /app/a", "This, too."},
                               {"discard", "Drop it; nothing was sent."}},
                  .needs = Needs::Nothing,
                  .allowed_in_transaction = true},
                 run);
}  // namespace zksh::command_discard
