// Terminal program: runs a program on zksh's terminal, such as an editor, to its end.
#pragma once

#include "base/monitor.h"
#include "base/signal_relay.h"
#include "command/output.h"

#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// What a program on zksh's terminal runs with.
struct TerminalSurroundings {
  Monitor& monitor;
  SignalRelay& signals;
  Output& out;  ///< held back meanwhile
  std::stop_token stop;
  bool empty_input = false;  ///< standard input has zksh's commands
};

/// Runs a program in its own process group with zksh's standard streams and, if zksh has it, the
/// terminal; but with an empty input if zksh's own commands come from standard input. Returns its
/// exit status (128 + n: ended by signal n). Blocks until it has ended. Throws Cancelled after a
/// stop, and Error with status 126 or 127 if the program cannot be executed.
///
/// Signals that would end zksh go to the program instead. If the terminal stops the program
/// (Ctrl-Z), zksh stops too, and both continue together. A stop ends the program with SIGTERM, and
/// SIGKILL after two seconds; SIGKILL to zksh sends it SIGTERM. zksh always gets the terminal back,
/// with its previous modes.
///
/// Call it on the command's thread, since the kernel's death signal depends on the thread.
int run_on_terminal(const TerminalSurroundings& around, const std::vector<std::string>& words);

}  // namespace zksh
