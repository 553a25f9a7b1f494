// TerminalProgram: runs a program that has the terminal for itself, such as an editor.
#include "command/terminal_program.h"

#include "base/fd.h"
#include "base/process.h"
#include "base/program_terminal.h"
#include "base/signal_relay.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;

/// For the command's thread: the kernel's death signal goes by the thread.
class OnTerminal {
 public:
  explicit OnTerminal(Context& cx) : cx_(cx), terminal_(!cx.background) {}

  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() { cx_.out.hold_back({}); }

  int run(const std::vector<std::string>& words) {
    start(words);
    const int result = supervise();
    give_back(result > status::signal_base);
    return result;
  }

 private:
  void start(const std::vector<std::string>& words) {
    Program program{.words = words,
                    .group = Program::Group::Own,
                    .terminal = terminal_.to_lend(),
                    .death_signal = SIGTERM};
    Fd empty;
    if (cx_.input == Input::Pipe) {
      empty = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      program.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
    }
    cx_.out.await_printed();
    process_.emplace(cx_.client.monitor(), program);
    if (program.terminal >= 0) {
      terminal_.was_lent(process_->pid());
      hold_back();
    }
    registration_.emplace(cx_.signals, [this](const Monitor::Held& held, int signal) {
      if (process_->status(held)) return false;
      process_->signal(signal);
      if (process_->stopped(held)) process_->signal(SIGCONT);
      return true;
    });
  }

  int supervise() {
    auto& monitor = cx_.client.monitor();
    for (;;) {
      const bool news = monitor.wait(cx_.stop, [&](const Monitor::Held& held) {
        return process_->status(held) || is_stopped_by_terminal(held);
      });
      if (!news) end();
      if (const auto ended = process_->status()) return *ended;
      follow_stop();
    }
  }

  bool is_stopped_by_terminal(const Monitor::Held& held) const {
    const int signal = process_->stop_signal(held);
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
  }

  /// As the program did, zksh stops, and its shell has the terminal meanwhile. One that waits for
  /// the terminal gets it, or comes to an end.
  void follow_stop() {
    const bool wants = stop_signal() != SIGTSTP;
    bool lent = wants && terminal_.lend(process_->pid());
    if (!lent) {
      give_back(true);
      const bool stopped = ProgramTerminal::stop_group();
      lent = terminal_.lend(process_->pid());
      if (wants && !stopped && !lent) process_->signal(SIGKILL);
    }
    if (lent) hold_back();
    process_->signal(SIGCONT);
    // Else the stop would be seen a second time.
    cx_.client.monitor().wait_until(cx_.stop, Clock::now() + 1s, [&](const Monitor::Held& held) {
      return !process_->stopped(held) || process_->status(held);
    });
  }

  int stop_signal() const {
    return cx_.client.monitor().with_lock(
        [&](const Monitor::Held& held) { return process_->stop_signal(held); });
  }

  /// A line of ours would spoil the program's picture.
  void hold_back() {
    cx_.out.hold_back([] { return true; });
  }

  void give_back(bool with_modes) {
    terminal_.take_back();
    if (with_modes) terminal_.restore_modes();
    cx_.out.hold_back({});
  }

  [[noreturn]] void end() {
    process_->signal(SIGTERM);
    process_->signal(SIGCONT);
    cx_.client.monitor().wait_until({}, Clock::now() + patience, [&](const Monitor::Held& held) {
      return process_->status(held).has_value();
    });
    process_->signal(SIGKILL);
    process_->wait();
    give_back(true);
    throw Cancelled();
  }

  Context& cx_;
  ProgramTerminal terminal_;
  std::optional<Process> process_;
  std::optional<SignalRelay::Registration> registration_;
};

}  // namespace

int run_on_terminal(Context& cx, const std::vector<std::string>& words) {
  return OnTerminal(cx).run(words);
}

}  // namespace zksh
