// Loop: the main thread's wait for keys, signals, finished jobs and output to print.
#include "loop.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace zksh {

Loop::Loop() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT})
    sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_fd_ = Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  // A reader that goes away is told by EPIPE, so that sessions and locks are given back first.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

void Loop::collect_signals() {
  signalfd_siginfo info{};
  while (read(signal_fd_.get(), &info, sizeof info) == sizeof info)
    signals_.push_back(static_cast<int>(info.ssi_signo));
}

void Loop::serve_signals(const LoopEvents& events) {
  const auto call = [](const auto& handler, auto... argument) {
    if (handler) handler(argument...);
  };
  collect_signals();
  while (!signals_.empty()) {
    const int signal = signals_.front();
    signals_.pop_front();
    switch (signal) {
      case SIGINT:
        call(events.interrupt);
        break;
      case SIGTERM:
      case SIGHUP:
        call(events.end, signal);
        break;
      case SIGWINCH:
        call(events.resize);
        break;
      case SIGTSTP:
        if (events.suspend)
          events.suspend();
        else
          stop_process();
        break;
      default:
        call(events.resume);
        break;
    }
  }
}

bool Loop::await_writable(int fd) {
  while (true) {
    std::array<pollfd, 2> waiting{{{.fd = fd, .events = POLLOUT, .revents = 0},
                                   {.fd = signal_fd_.get(), .events = POLLIN, .revents = 0}}};
    const bool ends = leaving_ || std::ranges::any_of(signals_, [](int signal) {
                        return signal == SIGTERM || signal == SIGHUP;
                      });
    poll(waiting.data(), waiting.size(), ends ? 0 : -1);
    if (waiting[0].revents != 0) return true;
    if (ends) return false;
    collect_signals();
  }
}

void Loop::leave(int status) {
  static volatile sig_atomic_t last_status = 0;
  leaving_ = true;
  last_status = status;
  struct sigaction give_up {};
  give_up.sa_handler = [](int) { _exit(last_status); };
  sigaction(SIGALRM, &give_up, nullptr);
  alarm(5);
}

void Loop::stop_process() {
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  kill(getpid(), SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, &before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Loop::run(Printer& printer, const LoopEvents& events, const std::function<bool()>& done) {
  bool failure_told = false;
  while (true) {
    printer.pump();
    const bool finished = done();  // may print what was said last, and fail to
    if (printer.out_failure() != 0 && !failure_told && events.out_failed) {
      failure_told = true;
      events.out_failed(printer.out_failure());
      continue;
    }
    if (finished) return;
    std::array<pollfd, 4> waiting{
        {{.fd = wake_fd_.get(), .events = POLLIN, .revents = 0},
         {.fd = signal_fd_.get(), .events = POLLIN, .revents = 0},
         {.fd = events.reads_input && events.reads_input() ? STDIN_FILENO : -1,
          .events = POLLIN,
          .revents = 0},
         {.fd = printer.blocked_on(), .events = POLLOUT, .revents = 0}}};
    const bool input_waits = events.input_waits && events.input_waits();
    poll(waiting.data(), waiting.size(), input_waits || !signals_.empty() ? 0 : -1);
    if (waiting[0].revents != 0) {
      eventfd_t count = 0;
      eventfd_read(wake_fd_.get(), &count);
    }
    serve_signals(events);
    if (input_waits || waiting[2].revents != 0) events.input();
  }
}

}  // namespace zksh
