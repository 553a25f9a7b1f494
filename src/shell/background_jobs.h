// BackgroundJobs: lines that were ended with `&` and run while the next ones are typed.
#pragma once

#include "command/current_node.h"
#include "command/job_table.h"
#include "command/transaction.h"
#include "shell/interpreter.h"
#include "shell/job.h"

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// The line without its last word, when that is an unquoted `&` behind another word.
std::optional<std::string> background_line(const std::string& line);

/// Used on the main thread alone.
class BackgroundJobs {
 public:
  BackgroundJobs(Monitor& monitor, int wake_fd, Interpreter::Surroundings around, JobTable& table)
      : monitor_(monitor), wake_fd_(wake_fd), around_(around), table_(table) {}

  /// Starts a line, and says its number.
  void start(const std::string& line);
  /// Tells of those that have ended, and forgets them.
  void look_after();
  /// Asks all to stop; returns at once.
  void stop();
  bool empty() const { return jobs_.empty(); }
  /// "%1", "%2", …
  std::vector<std::string> names() const;

 private:
  struct Entry {
    int number;
    std::string line;
    LineHistory history;      ///< its own: what it does to it stays there
    CurrentNode current;      ///< where it was started
    Transaction transaction;  ///< its own; that of the prompt is typed line by line
    std::unique_ptr<Job> job;
  };

  void tell(int number, int result);

  Monitor& monitor_;
  int wake_fd_;
  Interpreter::Surroundings around_;
  JobTable& table_;
  std::list<Entry> jobs_;
};

}  // namespace zksh
