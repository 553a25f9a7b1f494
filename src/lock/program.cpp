// LockProgram: runs a program under a lock, and ensures that it is dead before another can hold the
// lock.
#include "lock/program.h"

#include "base/fd.h"
#include "base/process.h"
#include "base/process_setup.h"
#include "base/process_tree.h"
#include "base/program_terminal.h"
#include "base/signal_relay.h"
#include "base/text.h"
#include "base/time.h"
#include "client/client.h"
#include "lock/hold.h"
#include "lock/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using Step = ProgramDeadlines::Step;

/// What a program under a lock was measured to need, with its session and its watchdog.
constexpr std::size_t threads_and_processes = 7;

/// How long to wait silently for processes that a program left behind.
constexpr auto patience_with_rest = 1s;

/// The program's name for messages.
std::string shown_name(const LockOptions& o) { return escape_for_terminal(program_name(o), true); }

/// Whether a signal that zksh passes on is meant to end the program.
bool ends_program(int signal) { return signal != SIGUSR1 && signal != SIGUSR2; }

/// A program under a lock. The command's thread, which uses it, must outlive the program: the
/// kernel's death signal depends on the thread.
class LockedProgram {
 public:
  LockedProgram(Context& cx, Lock& lock, LockWatchdog& watchdog)
      : cx_(cx),
        locks_(cx.services.locks),
        lock_(lock),
        o_(lock.options()),
        on_lost_(o_.on_lost.value_or(OnLost::Terminate)),
        watchdog_(watchdog),
        deadlines_(on_lost_, lock.status().lease.timeout, o_.grace),
        terminal_(!cx.background) {}

  int run(const std::function<void()>& after_success) {
    ScopedLock held(locks_, lock_);
    // zksh's output comes before the program's. If it cannot be written, others that want the lock
    // are not kept waiting for that.
    if (!cx_.background) cx_.out.await_printed(Clock::now() + 1s);
    if (!lock_.occupy() || !start()) {
      const auto told = early_end();
      if (!told)
        say(fmt::format("{}: {} was not started: the lock is lost, or somebody asked for it",
                        lock_.name(), shown_name(o_)));
      held.give_back();
      return given_back(status::signal_base + told.value_or(SIGTERM));
    }
    had_terminal_ = terminal_.lent();
    const int result = supervise();
    watchdog_.dismiss();  // it ends while the lock is released
    take_terminal_back(result);
    for (const auto& line : std::exchange(held_back_lines_, {})) locks_.say(line);
    await_verdict();
    const auto now = view();
    const bool to_end =
        asked_ || deadlines_.ended() || for_lock_ || spared_ || now.told_to_end || now.lost;
    if (result == status::ok && !to_end && after_success) after_success();
    stay();
    held.give_back();
    // Ctrl-C reached only the program. Pass it on to zksh's parent, as if the program had not
    // had the terminal: otherwise a loop in a script would continue. The status of a lost lock
    // comes first.
    const bool in_script = cx_.input == Input::Arguments || cx_.input == Input::Text;
    const bool is_lost = now.lost || for_lock_;
    if (had_terminal_ && in_script && result == status::signal_base + SIGINT && !is_lost)
      kill(0, SIGINT);
    return given_back(result);
  }

 private:
  /// Everything that decides what to do; a change wakes this thread.
  struct View {
    LockWatchdog::View program;
    BootClock::time_point safe_until;
    std::chrono::milliseconds timeout{};  ///< of the session
    bool lost = false;
    bool revoked = false;
    bool unwanted = false;
    bool told_to_end = false;
    bool insisted_on = false;  ///< SIGTERM came twice

    bool operator==(const View&) const = default;
  };

