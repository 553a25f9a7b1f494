// Pager: results that are longer than the screen, shown by the user's pager.
#pragma once

#include "shell/output_program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The command line of the user's pager: the setting when that is not empty, else $ZKSH_PAGER, else
/// $PAGER, else less -FIRX where there is one. Nothing when that is empty, `cat` or `off`, or is a
/// program that is not there.
std::optional<std::string> pager_line(const std::string& setting);

/// How many rows a text takes on a screen that is so wide.
std::size_t rows_of(std::string_view text, std::size_t columns);

/// Used as OutputProgram. What fits on the screen is printed as if there were no pager.
class Pager {
 public:
  /// The plan's line is the pager's; its output is a terminal.
  explicit Pager(OutputProgram::Plan plan);

  /// The command's stop: the plan's, or that the pager was left.
  std::stop_token stop() const { return program_.stop(); }
  /// Keeps what fits on the screen; starts the pager when it does not.
  void write(std::string_view bytes);
  /// Keeps an error too, while results are kept, so that it is shown behind what came before it;
  /// when there are as many as the screen has lines, all that is kept is printed.
  /// False: not kept, since the pager runs.
  bool keep_error(std::string_view bytes);
  /// The command has ended with this status: prints what is kept, or waits until the pager is left.
  /// Returns the command's status, 0 when it was ended because the pager was left early.
  int finish(int result);

 private:
  /// As it came, on the screen.
  void print_kept();

  OutputQueue& queue_;
  OutputProgram program_;
  bool started_ = false;
  std::string kept_;                          ///< results
  std::vector<OutputQueue::Chunk> in_order_;  ///< the same, and errors
};

}  // namespace zksh
