// Work: the options, the progress and the report of work on many nodes.
#pragma once

#include "base/monitor.h"
#include "client/work_limits.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// The values of --window and --rate.
struct WorkOptions {
  std::optional<std::int64_t> window{};
  std::optional<std::int64_t> rate{};

  /// Throws ValueError if a number is out of range.
  WorkLimits limits() const;
};
/// Declares --window and --rate.
void declare_work_limits(Options& options, WorkOptions& target);

/// The arguments of commands that walk subtrees.
struct WalkOptions {
  WorkOptions limits{};
  std::vector<std::string> tops{};  ///< for Context::resolve_all_or_current
};
/// Declares them; call it last.
void declare_walk(Options& options, WalkOptions& target);

/// "120000 of 300000 nodes deleted, 45000/s, 4 s left"; until the first is deleted, "80000 nodes
/// found, 90000/s". Draws nothing in the first half second, while results go to a terminal, or if
/// standard error is not a terminal that can redraw. Used on the command's thread.
class Progress {
 public:
  /// `what` is counted: "nodes removed". `out` must outlive it. `background`: the terminal belongs
  /// to the prompt.
  Progress(Output& out, bool background, std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Removes the line, as end does, however the work ended.
  ~Progress();

  /// Sets how many are done, of a total if that is known and not 0. While none is done, the total
  /// is the number found so far, and the time spent does not count for the estimate. Cheap.
  void reach(std::size_t done, std::size_t total = 0);
  void advance(std::size_t count = 1) { reach(done_ + count); }
  /// Removes the line, also after a stop; call it before printing anything else.
  void end();
  /// Call it before printing results. If they go to the terminal too, they show the progress
  /// themselves, and the line does not come back.
  void give_way();
  /// Whether somebody has seen it.
  bool was_shown() const { return was_shown_; }

 private:
  std::size_t counted() const { return done_ > 0 ? done_ : total_; }
  void draw(Clock::time_point now);

  Output& out_;
  std::string what_;
  bool wanted_;
  std::size_t drawn_ = 0;  ///< the width of the line on the terminal
  bool was_shown_ = false;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  Clock::time_point began_ = Clock::now();  ///< the current phase
  bool works_ = false;                      ///< the first is done
  Clock::time_point next_;                  ///< when to draw next
};

/// Runs `work` and ends its progress. If `work` throws, prints to stderr what was done by then, and
/// rethrows: "not complete: 300 nodes were created; of 8 more it is not known". `summary` returns
/// the text after "not complete: "; nothing is printed if it is empty, or in a dry run. Blocks as
/// `work` does.
void report_if_incomplete(Context& cx, Progress& progress, const std::function<void()>& work,
                          const std::function<std::string()>& summary);

/// The end of that text, for nodes that may or may not be done.
std::string unknown_text(std::size_t nodes);

}  // namespace zksh
