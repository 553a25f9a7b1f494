// LossCommand: what --on-lost runs when a lock is lost.
#pragma once

#include "base/carried_output.h"
#include "base/monitor.h"
#include "base/process.h"

#include <functional>
#include <string>
#include <thread>

namespace zksh {

/// Runs a command once, on a thread of its own, so that nobody who has to end a program in time is
/// kept from it. The command is no part of that program. What is left of it after 10 s is killed.
/// Members may be called from any thread, but not under the Monitor.
class LossCommand {
 public:
  /// `output`: takes what it prints, and outlives it; null: it prints itself.
  LossCommand(Monitor& monitor, CarriedOutput* output) : monitor_(monitor), output_(output) {}
  LossCommand(const LossCommand&) = delete;
  LossCommand& operator=(const LossCommand&) = delete;
  /// Blocks until the command has ended.
  ~LossCommand();

  /// Returns at once; the first call counts. `say` is told what went wrong, from any thread. The
  /// program gets an empty input, and a process group of its own.
  void start(Program program, const std::function<void(const std::string& line)>& say);
  bool running(const Monitor::Held& held) const { return running_(held); }

 private:
  void run(Program program);

  Monitor& monitor_;
  CarriedOutput* output_;
  Guarded<bool> started_;
  Guarded<bool> running_;
  std::thread thread_;
};

}  // namespace zksh
