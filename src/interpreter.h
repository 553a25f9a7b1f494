// Interpreter: a line in, an exit status out: words, command, run, and the report of what failed.
#pragma once

#include "command.h"
#include "line_history.h"
#include "settings.h"

#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// Runs the lines of one source, one after the other, on one thread.
class Interpreter {
 public:
  /// What a line runs with; all of it outlives the Interpreter.
  struct Surroundings {
    Client& client;
    OutputQueue& queue;
    OutputStyle style;
    LineHistory& history;
    Settings& settings;
    PersistentWatches& watches;
    Sandbox* sandbox = nullptr;
  };

  Interpreter(Surroundings surroundings, Input input, std::stop_token stop);

  /// Runs a line and returns its exit status. Errors are printed, not thrown. A blank line and a
  /// comment do nothing. Every other line gets a number in the history.
  int run_line(const std::string& line);
  /// Runs a command whose words are known already.
  int run_words(const std::vector<std::string>& words);
  /// Whether a command asked the shell to end.
  bool quit() const { return quit_; }

 private:
  int execute(const std::vector<std::string>& words);
  int run_command(const Command& command, const std::vector<std::string>& words);
  void settle_watches();
  int unknown_command(const std::string& typed);
  int not_connected();

  Surroundings around_;
  Input input_;
  std::stop_token stop_;
  Output out_;
  bool quit_ = false;
};

}  // namespace zksh
