// DryRun: one command run with --dry-run: its writes are listed instead of sent.
#pragma once

#include "client/rehearsal.h"
#include "command/output.h"

#include <stop_token>
#include <vector>

namespace zksh {

/// A line about a write that was not sent.
void print_rehearsed(Output& out, const Rehearsed& what);

/// Used on the command's thread.
class DryRun {
 public:
  /// `client` and `out` outlive it.
  DryRun(Client& client, Output& out, std::stop_token stop);

  Rehearsal& client() { return rehearsal_; }
  /// For what the command itself says, which would not be true: it goes nowhere.
  Output& silence() { return silence_; }
  /// Prints what would have been written, a line each.
  void report();

 private:
  Output& out_;
  Output silence_;
  Guarded<std::vector<Rehearsed>> notes_;
  Rehearsal rehearsal_;
};

}  // namespace zksh
