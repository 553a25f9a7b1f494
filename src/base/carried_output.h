// CarriedOutput: passes on the output of programs that run while a line is being edited.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "base/process.h"

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace zksh {

/// Reads the output of such programs, including what their descendants write after they have ended,
/// and passes it on in whole lines. Members may be called from any thread, but not under the
/// Monitor.
class CarriedOutput {
 public:
  /// `target` is STDOUT_FILENO or STDERR_FILENO. Called on a thread of its own. May block, but must
  /// return after a stop; must not throw.
  using Take = std::function<void(int target, std::string_view lines, const std::stop_token& stop)>;

  CarriedOutput(Monitor& monitor, Take take);
  CarriedOutput(const CarriedOutput&) = delete;
  CarriedOutput& operator=(const CarriedOutput&) = delete;

  /// Redirects the standard output and error of a program that is about to start, if they would go
  /// to zksh's terminal. Keep the returned descriptors open until the program runs. Throws
  /// std::system_error.
  std::vector<Fd> redirect(Program& program);
  /// Passes on what has been written so far, and stops reading; so does the destructor.
  void close() { thread_ = {}; }

 private:
  struct Source {
    int target = -1;
    Fd fd{};
    std::string unfinished{};
  };

  void serve(const std::stop_token& stop);
  bool read_from(Source& source, const std::stop_token& stop);

  Monitor& monitor_;
  Take take_;
  Fd wake_;
  Guarded<std::vector<Source>> added_;  ///< not yet taken by the thread
  std::jthread thread_;
};

}  // namespace zksh
