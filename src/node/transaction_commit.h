// TransactionCommit: sends a transaction and reports the result of each operation.
#pragma once

#include "command/command.h"
#include "command/transaction.h"

#include <vector>

namespace zksh {

/// Sends the operations as one request, prints a line for each, and returns status::ok. If one
/// fails, none is applied: reports which and why, lists the others, and throws its error
/// with the status of its class. With --dry-run the operations are only checked. Blocks. Throws
/// Error, with status::outcome_unknown if the connection was lost meanwhile; Cancelled.
int commit(Context& cx, const std::vector<PlannedOp>& plan);

}  // namespace zksh
