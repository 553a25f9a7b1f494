// Progress: how far long work has come, on a line of the terminal that is drawn again and again.
#pragma once

#include "base/monitor.h"
#include "command/output.h"

#include <cstddef>
#include <string>

namespace zksh {

/// "120,000 of 300,000 nodes removed, 45,000/s, 4 s left". Nothing is drawn where standard error is
/// no terminal that can redraw, while results go to a terminal, and in the first half second.
/// Used on the command's thread.
class Progress {
 public:
  /// `what`: of the things that are counted, "nodes removed". `out` outlives it. `background`: the
  /// terminal belongs to the prompt.
  Progress(Output& out, bool background, std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Takes the line away, as end does, however the work ended.
  ~Progress();

  /// So many are done; of a total, if that is known and not 0. Cheap.
  void reach(std::size_t done, std::size_t total = 0);
  void advance(std::size_t count = 1) { reach(done_ + count); }
  /// Takes the line away, also after a stop: before anything else is said.
  void end();

 private:
  void draw(std::size_t total, Clock::time_point now);

  Output& out_;
  std::string what_;
  bool wanted_;
  bool drawn_ = false;
  std::size_t done_ = 0;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_;  ///< when to draw
};

}  // namespace zksh