  View view(const Monitor::Held& held) const {
    const auto& status = lock_.status(held);
    return {.program = watchdog_.view(held),
            .safe_until = status.lease.end,
            .timeout = status.lease.timeout,
            .lost = status.stage == LockStatus::Stage::Lost,
            .revoked = status.revoked && o_.when_revoked() == OnRevoke::Release,
            .unwanted = status.unwanted,
            .told_to_end = told_to_end_(held),
            .insisted_on = insisted_on_(held)};
  }
  View view() const {
    return cx_.monitor().with_lock([&](const Monitor::Held& held) { return view(held); });
  }
  /// Returns false if the lock is lost or unwanted; nothing was started then.
  bool start() {
    if (!write_token_file(cx_, lock_)) return false;
    if (o_.grace && *o_.grace > deadlines_.grace())
      say(fmt::format("warning: --grace is reduced to {}, a sixth of the session timeout",
                      short_time(deadlines_.grace())));
    if (!await_safety()) return false;
    const bool lends = terminal_.to_lend() >= 0;
    auto environment = lock_.environment();
    environment.emplace_back(
        "ZKSH_LOCK_DEADLINE_MS",
        std::to_string((lock_.status().lease.timeout - deadlines_.margin()).count()));
    const auto unwanted = [this](const Monitor::Held& held) {
      // An executable on a slow file system may take longer than a lease to start.
      wind_up(lock_.status(held).lease.end);
      return !lock_.is_wanted(held);
    };
    for (;;) {
      const auto safe_until = lock_.status().lease.end;
      wind_up(safe_until);
      // From here on signals are the program's; those that come before it runs are kept.
      registration_.emplace(cx_.services.signals, [this](const Monitor::Held& held, int signal) {
        return !cx_.background && pass_on(held, signal);
      });
      // Servers may have been waited for.
      if (!cx_.background) cx_.out.await_printed(Clock::now() + 100ms);
      if (watchdog_.start({.environment = environment,
                           .has_terminal = lends,
                           .grace = deadlines_.grace(),
                           .until = safe_until - deadlines_.reserve()},
                          unwanted))
        break;
      // It was too late on a busy machine; the lock may be safe again.
      registration_.reset();
      if (early_end() || !await_safety()) return false;
    }
    if (lends) terminal_.was_lent(watchdog_.pid());
    cx_.monitor().with_lock([&](const Monitor::Held& held) {
      started_(held) = true;
      for (const int signal : early_(held)) pass_on(held, signal);
    });
    return true;
  }

  /// Blocks until no deadline can come as long as the servers answer (SessionLease), so that a
  /// program is not started only to be ended. Returns false if the lock is lost or unwanted.
  bool await_safety() const {
    auto& monitor = cx_.monitor();
    for (;;) {
      const auto seen = lock_.status().lease.end;
      const bool lasts = on_lost_ == OnLost::Warn || cx_.client.lease_lasts(deadlines_.reserve());
      const auto ends = [&](const Monitor::Held& held) {
        return lasts || lock_.status(held).lease.end != seen || !lock_.is_wanted(held);
      };
      monitor.wait(cx_.stop, ends);
      if (cx_.stop.stop_requested()) throw Cancelled();
      const bool wanted =
          monitor.with_lock([&](const Monitor::Held& held) { return lock_.is_wanted(held); });
      if (lasts || !wanted) return wanted;
    }
  }

  /// Sets the watchdog's deadline.
  void wind_up(BootClock::time_point safe_until) const {
    if (on_lost_ != OnLost::Warn) watchdog_.kill_at(deadlines_.watchdog_kills(safe_until));
  }

  /// The first signal meant to end the program that came before it ran.
  std::optional<int> early_end() const {
    return cx_.monitor().with_lock([&](const Monitor::Held& held) -> std::optional<int> {
      const auto& early = early_(held);
      const auto found = std::ranges::find_if(early, ends_program);
      return started_(held) || found == early.end() ? std::nullopt : std::optional(*found);
    });
  }

  /// Called under the monitor.
  bool pass_on(const Monitor::Held& held, int signal) {
    if (!started_(held)) {
      early_(held).push_back(signal);
      return true;
    }
    const bool ends = ends_program(signal);
    if (ends && signal == ended_by_ && Clock::now() < ended_by_at_ + one_signal) return true;
    const auto& program = watchdog_.view(held);
    if (program.gone || program.killed) return false;
    if (program.status && !ends) return false;
    if (signal == SIGTERM && std::exchange(terminated_, true)) {
      insisted_on_(held) = true;
      watchdog_.end(LockWatchdog::Ending::Kill);
    }
    if (!program.status) watchdog_.signal(signal);
    if (ends && program.stop_signal != 0) watchdog_.signal(SIGCONT);
    if (!ends) return true;
    told_to_end_(held) = true;
    ended_by_ = signal;
    ended_by_at_ = Clock::now();
    return true;
  }

