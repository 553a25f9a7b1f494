// TerminalProgram: runs a program on zksh's terminal, such as an editor, to its end.
#include "command/terminal_program.h"

#include "base/error.h"
#include "base/fd.h"
#include "command/questions.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace zksh {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 2s;

}  // namespace

int TerminalProgram::run(const std::vector<std::string>& words) {
  start(words);
  const int result = supervise();
  give_back(result > status::signal_base);
  return result;
}

void TerminalProgram::start(const std::vector<std::string>& words) {
  Program program{.words = words,
                  .group = Program::Group::Own,
                  .terminal = terminal_.to_lend(),
                  .death_signal = SIGTERM};
  Fd empty;
  // Without a terminal an editor would wait for keys that nobody can press.
  if (around_.empty_input || !Questions::possible()) {
    empty = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    program.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
  }
  around_.out.await_printed();
  process_.emplace(around_.monitor, program);
  if (program.terminal >= 0) {
    terminal_.was_lent(process_->pid());
    hold_back();
  }
  registration_.emplace(around_.signals, [this](const Monitor::Held& held, int signal) {
    if (process_->status(held)) return false;
    process_->signal(signal);
    if (process_->stopped(held)) process_->signal(SIGCONT);
    return true;
  });
}

int TerminalProgram::supervise() {
  for (;;) {
    const bool news = around_.monitor.wait(around_.stop, [&](const Monitor::Held& held) {
      return process_->status(held) || is_stopped_by_terminal(held);
    });
    if (!news) end();
    if (const auto ended = process_->status()) return *ended;
    follow_stop();
  }
}

bool TerminalProgram::is_stopped_by_terminal(const Monitor::Held& held) const {
  const int signal = process_->stop_signal(held);
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

void TerminalProgram::follow_stop() {
  const int signal = around_.monitor.with_lock(
      [&](const Monitor::Held& held) { return process_->stop_signal(held); });
  const auto followed =
      terminal_.follow_stop(process_->pid(), signal, [this] { around_.out.hold_back({}); });
  if (followed == ProgramTerminal::Followed::StaysStopped)
    process_->signal(SIGKILL);  // it would wait forever
  if (terminal_.lent()) hold_back();
  process_->signal(SIGCONT);
  // Otherwise the stop would be handled twice.
  around_.monitor.wait_until(around_.stop, Clock::now() + 1s, [&](const Monitor::Held& held) {
    return !process_->stopped(held) || process_->status(held);
  });
}

/// Output from zksh would spoil the program's screen.
void TerminalProgram::hold_back() {
  around_.out.hold_back([] { return true; });
}

void TerminalProgram::give_back(bool with_modes) {
  terminal_.take_back();
  if (with_modes) terminal_.restore_modes();
  around_.out.hold_back({});
}

void TerminalProgram::end() {
  process_->signal(SIGTERM);
  process_->signal(SIGCONT);
  around_.monitor.wait_until({}, Clock::now() + patience, [&](const Monitor::Held& held) {
    return process_->status(held).has_value();
  });
  process_->signal(SIGKILL);
  process_->wait();
  give_back(true);
  throw Cancelled();
}

}  // namespace zksh
