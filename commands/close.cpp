// close: end the session.
#include "command.h"
#include "lock_table.h"
#include "transaction.h"

namespace zksh {
namespace {

struct Args {};

void declare(Options& /*o*/, Args& /*a*/) {}

int run(Context& cx, const Args& /*a*/) {
  if (const auto dropped = cx.transaction.drop()) cx.out.err_line("{}", dropped_text(*dropped));
  cx.locks.end_programs(cx.stop);
  cx.client.close();
  return status::ok;
}

}  // namespace

extern const Command close_command = make_command<Args>(
    {.name = "close",
     .group = "Session",
     .summary = "End the session",
     .details = "Its ephemerals go at once. Programs that run under its locks are ended first. The "
                "shell stays; `connect` opens another session.",
     .examples = {{"close", "End the session."}},
     .zkcli_syntax = "",
     .optionless = true,
     .beside_transaction = true},
    declare, run);
}  // namespace zksh
