// Loop: the main thread's event loop for keys, signals, finished jobs and output; and the jobs.
#include "shell/loop.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// The signals that end zksh if no program takes them, except SIGINT, which may only end a command:
/// all whose default action ends a process. SIGKILL cannot be handled; SIGSEGV, SIGBUS, SIGFPE and
/// SIGILL report errors of the program itself; SIGPIPE is ignored.
std::vector<int> ending_signals() {
  std::vector<int> all{SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,   SIGABRT, SIGVTALRM,
                       SIGPROF, SIGXCPU, SIGXFSZ, SIGIO,   SIGPWR,  SIGSTKFLT, SIGSYS,  SIGTRAP};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) all.push_back(signal);
  return all;
}

bool ends_process(int signal) {
  return signal != SIGINT && signal != SIGWINCH && signal != SIGTSTP && signal != SIGCONT;
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

constexpr int give_up_after = 5;

/// What the alarm's handler reads.
struct LastResort {
  int seconds = 0;  ///< left
  int status = 0;
  const std::atomic<int>* programs = nullptr;
};
static_assert(std::atomic<int>::is_always_lock_free);
LastResort last_resort;

void count_down(int /*signal*/) {
  last_resort.seconds = *last_resort.programs > 0 ? give_up_after : last_resort.seconds - 1;
  if (last_resort.seconds == 0) _exit(last_resort.status);
  alarm(1);
}

/// The timeout for poll; -1: none.
int milliseconds_until(std::optional<Clock::time_point> time) {
  if (!time) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*time - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

}  // namespace

Job::Job(Monitor& monitor, int wake_fd, std::function<int(std::stop_token)> body)
    : monitor_(monitor),
      thread_([this, wake_fd, run = std::move(body)](const std::stop_token& stop) {
        const int result = run(stop);
        monitor_.change([&](const Monitor::Held& held) { status_(held) = result; });
        eventfd_write(wake_fd, 1);
      }) {}

std::optional<int> Job::status() {
  return monitor_.with_lock([&](const Monitor::Held& held) { return status_(held); });
}

Loop::Loop() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sigset_t signals;
  sigemptyset(&signals);
  auto ending = ending_signals();
  ending.push_back(SIGINT);
  for (const int signal : ending)
    // If blocked, an ignored signal would be delivered nevertheless.
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  for (const int signal : {SIGWINCH, SIGTSTP, SIGCONT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_fd_ = Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  // EPIPE reports a closed pipe instead, so that sessions and locks are released first.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

Loop::~Loop() { alarm(0); }

void Loop::collect_signals() {
  signalfd_siginfo info{};
  while (read(signal_fd_.get(), &info, sizeof info) == sizeof info)
    signals_.push_back(static_cast<int>(info.ssi_signo));
}

void Loop::serve_signals(const LoopEvents& events) {
  collect_signals();
  while (!signals_.empty()) {
    const int signal = signals_.front();
    signals_.pop_front();
    if (signal == SIGINT)
      events.interrupt();
    else if (ends_process(signal))
      events.end(signal);
    else if (signal == SIGWINCH)
      events.resize();
    else if (signal == SIGCONT)
      events.resume();
    else
      events.suspend();
  }
}

bool Loop::await_writable(int fd) {
  while (true) {
    std::array<pollfd, 2> waiting{{{.fd = fd, .events = POLLOUT, .revents = 0},
                                   {.fd = signal_fd_.get(), .events = POLLIN, .revents = 0}}};
    const bool ends = leaving_ || std::ranges::any_of(signals_, ends_process);
    poll(waiting.data(), waiting.size(), ends ? 0 : -1);
    if (waiting[0].revents != 0) return true;
    if (ends) return false;
    collect_signals();
  }
}

void Loop::leave(int status, const std::atomic<int>& programs) {
  if (std::exchange(leaving_, true)) return;
  last_resort = {.seconds = give_up_after, .status = status, .programs = &programs};
  struct sigaction action {};
  action.sa_handler = count_down;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  // From now on the signal belongs to the alarm.
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(1);
}

void Loop::stop_process() {
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  kill(getpid(), SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, &before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // The caller knows that the process was continued, so SIGCONT is dropped.
  sigset_t continued;
  sigemptyset(&continued);
  sigaddset(&continued, SIGCONT);
  const timespec now{};
  sigtimedwait(&continued, nullptr, &now);
}

void Loop::run(Printer& printer, const LoopEvents& events, const std::function<bool()>& done) {
  bool failure_reported = false;
  while (true) {
    printer.pump();
    const bool finished = done();  // may print the last output, and fail to
    if (printer.out_failure() != 0 && !failure_reported) {
      failure_reported = true;
      events.out_failed(printer.out_failure());
      continue;
    }
    if (finished) {
      serve_signals(events);  // signals that arrived before the end count
      return;
    }
    std::array<pollfd, 4> waiting{
        {{.fd = wake_fd_.get(), .events = POLLIN, .revents = 0},
         {.fd = signal_fd_.get(), .events = POLLIN, .revents = 0},
         {.fd = events.reads_input() ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0},
         {.fd = printer.blocked_on(), .events = POLLOUT, .revents = 0}}};
    const bool input_waits = events.input_waits();
    const int patience =
        input_waits || !signals_.empty() ? 0 : milliseconds_until(events.look_again());
    poll(waiting.data(), waiting.size(), patience);
    if (waiting[0].revents != 0) {
      eventfd_t count = 0;
      eventfd_read(wake_fd_.get(), &count);
    }
    serve_signals(events);
    if (input_waits || waiting[2].revents != 0) events.input();
  }
}

}  // namespace zksh
