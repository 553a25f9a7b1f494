// JobTable: the lines that run in the background, for the commands that look after them.
#pragma once

#include "base/monitor.h"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// All members may be called from any thread, and none under the monitor.
class JobTable {
 public:
  struct Job {
    int number = 0;
    std::string line{};  ///< without the & at its end; secrets are masked
    Clock::time_point started{};
    std::stop_source stop{};
    bool killed = false;   ///< it was asked to end
    bool awaited = false;  ///< a command waits for it, and tells of its end
    std::optional<int> status{};
  };

  explicit JobTable(Monitor& monitor) : monitor_(monitor) {}

  /// Of a job that starts now: one more than the highest number in use.
  Job add(const std::string& line);
  void end(int number, int status);
  /// Nothing when there is none of that number.
  std::optional<Job> find(int number) const;
  std::vector<Job> all() const;
  void remove(int number);
  /// Asks a job to end; returns at once. False: there is none of that number.
  bool kill(int number);
  /// Blocks until a job has ended, and returns its status; nothing after a stop. A job that is gone
  /// already has ended well.
  std::optional<int> wait(int number, const std::stop_token& stop);

 private:
  Monitor& monitor_;
  Guarded<std::map<int, Job>> jobs_;
};

}  // namespace zksh
