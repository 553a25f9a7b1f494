// Terminal program: runs a program on zksh's terminal, such as an editor, to its end.
#include "command/terminal_program.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/process.h"
#include "base/program_terminal.h"
#include "command/questions.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;

/// Output from zksh would spoil the screen of a program that has the terminal.
struct HeldBackOutput {
  Output& out;
  ~HeldBackOutput() { release(); }
  void hold_back_for(const ProgramTerminal& terminal) const {
    if (terminal.lent()) out.hold_back([] { return true; });
  }
  void release() const { out.hold_back({}); }
};

bool is_of_terminal(int stop_signal) {
  return stop_signal == SIGTSTP || stop_signal == SIGTTIN || stop_signal == SIGTTOU;
}

}  // namespace

int run_on_terminal(const TerminalSurroundings& around, const std::vector<std::string>& words) {
  ProgramTerminal terminal(true);
  Program program{.words = words,
                  .group = Program::Group::Own,
                  .terminal = terminal.to_lend(),
                  .death_signal = SIGTERM};
  Fd empty;
  // Without a terminal an editor would wait for keys that nobody can press.
  if (around.empty_input || !Questions::possible()) {
    empty = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    program.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
  }
  std::optional<Process> process;
  Guarded<bool> started;
  const SignalRelay::Registration registration(around.signals,
                                               [&](const Monitor::Held& held, int signal) {
                                                 if (!started(held) || process->status(held))
                                                   return false;
                                                 process->pass_on(held, signal);
                                                 return true;
                                               });
  around.out.await_printed();
  process.emplace(around.monitor, program);
  around.monitor.with_lock([&](const Monitor::Held& held) { started(held) = true; });
  if (program.terminal >= 0) terminal.was_lent(process->pid());
  const HeldBackOutput output{around.out};
  output.hold_back_for(terminal);
  for (;;) {
    const bool news = around.monitor.wait(around.stop, [&](const Monitor::Held& held) {
      return process->status(held) || is_of_terminal(process->stop_signal(held));
    });
    if (!news) {
      process->end(patience);
      process->signal(SIGKILL);  // to what it has left behind
      terminal.take_back(true);
      throw Cancelled();
    }
    if (const auto ended = process->status()) {
      terminal.take_back(*ended > status::signal_base);
      return *ended;
    }
    const int stop_signal = around.monitor.with_lock(
        [&](const Monitor::Held& held) { return process->stop_signal(held); });
    const auto followed =
        terminal.follow_stop(process->pid(), stop_signal, [&] { output.release(); });
    if (followed == ProgramTerminal::Followed::StaysStopped)
      process->signal(SIGKILL);  // it would wait forever
    output.hold_back_for(terminal);
    process->resume();
  }
}

}  // namespace zksh