  void take_terminal_back(int result) {
    if (std::exchange(terminal_is_back_, true)) return;
    terminal_.take_back(result > status::signal_base);
    // The terminal has echoed ^C, and the cursor is after it.
    if (had_terminal_ && result == status::signal_base + SIGINT && cx_.out.style().err_is_terminal)
      cx_.out.err_line("");
  }

  /// Waits until the program and its descendants have ended; returns the program's exit status.
  int supervise() {
    auto stop = cx_.stop;
    auto wound_up = lock_.status().lease.end;
    for (;;) {
      const auto now = view();
      if (now.program.killed) return watchdog_killed();
      deadlines_.set_timeout(now.timeout);
      if (now.insisted_on && !std::exchange(insistence_reported_, true))
        say(fmt::format("{}: SIGTERM came twice: SIGKILL to {}", lock_.name(), who()));
      // Checked first: if the whole process was suspended, it may be too late.
      const auto time = BootClock::now();
      if (now.lost) lose(time);
      // What a terminated program leaves behind is terminated too.
      if (now.revoked || now.unwanted || (now.told_to_end && now.program.status)) ask(time);
      if (stop.stop_requested()) {
        ask(time);
        stop = {};
      }
      if (now.program.status && may_leave(now)) return ended(now);
      act(deadlines_.step(time, now.safe_until), now);
      // A watchdog that hangs is killed, and the program dies with it.
      if (killed_at_ && Clock::now() >= *killed_at_ + patience_with_watchdog() &&
          !std::exchange(gave_up_, true))
        watchdog_.give_up();
      if (now.safe_until != std::exchange(wound_up, now.safe_until)) wind_up(now.safe_until);
      // A killed program may still look stopped for a moment.
      const bool stopped = now.program.stop_signal != 0 && !deadlines_.killed();
      if (stopped && handle_stop(now.program.stop_signal)) continue;
      watchdog_.maintain();
      cx_.monitor().wait_until(stop, next_look(now),
                               [&](const Monitor::Held& held) { return view(held) != now; });
    }
  }

  /// Whether nothing needs the lock any more.
  bool may_leave(const View& now) {
    if (now.program.gone) return true;
    if (!ended_at_) {
      ended_at_ = Clock::now();
      take_terminal_back(*now.program.status);
    }
    const bool is_to_end = asked_ || deadlines_.ended() || (now.lost && on_lost_ != OnLost::Warn);
    if (o_.release_early && !is_to_end) return true;
    if (now.program.left > 0 && Clock::now() >= *ended_at_ + patience_with_rest &&
        !std::exchange(rest_reported_, true))
      say(fmt::format("{}: waiting for {} process{} left behind by {} (see --release-early)",
                      lock_.name(), now.program.left, now.program.left == 1 ? "" : "es",
                      shown_name(o_)));
    return false;
  }

  Clock::time_point next_look(const View& now) const {
    auto next = wait_until(deadlines_.next(now.safe_until));
    if (ended_at_ && !rest_reported_) next = std::min(next, *ended_at_ + patience_with_rest);
    if (killed_at_ && !gave_up_) next = std::min(next, *killed_at_ + patience_with_watchdog());
    return next;
  }
  /// How long after Kill the watchdog would have to kill the program by itself.
  Clock::duration patience_with_watchdog() const { return deadlines_.margin() / 5; }

  int watchdog_killed() {
    if (!killed_at_)
      say(fmt::format("{}: the watchdog of {} was killed; SIGKILL to all its processes",
                      lock_.name(), who()));
    watchdog_.end_orphans();
    asked_ = true;
    return ended(view());
  }

  int ended(const View& now) {
    if (now.program.expired && !deadlines_.killed()) {
      for_lock_ = true;
      say(fmt::format("{}: zksh was stopped or too slow, so the watchdog has acted: SIGKILL to {}",
                      lock_.name(), who()));
    }
    return now.program.status.value_or(status::failure);
  }

  void ask(BootClock::time_point time) {
    deadlines_.ask(time);
    asked_ = true;
  }

  void lose(BootClock::time_point time) {
    deadlines_.lose(time);
    if (on_lost_ == OnLost::Warn && !std::exchange(warned_, true))
      say(fmt::format("{}: the lock is lost; {} keeps running (--on-lost warn)", lock_.name(),
                      who()));
  }

