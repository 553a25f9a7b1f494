// JobTable: the background jobs, and the one that an argument names.
#pragma once

#include "base/monitor.h"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

struct Context;

/// Members may be called from any thread, but not under the monitor.
class JobTable {
 public:
  struct Job {
    int number = 0;
    std::string line{};  ///< without the final &; secrets are masked
    Clock::time_point started{};
    std::stop_source stop{};
    bool killed = false;   ///< was asked to end
    bool awaited = false;  ///< a command waits for it and will report its end
    std::optional<int> status{};
  };

  explicit JobTable(Monitor& monitor) : monitor_(monitor) {}

  /// Adds a job that starts now. Its number is one more than the highest in use.
  Job add(const std::string& line);
  void note_end(int number, int status);
  /// nullopt if there is no such job.
  std::optional<Job> find(int number);
  std::vector<Job> all() const;
  void remove(int number);
  /// Asks a job to end, if it is there; returns at once.
  void kill(int number);
  /// The shell no longer reports the job's end. Call `wait` or `stop_waiting` afterwards.
  void begin_waiting(int number);
  /// Stops waiting for the job, so that its end is reported again. Returns its status if it has
  /// already ended.
  std::optional<int> stop_waiting(int number);
  /// Blocks until the job, for which begin_waiting was called, has ended, and returns its status;
  /// nullopt after a stop. A job that is no longer in the table counts as successful.
  std::optional<int> wait(int number, const std::stop_token& stop);
  /// Asks all jobs to end, and blocks until the shell has reported their ends, or until `deadline`,
  /// or a stop.
  void end_all(Clock::time_point deadline, const std::stop_token& stop);

 private:
  /// Null if there is no such job.
  Job* job(const Monitor::Held& held, int number);

  Monitor& monitor_;
  Guarded<std::map<int, Job>> jobs_;
};

/// The shell's jobs. Throws ValueError in a script, which has none.
JobTable& jobs_of(const Context& cx);
/// The job named by `%N` or `N`. Without a word, the newest job, or with `only`, the only one.
/// Throws ValueError if there is no such job, or more than one.
JobTable::Job job_of(const Context& cx, const std::optional<std::string>& word, bool only);

}  // namespace zksh
