// close: end the session.
#include "command.h"
#include "transaction.h"

namespace zksh {
namespace {

struct Args {};

void declare(Options& /*o*/, Args& /*a*/) {}

int run(Context& cx, const Args& /*a*/) {
  if (const auto dropped = cx.transaction.drop()) cx.out.err_line("{}", dropped_text(*dropped));
  cx.client.close();
  return status::ok;
}

}  // namespace

extern const Command close_command = make_command<Args>(
    {.name = "close",
     .group = "Session",
     .summary = "End the session",
     .details = "Its ephemerals go at once. The shell stays; `connect` opens another session.",
     .examples = {{"close", "End the session."}},
     .zkcli_syntax = "",
     .beside_transaction = true},
    declare, run);
}  // namespace zksh
