// LockProgram: starting a program under a lock, watching over both, and the end of both.
#include "lock/lock_program.h"

#include "base/escape.h"
#include "base/id_text.h"
#include "base/process.h"
#include "base/process_table.h"
#include "base/program_terminal.h"
#include "base/signal_relay.h"
#include "client/node_path.h"
#include "lock/held_lock.h"
#include "lock/lock_text.h"
#include "lock/lock_watchdog.h"
#include "lock/token_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using Step = LockDeadlines::Step;

std::vector<std::string> words_of(const LockProgram& program) {
  if (!program.words.empty()) return program.words;
  const char* const shell = std::getenv("SHELL");
  return {shell && *shell ? shell : "/bin/sh", "-c", program.shell_text};
}

/// The same moment on the clock of waits; later by what the machine sleeps meanwhile.
Clock::time_point wait_until(BootClock::time_point time) {
  if (time == BootClock::time_point::max()) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(time - BootClock::now());
}

/// One program under one lock; for the command's thread, which must outlive the program: the
/// kernel's death signal goes by the thread.
class LockedProgram {
 public:
  LockedProgram(Context& cx, LockTable& table, Lock& lock, const LockProgram& program)
      : cx_(cx),
        table_(table),
        lock_(lock),
        program_(program),
        timeout_(cx.client.negotiated_timeout()),
        deadlines_(program.on_lost, timeout_, program.grace),
        terminal_(!cx.background) {}

  int run() {
    HeldLock held(table_, lock_);
    await_printed();
    OccupiedLock occupied(lock_);
    if (!occupied) {
      held.give_back();
      return given_back(status::signal_base + SIGTERM);
    }
    if (!program_.token_file.empty())
      write_token_file(program_.token_file, tokens_text(lock_.status().holding));
    start();
    const bool had_terminal = terminal_.lent();
    const int result = supervise();
    end_group();
    watchdog_->dismiss();  // it ends while the lock is released
    terminal_.take_back();
    if (result > status::signal_base) terminal_.restore_modes();
    // The terminal has shown ^C, and the cursor stands behind it.
    if (had_terminal && result == status::signal_base + SIGINT && cx_.out.style().err_is_terminal)
      cx_.out.err_line("");
    for (const auto& line : std::exchange(unsaid_, {})) table_.say(line);
    await_verdict();
    occupied.vacate();
    held.give_back();
    // Ctrl-C reached the program alone: whoever runs zksh is to hear of it, as if it had not been
    // lent the terminal, or a loop in a script would go on.
    const bool in_script = cx_.input == Input::Arguments || cx_.input == Input::Text;
    if (had_terminal && in_script && result == status::signal_base + SIGINT) kill(0, SIGINT);
    return given_back(result);
  }

 private:
  /// What zksh has said comes before what the program says. Where nobody reads, others that want
  /// the lock are not made to wait for that.
  void await_printed() const {
    if (!cx_.background) cx_.out.await_printed(Clock::now() + 1s);
  }

  /// All that decides what is to be done; a change of it wakes this thread.
  struct View {
    std::optional<int> ended;
    int stop_signal = 0;
    BootClock::time_point safe_until;
    bool lost = false;
    bool revoked = false;
    bool unwanted = false;

    bool operator==(const View&) const = default;
  };

  View view(const Monitor::Held& held) const {
    const auto& status = lock_.status(held);
    return {.ended = process_->status(held),
            .stop_signal = process_->stop_signal(held),
            .safe_until = status.safe_until,
            .lost = status.end == LockEnd::Lost,
            .revoked = status.revoked && lock_.plan().on_revoke == OnRevoke::Release,
            .unwanted = status.unwanted};
  }
  View view() const {
    return cx_.client.monitor().look([&](const Monitor::Held& held) { return view(held); });
  }

  std::vector<std::pair<std::string, std::string>> environment() const {
    const auto holding = lock_.status().holding;
    const auto& plan = lock_.plan();
    auto nodes = holding.nodes.front();
    // One for each path, which may have more (--compat all).
    for (std::size_t i = 1; i < holding.nodes.size() && plan.paths.size() > 1; ++i)
      if (parent_path(holding.nodes[i]) != parent_path(holding.nodes[i - 1]))
        nodes += " " + holding.nodes[i];
    return {{"ZKSH_LOCK_PATH", lock_.name()},
            {"ZKSH_LOCK_NODE", nodes},
            {"ZKSH_LOCK_TOKEN", tokens_text(holding)},
            {"ZKSH_LOCK_MODE", plan.kind.substr(0, plan.kind.find(' '))},
            {"ZKSH_LOCK_SESSION", session_text(holding.session)},
            {"ZKSH_LOCK_DEADLINE_MS", std::to_string((timeout_ - deadlines_.margin()).count())}};
  }

