// Interpreter: a line in, an exit status out: words, command, run, and the report of what failed.
#pragma once

#include "command.h"
#include "command_line.h"
#include "line_history.h"
#include "output_program.h"
#include "questions.h"
#include "settings.h"

#include <functional>
#include <optional>
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
    SignalRelay& signals;
    OutputStyle style;
    std::reference_wrapper<LineHistory> history;
    Settings& settings;
    const Protection& protection;
    PersistentWatches& watches;
    LockTable& locks;
    Questions& questions;
    Sandbox* sandbox = nullptr;
    JobTable* jobs = nullptr;
    std::reference_wrapper<CurrentNode> current;
    std::reference_wrapper<Transaction> transaction;
    bool background = false;  ///< ended with &
  };

  Interpreter(Surroundings surroundings, Input input, std::stop_token stop);

  /// Runs a line and returns its exit status. Errors are printed, not thrown. A blank line and a
  /// comment do nothing. Every other line gets a number in the history.
  int run_line(const std::string& line);
  /// Runs a command whose words are known already.
  int run_words(const std::vector<std::string>& words);
  /// Whether a command asked the shell to end, or a signal did that a program got in its place.
  bool quit() const { return quit_ || ended_by_; }
  /// The signal that a program was given in the place of zksh, which is to end after it. Only
  /// where lines are not typed at a terminal.
  std::optional<int> ended_by() const { return ended_by_; }

 private:
  /// A line's words; `quoted`: the texts of those that were in quotes.
  struct Words {
    std::vector<std::string> texts;
    std::vector<std::string> quoted{};
  };
  static Words words_of(std::vector<Word> split);

  int execute_line(const std::string& line);
  int execute(const Words& given);
  int execute_into(const RedirectTo& to, const Words& words);
  int execute_inside(const Words& words, const std::stop_token& stop, Redirection to);
  int execute_with_pager(const std::string& pager, const Words& words);
  OutputProgram::Plan program_plan(const std::string& line) const;
  std::optional<std::string> pager_for(const Command& command,
                                       const std::vector<std::string>& words) const;
  int run_command(const Command& command, const Words& given);
  std::optional<int> collect(const Command& command, Context& cx);
  void remember(const std::string& line);
  int timed(const std::function<int()>& body);
  void refuse_writes(const Command& command) const;
  int finish(int result);
  void settle_watches();
  int unknown_command(const std::string& typed);
  int not_connected();

  Surroundings around_;
  Input input_;
  std::stop_token stop_;
  Output out_;
  bool quit_ = false;
  std::optional<int> ended_by_;
};

}  // namespace zksh
