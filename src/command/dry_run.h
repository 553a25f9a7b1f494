// DryRun: runs a command with --dry-run, which lists its writes instead of sending them.
#pragma once

#include "base/monitor.h"
#include "client/rehearsal.h"
#include "command/output.h"

#include <stop_token>
#include <vector>

namespace zksh {

/// Prints a line about a write that was not sent.
void print_rehearsed(Output& out, const WriteDescription& what);

/// Used on the command's thread.
class DryRun {
 public:
  /// `client` and `out` must outlive it.
  DryRun(Client& client, Output& out, std::stop_token stop);
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
  ~DryRun() = default;

  Rehearsal& client() { return rehearsal_; }
  /// Discards the command's own output, which would not be true.
  Output& silence() { return silence_; }
  /// Prints what would have been written, one line per write.
  void report();

 private:
  Output& out_;
  Output silence_;
  Guarded<std::vector<WriteDescription>> notes_;
  Rehearsal rehearsal_;
};

}  // namespace zksh
