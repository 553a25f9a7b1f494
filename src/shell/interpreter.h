// Interpreter: runs lines: parses each, finds its command, runs it, and reports errors.
#pragma once

#include "base/error.h"
#include "base/time.h"
#include "client/diagnose_connection.h"
#include "command/command.h"
#include "command/line_history.h"
#include "command/questions.h"
#include "command/transaction.h"
#include "config/settings.h"
#include "shell/command_line.h"
#include "shell/output_program.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

class Client;
class DryRun;
class Lock;

/// Runs the lines of one source, one after another, on one thread.
class Interpreter {
 public:
  /// What lines run with; all of it must outlive the Interpreter.
  struct Surroundings {
    Services services;
    Client& client;
    OutputStyle style;
    std::reference_wrapper<LineHistory> history;
    std::reference_wrapper<CurrentNode> current;
    std::reference_wrapper<Transaction> transaction;
    bool background = false;                   ///< ended with &
    std::shared_ptr<Suspension> suspension{};  ///< Context::suspension, for the line's command
    /// The arguments of the script that is run; null: $1 and so on are plain text.
    const std::vector<std::string>* arguments = nullptr;
    /// Starts a line as a job, from this node; null where there are no jobs.
    std::function<void(const std::string& line, const CurrentNode& current)> start_in_background{};
  };

  Interpreter(Surroundings surroundings, Input input, std::stop_token stop);

  /// Runs a line and returns its exit status. Errors are printed, not thrown. Blank lines and
  /// comments do nothing; every other line gets a history number. `at_once`: it was read without
  /// waiting.
  int run_line(const std::string& line, bool at_once = false);
  /// Opens a line in the user's editor, and sets it to what was saved. Returns the exit status; a
  /// failure is printed, and leaves the line alone.
  int edit_line(std::string& line);
  /// A line whose request has been sent.
  struct Begun {
    std::unique_ptr<Context> context{};  ///< null if nothing was sent
    Sent sent{status::ok};
    std::vector<OutputQueue::Chunk> output{};  ///< what it printed so far
    bool reported = false;                     ///< its failure was reported, with its place

    bool writes() const { return context && context->given.command->writes; }
  };
  /// The first half of run_line, for commands that have halves: sends the request and returns at
  /// once. A failure is in the output, and its status in the result. nullopt: use run_line, after
  /// finishing all lines begun before. `is_kept`: in the history.
  std::optional<Begun> begin_line(const std::string& line, bool is_kept);
  /// The second half: blocks until the answer arrives; returns the exit status. What it prints
  /// comes after `output`, which the caller prints.
  int finish_line(const Begun& begun) { return finish(answer_of(begun)); }
  /// Blocks until the kernel has accepted all that was printed; if it has not, the shell must exit.
  void await_accepted();
  /// The output of all lines.
  Output& output() { return out_; }
  OutputQueue& queue() { return around_.services.queue; }
  Client& client() { return around_.client; }
  /// Runs a command that is not given as a line.
  int run_words(const std::vector<std::string>& words);
  /// Runs the lines of another command until there are no more, or no connection, with many
  /// requests in flight, and prints their results in order; reports failures. Returns the first
  /// failure's status.
  int run_lines(const NextLine& next);
  /// Whether the shell must exit, because a command asked for it, or a program got a signal in
  /// zksh's place.
  bool quit() const { return quit_ || output_refused_ || ended_by_; }
  /// Whether the lines end because nobody takes their output.
  bool output_refused() const { return output_refused_; }
  /// The signal that a program got in zksh's place, after which zksh must exit too; nullopt if
  /// lines are typed at a terminal.
  std::optional<int> ended_by() const { return ended_by_; }
  /// In a script, a lock on which its lines may rely, and which is lost (LockManager::lost); null
  /// if there is none.
  std::shared_ptr<Lock> lost_lock() const;

 private:
  int answer_of(const Begun& begun);
  int execute_line(const std::string& line);
  void begin_command(std::string_view name);
  CommandLine parsed(const std::string& line) const;
  Invocation invocation_of(const std::vector<std::string>& words,
                           const std::vector<bool>& quoted = {}) const;
  Invocation invocation_of(const std::vector<Word>& words) const;
  void explain_literal(const std::string& line, const std::vector<Word>& words);
  int explain_error(const Invocation& given, const Error& caught);
  bool report_usage_as_zkcli(const Invocation& given, const UsageError& error);
  Context context_for(Invocation given, DryRun* dry_run);
  bool has_halves(const Invocation& given) const;
  int execute(const Invocation& given);
  int execute_redirected(const CommandLine& line, const Invocation& given);
  int execute_into(const CommandLine& line, const Invocation& given, Redirection redirection);
  int execute_inside(const Invocation& given, const std::stop_token& stop, Redirection to);
  int execute_with_pager(const std::string& pager, const Invocation& given);
  OutputProgram::Plan program_plan(const std::string& line) const;
  std::optional<std::string> pager_for(const Invocation& given) const;
  int run_command(const Invocation& given);
  std::optional<int> collect(Context& cx);
  void collect_read(const Context& cx);
  int read_at_once(const std::vector<Invocation>& reads);
  Interpreter inside(Client& client) const;
  void remember(const std::string& line);
  std::optional<std::string> job_of(const std::string& line) const;
  std::optional<Clock::time_point> timed_since() const;
  void print_time(std::optional<Clock::time_point> begin);
  void refuse(const Command& command) const;
  int finish(int result);
  /// With --pipe, errors name their line, unlike zkCli's.
  bool speaks_as_zkcli() const {
    return input_ == Input::Pipe && (out_.place().line == 0 || !out_.place().in_text);
  }
  /// Whether there is a session that could answer, connected or not.
  bool has_session() const;
  /// Whether zksh runs in the place of zkCli.
  bool is_drop_in() const { return around_.services.settings.drop_in; }
  bool refuse_as_zkcli(const Invocation& given);
  int unknown_command(const Invocation& given);
  int not_connected();

  Surroundings around_;
  Input input_;
  std::stop_token stop_;
  Output out_;
  MissingChroot missing_chroot_;
  bool quit_ = false;
  bool output_refused_ = false;
  bool literal_explained_ = false;
  /// In zkCli's place: no command has reported yet that a credential was refused. zkCli waits
  /// neither for the answer to addauth nor for the login before its first command, so lines that it
  /// reads before that are still sent, and refused too.
  bool refusal_untold_ = true;
  bool unaware_ = false;  ///< the current line is one of those
  std::optional<int> ended_by_;
};

}  // namespace zksh