  void act(Step step, const View& now) {
    if (step == Step::None) return;
    if (step == Step::Spare) {
      watchdog_.end(LockWatchdog::Ending::None);
      for_lock_ = false;
      spared_ = true;
      say(fmt::format("{}: a server answers again, but {} was already told to end", lock_.name(),
                      who()));
      return;
    }
    watchdog_.end(step == Step::Kill ? LockWatchdog::Ending::Kill
                                     : LockWatchdog::Ending::Terminate);
    if (step == Step::Kill) killed_at_ = Clock::now();
    std::string why = now.revoked      ? "somebody asked for the lock"
                      : now.unwanted   ? "the lock is being released"
                      : cx_.background ? "the job is ending"
                                       : "zksh is exiting";
    const bool doubtful = on_lost_ != OnLost::Warn && is_doubtful(now.safe_until);
    for_lock_ = for_lock_ || doubtful || now.lost;
    if (doubtful)
      why = fmt::format("the servers do not confirm the lock, which is safe for {} more",
                        short_time(now.safe_until - BootClock::now()));
    if (now.lost) why = "the lock is lost";
    say(fmt::format("{}: {}: {} to {}", lock_.name(), why,
                    step == Step::Kill ? "SIGKILL" : "SIGTERM", who()));
    if (!now.lost && doubtful) report_doubt();
  }

  /// Reports doubt; a loss is reported by the lock's keeper.
  void report_doubt() const { lock_.run_loss_command("the servers do not confirm it"); }

  /// Whether servers have not confirmed the lock for so long that it may be lost soon.
  bool is_doubtful(BootClock::time_point safe_until) const {
    return BootClock::now() >= safe_until - deadlines_.margin() - deadlines_.grace();
  }

  /// Returns true if time has passed.
  bool handle_stop(int signal) {
    // The prompt has the terminal, and must not stop; the lock is kept meanwhile.
    if (cx_.background) {
      const bool wants = signal == SIGTTIN || signal == SIGTTOU;
      if (wants && !std::exchange(stop_reported_, true))
        say(
            fmt::format("{0}: {1} is stopped: it wants the terminal, which the prompt has; "
                        "`unlock {0}` ends it",
                        lock_.name(), who()));
      return false;
    }
    const auto followed =
        terminal_.follow_stop(watchdog_.pid(), signal, [this] { warn_of_stop(); });
    if (followed == ProgramTerminal::Followed::StaysStopped) return false;
    const auto now = view();
    const auto step = deadlines_.step(BootClock::now(), now.safe_until);
    act(step, now);
    if (step != Step::Kill) watchdog_.resume(wait_until(deadlines_.next(now.safe_until)));
    return true;
  }

  /// Warns that nothing keeps the session alive while zksh is stopped.
  void warn_of_stop() {
    const auto warning = ProgramTerminal::is_job() ? locks_.stop_warning() : "";
    if (warning.empty()) return;
    // After the ^Z that the terminal has echoed.
    const auto* const gap = cx_.out.style().err_is_terminal ? "\n" : "";
    try {
      cx_.out.err(fmt::format("{}{}\n", gap, cx_.out.shown_in_error(warning)));
      cx_.out.await_printed(Clock::now() + 1s);
    } catch (const Cancelled&) {
      // zksh must end; supervise handles that once it is continued.
    }
  }

  /// If the program was ended because servers did not confirm the lock: waits until they do, or the
  /// lock is lost.
  void await_verdict() const {
    const auto safe_until = lock_.status().lease.end;
    if (!for_lock_ || !is_doubtful(safe_until)) return;
    cx_.monitor().wait_until({}, wait_until(safe_until) + 1s, [&](const Monitor::Held& held) {
      const auto& status = lock_.status(held);
      return status.is_gone() || status.lease.end != safe_until;
    });
  }

  /// Waits until the lock was held for the minimum time, or is unwanted.
  void stay() {
    if (!o_.at_least || asked_) return;
    const auto until = lock_.status().held + *o_.at_least;
    const auto left = until - Clock::now();
    if (left.count() <= 0) return;
    const auto ends = [this](const Monitor::Held& held) {
      const auto now = view(held);
      return now.revoked || now.unwanted || now.told_to_end || lock_.is_gone(held);
    };
    if (cx_.monitor().with_lock(ends)) return;
    if (!o_.quiet)
      say(fmt::format("{}: held for {} more (--at-least)", lock_.name(), short_time(left)));
    cx_.monitor().wait_until(cx_.stop, until, ends);
  }

