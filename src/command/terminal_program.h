// TerminalProgram: runs a program on zksh's terminal, such as an editor, to its end.
#pragma once

#include "base/monitor.h"
#include "base/process.h"
#include "base/program_terminal.h"
#include "base/signal_relay.h"
#include "command/output.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// Runs a program in its own process group with zksh's standard streams and, if zksh has it, the
/// terminal; but with an empty input if zksh's own commands come from standard input.
///
/// Signals that would end zksh go to the program instead. If the terminal stops the program
/// (Ctrl-Z), zksh stops too, and both continue together. A stop of the command ends the program
/// with SIGTERM, and SIGKILL after two seconds; SIGKILL to zksh sends it SIGTERM. zksh always gets
/// the terminal back, with its previous modes.
///
/// Used on the command's thread, since the kernel's death signal depends on the thread.
class TerminalProgram {
 public:
  /// What it runs with.
  struct Surroundings {
    Monitor& monitor;
    SignalRelay& signals;
    Output& out;  ///< held back meanwhile
    std::stop_token stop;
    bool background = false;   ///< of the command that runs it
    bool empty_input = false;  ///< standard input has zksh's commands
  };

  explicit TerminalProgram(Surroundings around)
      : around_(std::move(around)), terminal_(!around_.background) {}
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;
  ~TerminalProgram() { around_.out.hold_back({}); }

  /// Returns the program's exit status (128 + n: ended by signal n). Blocks until it has ended.
  /// Throws Cancelled after a stop, and Error with status 126 or 127 if the program cannot be
  /// executed.
  int run(const std::vector<std::string>& words);

 private:
  void start(const std::vector<std::string>& words);
  int supervise();
  bool is_stopped_by_terminal(const Monitor::Held& held) const;
  void follow_stop();
  void hold_back();
  void give_back(bool with_modes);
  [[noreturn]] void end();

  Surroundings around_;
  ProgramTerminal terminal_;
  std::optional<Process> process_;
  std::optional<SignalRelay::Registration> registration_;
};

}  // namespace zksh
