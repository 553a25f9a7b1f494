// Terminal: the terminal's properties, and restoring its modes on every exit.
#include "term/terminal.h"

#include "base/number.h"
#include "base/process_setup.h"

#include <array>
#include <atomic>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::array fatal_signals{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

/// What the signal handler needs; it may run on any thread at any instruction.
struct Rescue {
  termios modes{};
  std::atomic<int> fd{-1};
  std::atomic<bool> bracketed_paste{false};
};
Rescue rescue;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// Async-signal-safe.
void rescue_terminal() {
  const int fd = rescue.fd.load();
  if (fd < 0 || tcgetpgrp(fd) != getpgrp()) return;
  if (rescue.bracketed_paste.load()) {
    constexpr std::string_view off = "\r\n\033[?2004l\r";
    [[maybe_unused]] const auto written = write(fd, off.data(), off.size());
  }
  tcsetattr(fd, TCSANOW, &rescue.modes);
}

/// Runs with the default action restored (SA_RESETHAND), so that raise() ends the process.
void on_fatal_signal(int signal) {
  rescue_terminal();
  raise(signal);
}

void install_fatal_handlers() {
  // After a stack overflow, the handler needs another stack.
  static std::array<char, std::size_t{64} << 10U> alternate_stack;
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) != 0) {
    stack_t stack{};
    stack.ss_sp = alternate_stack.data();
    stack.ss_size = alternate_stack.size();
    sigaltstack(&stack, nullptr);
  }
  for (const int signal : fatal_signals) {
    struct sigaction old {};
    // A sanitizer's handler reports more than ours.
    if (sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

int positive_number(const char* text, int otherwise) {
  if (text == nullptr) return otherwise;
  const int value = number_in<int>(text).value_or(0);
  return value > 0 ? value : otherwise;
}

}  // namespace

bool is_terminal(int fd) { return isatty(fd) == 1; }

ScreenSize screen_size(int fd) {
  ScreenSize size;
  winsize window{};
  if (ioctl(fd, TIOCGWINSZ, &window) != 0) window = {};
  size.columns = window.ws_col > 0 ? window.ws_col : positive_number(std::getenv("COLUMNS"), 80);
  size.rows = window.ws_row > 0 ? window.ws_row : positive_number(std::getenv("LINES"), 24);
  return size;
}

bool terminal_is_dumb() { return environment("TERM", "dumb") == "dumb"; }

bool use_utf8_locale() {
  const auto is_utf8 = [] { return std::string_view(nl_langinfo(CODESET)) == "UTF-8"; };
  if (std::setlocale(LC_CTYPE, "") != nullptr && is_utf8()) return false;
  for (const char* name : {"C.UTF-8", "en_US.UTF-8", "UTF-8"})
    if (std::setlocale(LC_CTYPE, name) != nullptr && is_utf8()) break;
  return true;
}

Terminal::Terminal(int fd) : fd_(fd) {
  termios modes{};
  if (tcgetattr(fd_, &modes) != 0) return;
  modes_ = rescue.modes = modes;
  rescue.fd = fd_;
  install_fatal_handlers();
}

Terminal::~Terminal() {
  restore();
  rescue.fd = -1;
}

void Terminal::restore() {
  if (!modes_ || tcgetpgrp(fd_) != getpgrp()) return;
  // In the background, SIGTTOU would stop zksh if it were not blocked.
  sigset_t ttou;
  sigset_t before;
  sigemptyset(&ttou);
  sigaddset(&ttou, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &ttou, &before);
  tcsetattr(fd_, TCSADRAIN, &*modes_);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void note_bracketed_paste(bool on) { rescue.bracketed_paste = on; }

}  // namespace zksh
