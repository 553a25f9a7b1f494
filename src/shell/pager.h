// Pager: shows results longer than the screen in the user's pager.
#pragma once

#include "shell/output_program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The command line of the user's pager: the setting unless empty, else $ZKSH_PAGER, $PAGER, or
/// less -FIRX if installed. nullopt if that is empty, `cat` or `off`, or the program does not
/// exist.
std::optional<std::string> pager_line(const std::string& setting);

/// The number of rows that a text takes on a screen of this width.
std::size_t rows_of(std::string_view text, std::size_t columns);

/// Used like OutputProgram. Results that fit on the screen are printed directly.
class Pager {
 public:
  /// The plan's line is the pager's; its output is a terminal.
  explicit Pager(OutputProgram::Plan plan);

  /// The command's stop: requested with the plan's, or when the user leaves the pager.
  std::stop_token stop() const { return program_.stop(); }
  /// Keeps results that fit on the screen; starts the pager once they do not.
  void write(std::string_view bytes);
  /// While results are kept, also keeps an error, so that it appears after them; prints everything
  /// kept if the errors fill the screen. Returns false if the pager runs, and does not keep the
  /// error then.
  bool keep_error(std::string_view bytes);
  /// Call when the command has ended with this status: prints what is kept, or waits until the user
  /// leaves the pager. Returns the command's status, 0 if it was stopped because the pager was left
  /// early.
  int finish(int result);

 private:
  /// Prints what is kept, in order.
  void print_kept();

  OutputQueue& queue_;
  OutputProgram program_;
  bool started_ = false;
  std::string kept_;                          ///< results
  std::vector<OutputQueue::Chunk> in_order_;  ///< results and errors
};

}  // namespace zksh
