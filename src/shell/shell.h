// Shell: the interactive zksh.
#pragma once

#include "command/current_node.h"
#include "command/job_table.h"
#include "command/transaction.h"
#include "shell/interpreter.h"
#include "shell/loop.h"
#include "shell/node_cache.h"
#include "shell/printer.h"
#include "shell/wait_notice.h"
#include "term/history_file.h"
#include "term/line_editor.h"
#include "term/terminal.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Used on the main thread alone, except request.
class BackgroundJobs {
 public:
  BackgroundJobs(Monitor& monitor, int wake_fd, Interpreter::Surroundings around, JobTable& table);

  /// Leaves a line, and the node that its relative paths start from, to start_requested. From any
  /// thread.
  void request(const std::string& line, const CurrentNode& current);
  /// Starts the lines that were requested, and prints their numbers.
  void start_requested();
  /// Takes over a line that was started in the foreground; prints and returns its number.
  int adopt(std::unique_ptr<Job> job, const std::string& line);
  /// Reports and removes jobs that have ended.
  void report_ended();
  /// Asks all jobs to stop; returns at once.
  void stop();
  bool empty() const { return jobs_.empty(); }
  /// "%1", "%2", …
  std::vector<std::string> names() const;

 private:
  struct Entry {
    int number;
    std::string line;
    LineHistory history;      ///< its own, empty
    CurrentNode current;      ///< a copy from when it was started
    Transaction transaction;  ///< its own, not the prompt's
    std::unique_ptr<Job> job{};
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_stop{};
  };

  struct Request {
    std::string line;
    CurrentNode current;
  };

  void start(const Request& request);
  Entry& enter(const std::string& line, const CurrentNode& current);
  void attach(Entry& entry, std::unique_ptr<Job> job);
  void report(int number, int result);

  Monitor& monitor_;
  int wake_fd_;
  Interpreter::Surroundings around_;
  JobTable& table_;
  std::list<Entry> jobs_;
  Guarded<std::vector<std::unique_ptr<const Request>>> requests_;
};

/// Used on the main thread alone.
class Shell {
 public:
  Shell(Loop& loop, Monitor& monitor, Printer& printer, WaitNotice& notice,
        Interpreter::Surroundings around);
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell();

  /// Reads and runs lines until quit, Ctrl-D or a signal; returns the exit status: the last
  /// command's, or 128 + signal.
  int run();

 private:
  void accept(const std::optional<std::string>& line);
  bool may_decorate() const;
  /// Whether zksh runs in the place of zkCli.
  bool is_drop_in() const { return around_.services.settings.drop_in; }
  bool may_leave();
  Completion complete(const CompletionRequest& request);
  void edit(const std::string& line);
  void take_edited(std::string text, int result);
  void launch(const std::string& line, std::function<int(Interpreter&)> body);
  void start_next();
  void handle_jobs();
  void interrupt();
  void end(int signal);
  void leave(int signal);
  void lose_output(int error);
  void suspend();
  void move_to_background();
  void drop_lines();
  void warn_before_stop();
  void drop_transaction();
  void keep_connected();
  std::string prompt() const;
  bool drained();
  bool is_at_row_begin();
  bool awaits_first_prompt();

  Loop& loop_;
  Monitor& monitor_;
  Printer& printer_;
  WaitNotice& notice_;
  Interpreter::Surroundings around_;
  Terminal terminal_;
  HistoryFile history_file_;
  LineEditor editor_;
  NodeCache nodes_;
  JobTable jobs_;
  BackgroundJobs background_;
  std::deque<std::string> lines_;               ///< of the accepted text, not run yet
  std::unique_ptr<Job> command_;                ///< the foreground command
  std::string command_line_;                    ///< its line
  std::optional<std::uint64_t> output_at_end_;  ///< OutputQueue::added when it ended
  std::shared_ptr<std::string> edited_;         ///< a line that is in an editor
  std::unique_ptr<Job> connector_;              ///< opens a new session in the background
  std::string connector_problem_;               ///< written by the connector, read after its end
  bool problem_reported_ = false;           ///< by a command that waited for the same connection
  std::vector<std::string> others_lines_;   ///< from other shells; accessed like quit_
  std::shared_ptr<Suspension> suspension_;  ///< of the foreground command
  std::shared_ptr<std::atomic<int>> job_number_;  ///< its, once it is a job
  std::shared_ptr<bool> quit_;  ///< written by the command's thread, read after its end
  bool leaving_ = false;
  int accepted_ = 0;        ///< number of lines
  int leave_refused_ = -1;  ///< accepted_ at the last warning about what ends with the shell
  int interrupts_ = 0;      ///< since the command was started
  std::optional<Clock::time_point> first_prompt_by_{};  ///< until the first prompt
  std::size_t programs_started_ = 0;                    ///< Process::started at the last prompt
  int status_ = 0;
};

}  // namespace zksh