  void start() {
    if (program_.grace && *program_.grace > deadlines_.grace())
      say(fmt::format("warning: --grace is cut down to {} ms, half of the session timeout",
                      deadlines_.grace().count()));
    watchdog_.emplace(deadlines_.grace());
    wind_up(lock_.status().safe_until);
    Program program{.words = words_of(program_),
                    .environment = environment(),
                    .group = Program::Group::Own,
                    .terminal = terminal_.to_lend(),
                    .death_signal = SIGTERM,
                    .last_act = [this] { watchdog_->adopt(getpid()); }};
    Fd empty;
    if (cx_.background || cx_.input == Input::Pipe) {
      empty = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      program.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
    }
    if (const int fd = cx_.out.descriptor(); fd >= 0)
      program.redirections.push_back({.target = STDOUT_FILENO, .source = fd});
    // From here on a signal is the program's: one that comes before it can be passed on is kept.
    registration_.emplace(cx_.signals, [this](const Monitor::Held& held, int signal) {
      return !cx_.background && pass_on(held, signal);
    });
    process_.emplace(cx_.client.monitor(), program);
    if (program.terminal >= 0) terminal_.was_lent(process_->pid());
    cx_.client.monitor().look([&](const Monitor::Held& held) {
      started_(held) = true;
      for (const int signal : early_(held)) pass_on(held, signal);
    });
  }

  /// Between our own last moment and the end of what is safe.
  void wind_up(BootClock::time_point safe_until) const {
    if (program_.on_lost != OnLost::Warn) watchdog_->kill_at(safe_until - deadlines_.margin() / 2);
  }

  /// Under the monitor.
  bool pass_on(const Monitor::Held& held, int signal) {
    if (!started_(held)) {
      early_(held).push_back(signal);
      return true;
    }
    if (process_->status(held)) return false;
    const bool ends = signal != SIGUSR1 && signal != SIGUSR2;
    const bool insists = signal == SIGTERM && std::exchange(terminated_, true);
    process_->signal(insists ? SIGKILL : signal);
    if (ends && process_->stopped(held)) process_->signal(SIGCONT);
    if (ends) end_passed_on_(held) = true;
    return true;
  }

  /// Until the program has ended; its exit status.
  int supervise() {
    auto stop = cx_.stop;
    auto wound_up = lock_.status().safe_until;
    for (;;) {
      const auto now = view();
      // First of all: after a pause of the whole process it may be too late.
      const auto time = BootClock::now();
      if (now.lost) lose(time);
      if (now.revoked || now.unwanted) deadlines_.ask(time);
      if (stop.stop_requested()) {
        deadlines_.ask(time);
        stop = {};
      }
      if (now.ended) return ended(now, *now.ended, time);
      act(deadlines_.step(time, now.safe_until), now);
      if (now.safe_until != std::exchange(wound_up, now.safe_until)) wind_up(now.safe_until);
      // One that was killed is still seen as stopped for a moment.
      const bool stopped = now.stop_signal != 0 && !deadlines_.killed();
      if (stopped && mind_stop(now.stop_signal)) continue;
      cx_.client.monitor().wait_until(stop, wait_until(deadlines_.next(now.safe_until)),
                                      [&](const Monitor::Held& held) { return view(held) != now; });
    }
  }

  void lose(BootClock::time_point time) {
    deadlines_.lose(time);
    if (program_.on_lost == OnLost::Warn && !std::exchange(warned_, true))
      say(fmt::format("{}: the lock is lost; {} runs on (--on-lost warn)", lock_.name(), who()));
  }

  int ended(const View& now, int result, BootClock::time_point time) {
    // The watchdog was there first.
    if (result == status::signal_base + SIGKILL) deadlines_.step(time, now.safe_until);
    return result;
  }

  void act(Step step, const View& now) {
    if (step == Step::None) return;
    if (step == Step::Spare) {
      say(fmt::format("{}: a server answers again, but {} was told to end", lock_.name(), who()));
      return;
    }
    process_->signal(step == Step::Kill ? SIGKILL : SIGTERM);
    // A stopped one cannot end.
    if (step == Step::Terminate && now.stop_signal != 0) process_->signal(SIGCONT);
    std::string why = now.revoked      ? "somebody wants the lock"
                      : now.unwanted   ? "the lock is to be given back"
                      : cx_.background ? "the job is to end"
                                       : "zksh is to end";
    const auto silence = timeout_ - (now.safe_until - BootClock::now());
    if (is_doubtful(now.safe_until))
      why = fmt::format("no server has answered for {:.1f} s",
                        std::chrono::duration<double>(silence).count());
    if (now.lost) why = "the lock is lost";
    say(fmt::format("{}: {}: {} to {}", lock_.name(), why,
                    step == Step::Kill ? "SIGKILL" : "SIGTERM", who()));
  }

  /// No server has answered for so long that the lock may be lost soon.
  bool is_doubtful(BootClock::time_point safe_until) const {
    return BootClock::now() >= safe_until - deadlines_.margin() - deadlines_.grace();
  }

