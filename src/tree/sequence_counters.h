// SequenceCounters: finds copies of sequential nodes that their parent's counter has yet to reach.
#pragma once

#include "client/work_limits.h"
#include "command/command.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// Declares --advance-counters.
void declare_counters(Options& options, std::optional<std::int64_t>& target);

/// A copy has its name from elsewhere, while its parent's counter only counts what was created
/// there. So the parent may give a sequential node the number of a copy, or a lower one: such
/// a node is out of order, and with a copy's whole name it cannot be created. Keeps only nodes on
/// the path, and parents with such children. Used on one thread.
class SequenceCounters {
 public:
  struct Plan {
    std::optional<std::int64_t> most_steps{};  ///< the value of --advance-counters
    bool repeatable = false;                   ///< the same command can be run again
    WorkLimits limits{};
  };
  /// Throws ValueError if most_steps is out of range.
  explicit SequenceCounters(const Plan& plan);

  /// Notes a node. `created`: it is new, or would be; otherwise it existed before. Absolute paths,
  /// in the order of stands_before.
  void add(const std::string& path, bool created);
  /// Call it once all are written. Reads the counters, and warns of those that are behind; or
  /// advances them, with a create and a delete for each step. Sends nothing if no name ends in a
  /// sequence number. Blocks; throws ZkError, Cancelled, and Error if more steps are needed than
  /// allowed.
  void finish(Context& cx);

 private:
  struct Parent {
    std::string path{};
    std::int64_t children = 0;  ///< noted
    std::int64_t created = 0;   ///< of these
    std::int64_t highest = -1;  ///< the highest sequence number
    std::string name{};         ///< the child that has it
    std::int64_t next = 0;      ///< the number that the next sequential child gets

    std::int64_t steps() const { return highest + 1 - next; }
  };

  void close_last();
  void read_counters(Context& cx);
  void warn(Context& cx) const;
  void advance(Context& cx) const;
  std::int64_t steps() const;

  Plan plan_;
  std::vector<Parent> open_{};      ///< each below the one before
  std::vector<Parent> suspects_{};  ///< whose counter may be behind
};

}  // namespace zksh