  int given_back(int result) {
    const auto now = lock_.status();
    if (now.stage == LockStatus::Stage::Lost) {
      locks_.forget(lock_);
      return status::lock_lost;
    }
    if (now.stage == LockStatus::Stage::Released && !o_.quiet)
      locks_.say(released_line(lock_, now));
    // The program may take a while to end as it was told, and a server may answer meanwhile.
    const bool obeyed = spared_ && result == status::signal_base + SIGTERM;
    if (!for_lock_ && !obeyed) return result;
    report_doubt();
    if (now.stage == LockStatus::Stage::Released)
      locks_.say(lock_.name() + ": the program was ended, although the lock was held throughout");
    return status::lock_lost;
  }

  std::string who() const {
    return fmt::format("{}pid {} ({}){}", ended_at_ ? "what " : "", watchdog_.pid(), shown_name(o_),
                       ended_at_ ? " left behind" : "");
  }

  /// Prints at once, but not while the program draws on the terminal.
  void say(const std::string& line) {
    if (terminal_.drawn_on())
      held_back_lines_.push_back(line);
    else
      locks_.say(line);
  }

  Context& cx_;
  LockManager& locks_;
  Lock& lock_;
  const LockOptions& o_;
  OnLost on_lost_;
  LockWatchdog& watchdog_;
  ProgramDeadlines deadlines_;
  ProgramTerminal terminal_;
  std::vector<std::string> held_back_lines_;
  bool warned_ = false;
  bool stop_reported_ = false;
  bool for_lock_ = false;  ///< ended because its lock is lost, or may be
  bool spared_ = false;    ///< told to end for that, before a server answered again
  bool insistence_reported_ = false;
  bool asked_ = false;  ///< to end, whatever happens to the lock
  bool had_terminal_ = false;
  bool terminal_is_back_ = false;
  std::optional<Clock::time_point> ended_at_{};   ///< of the program itself
  std::optional<Clock::time_point> killed_at_{};  ///< when it should have been killed
  bool rest_reported_ = false;
  bool gave_up_ = false;
  // For passing on signals:
  Guarded<bool> started_;
  Guarded<std::vector<int>> early_;  ///< signals from before the program started
  // Under the monitor:
  bool terminated_ = false;  ///< SIGTERM was passed on
  int ended_by_ = 0;         ///< the last signal passed on that was meant to end it
  Clock::time_point ended_by_at_{};
  Guarded<bool> insisted_on_;
  Guarded<bool> told_to_end_;
  // Last, since a signal may come until it is gone.
  std::optional<SignalRelay::Registration> registration_;
};

}  // namespace

std::unique_ptr<LockWatchdog> watch_program(Context& cx, const LockOptions& options) {
  Program launched{.words = options.shell ? shell_words(*options.shell) : options.program,
                   .group = Program::Group::Own};
  find_program(launched.words.front());
  try {
    require_process_tree();
  } catch (const Error& error) {
    throw Error(std::string("a program under a lock cannot be ended in time: ") + error.what());
  }
  require_threads(threads_and_processes, "a program under a lock");
  Fd empty;
  if (cx.background || cx.input == Input::Pipe) {
    empty = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    launched.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
  }
  if (const int fd = cx.out.descriptor(); fd >= 0)
    launched.redirections.push_back({.target = STDOUT_FILENO, .source = fd});
  if (const int fd = cx.out.error_descriptor(); fd >= 0)
    launched.redirections.push_back({.target = STDERR_FILENO, .source = fd});
  std::vector<Fd> printed;
  if (auto* const output = cx.background ? cx.services.locks.output() : nullptr)
    printed = output->redirect(launched);
  // The server answers while the watchdog is started.
  cx.client.ensure_session();
  return std::make_unique<LockWatchdog>(cx.monitor(), std::move(launched));
}

int run_under_lock(Context& cx, Lock& lock, LockWatchdog& watchdog,
                   const std::function<void()>& after_success) {
  return LockedProgram(cx, lock, watchdog).run(after_success);
}

}  // namespace zksh