  /// A program that waits for the terminal, or was stopped at it: lends the terminal, or stops as
  /// it did. True: time has passed.
  bool mind_stop(int signal) {
    const bool wants = signal == SIGTTIN || signal == SIGTTOU;
    if (!wants && signal != SIGTSTP) return false;  // somebody has paused it: that is no end
    if (wants && terminal_.lend(process_->pid())) {
      process_->signal(SIGCONT);
      return false;
    }
    terminal_.take_back();
    terminal_.restore_modes();
    warn_of_stop();
    const bool stopped = ProgramTerminal::stop_group();
    if (!stopped && wants) return false;  // nobody will ever give it one
    const auto now = view();
    const auto step = deadlines_.step(BootClock::now(), now.safe_until);
    if (step == Step::Kill) {
      act(step, now);
      return true;
    }
    terminal_.lend(process_->pid());
    process_->signal(SIGCONT);
    act(step, now);
    await_continued();
    return true;
  }

  /// Nothing keeps the session alive then.
  void warn_of_stop() {
    const auto warning = ProgramTerminal::is_job() ? table_.stop_warning() : "";
    if (warning.empty()) return;
    // Behind the ^Z that the terminal has shown.
    const auto* const gap = cx_.out.style().err_is_terminal ? "\n" : "";
    try {
      cx_.out.err(fmt::format("{}{}\n", gap, cx_.out.shown_in_error(warning)));
      cx_.out.await_printed(Clock::now() + 1s);
    } catch (const Cancelled&) {
      // zksh is to end: supervise sees to it once it is continued.
    }
  }

  /// Else the stop would be seen a second time.
  void await_continued() const {
    cx_.client.monitor().wait_until({}, Clock::now() + 1s, [&](const Monitor::Held& held) {
      return !process_->stopped(held) || process_->status(held);
    });
  }

  /// What a program leaves behind that was made to end ends too.
  void end_group() {
    auto& monitor = cx_.client.monitor();
    if (!deadlines_.ended() &&
        !monitor.look([&](const Monitor::Held& held) { return end_passed_on_(held); }))
      return;
    const auto patience = BootClock::now() + deadlines_.grace();
    while (!group_members(process_->pid()).empty()) {
      const auto killed = std::min(patience, deadlines_.next(lock_.status().safe_until));
      if (BootClock::now() >= killed) process_->signal(SIGKILL);
      monitor.wait_until({}, Clock::now() + 10ms, [](const Monitor::Held&) { return false; });
    }
  }

  /// For a program that was ended because no server answered: until one does, or the lock is lost.
  void await_verdict() const {
    const auto safe_until = lock_.status().safe_until;
    if (!deadlines_.ended() || !is_doubtful(safe_until)) return;
    cx_.client.monitor().wait_until(
        {}, wait_until(safe_until) + 1s, [&](const Monitor::Held& held) {
          const auto& status = lock_.status(held);
          return status.stage == LockStage::Gone || status.safe_until != safe_until;
        });
  }

  int given_back(int result) {
    const auto now = lock_.status();
    if (now.end == LockEnd::Lost) {
      table_.forget(lock_);
      return status::lock_lost;
    }
    if (now.end == LockEnd::Released && !program_.quiet) table_.say(released_line(lock_, now));
    if (!deadlines_.killed_for_loss()) return result;
    if (now.end == LockEnd::Released)
      table_.say(lock_.name() + ": the program was killed, although the lock was held to the end");
    return status::lock_lost;
  }

  std::string who() const {
    const auto name = program_.words.empty() ? program_.shell_text : program_.words.front();
    return fmt::format("pid {} ({})", process_->pid(),
                       escape_for_terminal(name.substr(0, name.find('\n')), true));
  }

  /// At once, but not into the picture that the program draws.
  void say(const std::string& line) {
    if (terminal_.drawn_on())
      unsaid_.push_back(line);
    else
      table_.say(line);
  }

  Context& cx_;
  LockTable& table_;
  Lock& lock_;
  const LockProgram& program_;
  std::chrono::milliseconds timeout_;
  LockDeadlines deadlines_;
  ProgramTerminal terminal_;
  std::vector<std::string> unsaid_;
  std::optional<Process> process_;
  std::optional<LockWatchdog> watchdog_;  ///< goes before the process, and its number, are given up
  std::optional<SignalRelay::Registration> registration_;
  bool warned_ = false;
  // Of passing signals on:
  Guarded<bool> started_;
  Guarded<std::vector<int>> early_;  ///< that came before the program had started
  bool terminated_ = false;          ///< SIGTERM was passed on; under the monitor
  Guarded<bool> end_passed_on_;
};

}  // namespace

void check_program(const LockProgram& program) { find_program(words_of(program).front()); }

int run_under_lock(Context& cx, LockTable& table, Lock& lock, const LockProgram& program) {
  return LockedProgram(cx, table, lock, program).run();
}

}  // namespace zksh
