// editor_driver: a small program around LineEditor, for the screen tests.
//
//   editor_driver FIFO LOG
//
// Appends typed lines to LOG (EOF for Ctrl-D), and answers "got: LINE". The typed lines quit,
// abort, noeol and read (a line from the terminal in its normal modes) do more. Each line of FIFO
// is an order: print TEXT, burst N, prompt TEXT, end.
#include "term/line_editor.h"
#include "term/terminal.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iostream>
#include <poll.h>
#include <string>
#include <sys/signalfd.h>
#include <unistd.h>

namespace {

class Driver {
 public:
  Driver(const char* fifo, const char* log)
      : terminal_(0),
        log_(log, std::ios::app),
        fifo_(open(fifo, O_RDWR | O_CLOEXEC)),
        signals_(block_signals()),
        editor_({.in = 0,
                 .out = 1,
                 .on_line = [this](std::optional<std::string> line) { take(std::move(line)); },
                 .complete = {}}) {}

  void run() {
    begin();
    while (!quit_) {
      std::array<pollfd, 3> sources{pollfd{editor_.active() ? 0 : -1, POLLIN, 0},
                                    pollfd{signals_, POLLIN, 0}, pollfd{fifo_, POLLIN, 0}};
      poll(sources.data(), sources.size(), editor_.pending() ? 0 : -1);
      if (sources[1].revents != 0) take_signal();
      if (sources[2].revents != 0) take_orders();
      if (sources[0].revents != 0 || editor_.pending()) editor_.feed();
    }
  }

 private:
  static int block_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP})
      sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return signalfd(-1, &set, SFD_CLOEXEC);
  }

  void begin() { editor_.begin("\033[1;32mzk\033[0m " + std::to_string(number_++) + "> "); }

  void take(std::optional<std::string> line) {
    log_ << line.value_or("EOF") << std::endl;
    if (!line || *line == "quit") {
      quit_ = true;
      return;
    }
    if (*line == "abort") std::abort();
    zksh::LineEditor::remember(*line);
    if (*line == "noeol")
      editor_.print("no newline");
    else if (*line == "read")
      read_line();
    else
      editor_.print("got: " + line->substr(0, 1000) + "\n");
    begin();
  }

  void read_line() {
    std::string line;
    char c = 0;
    while (read(0, &c, 1) == 1 && c != '\n') line += c;
    editor_.print("read: " + line + "\n");
  }

  void take_signal() {
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != sizeof info) return;
    switch (info.ssi_signo) {
      case SIGINT:
        editor_.interrupt();
        break;
      case SIGWINCH:
        editor_.resize();
        break;
      case SIGTERM:
        quit_ = true;
        break;
      case SIGCONT:
        editor_.resume();
        break;
      case SIGTSTP:
        editor_.suspend();
        raise(SIGSTOP);
        break;
      default:
        break;
    }
  }

  void take_orders() {
    std::array<char, 4096> block{};
    const ssize_t count = read(fifo_, block.data(), block.size());
    if (count <= 0) return;
    orders_.append(block.data(), static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = orders_.find('\n')) != std::string::npos;) {
      obey(orders_.substr(0, end));
      orders_.erase(0, end + 1);
    }
  }

  void obey(const std::string& order) {
    const std::size_t space = std::min(order.find(' '), order.size());
    const std::string name = order.substr(0, space);
    const std::string rest = order.substr(std::min(space + 1, order.size()));
    if (name == "print") editor_.print(rest + "\n");
    if (name == "part") editor_.print(rest);
    if (name == "prompt") editor_.set_prompt(rest);
    if (name == "end") quit_ = true;
    if (name == "burst")
      for (int i = 1; i <= std::stoi(rest); ++i) editor_.print("event " + std::to_string(i) + "\n");
  }

  zksh::Terminal terminal_;
  std::ofstream log_;
  int fifo_;
  int signals_;
  std::string orders_;
  int number_ = 0;
  bool quit_ = false;
  zksh::LineEditor editor_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: editor_driver FIFO LOG\n";
    return 2;
  }
  Driver(argv[1], argv[2]).run();
  return 0;
}
