// CarriedOutput: what programs would print onto a terminal where a line is typed, carried there.
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

/// Reads what such programs write, and hands it on in whole lines. What is left of a program may
/// write on after its end. Members may be called from any thread, but not under the Monitor.
class CarriedOutput {
 public:
  /// `target`: STDOUT_FILENO or STDERR_FILENO. Called on a thread of its own. May block, until the
  /// stop at the latest; must not throw.
  using Take = std::function<void(int target, std::string_view lines, const std::stop_token& stop)>;

  CarriedOutput(Monitor& monitor, Take take);
  CarriedOutput(const CarriedOutput&) = delete;
  CarriedOutput& operator=(const CarriedOutput&) = delete;
  ~CarriedOutput();

  /// Of a program that is to be started: its output and errors, as far as they would go to zksh's
  /// own terminal, come here. What is returned is to be kept until it runs. Throws
  /// std::system_error.
  std::vector<Fd> redirect(Program& program);
  /// Hands on what has been written until now, and reads no more.
  void close();

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
  Guarded<std::vector<Source>> added_;  ///< that the thread has not taken yet
  std::jthread thread_;
};

}  // namespace zksh
