// TransactionCommit: a transaction sent, and what came of each of its operations told.
#pragma once

#include "command/command.h"
#include "command/transaction.h"

#include <vector>

namespace zksh {

/// Sends the operations as one request and prints a line for each; status::ok. When one fails, none
/// is applied: says which and why, what the others were, and throws the failure with the status of
/// its class. With --dry-run the operations are checked one after the other and not sent. Blocks.
/// Throws Error, with status::outcome_unknown when the connection was lost meanwhile; Cancelled.
int commit(Context& cx, const std::vector<PlannedOp>& plan);

}  // namespace zksh
