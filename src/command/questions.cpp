// Questions: asks the user at the terminal while a command runs.
#include "command/questions.h"

#include "base/error.h"
#include "base/fd.h"

#include <array>
#include <cerrno>
#include <poll.h>

namespace zksh {
namespace {

/// Standard input if it is a terminal, else the controlling terminal; none if there is no terminal
/// or zksh is in its background, where a read would stop it.
Fd foreground_terminal() {
  Fd fd = isatty(STDIN_FILENO) != 0 ? Fd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0))
                                    : Fd(open("/dev/tty", O_RDWR | O_CLOEXEC));
  if (!fd || tcgetpgrp(fd.get()) != getpgrp()) return {};
  return fd;
}

/// Does not wait for a terminal that accepts no output.
void set_modes(int fd, termios modes, bool hidden) {
  modes.c_lflag |= ICANON | ISIG | ECHO;
  modes.c_iflag |= ICRNL;
  if (hidden) modes.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  tcsetattr(fd, TCSANOW, &modes);
  tcflush(fd, TCIFLUSH);
}

/// Reads a line, without its newline; nullopt at the end of the input. A terminal delivers whole
/// lines.
std::optional<std::string> read_line(int fd, const std::stop_token& stop) {
  const StopFd stopped(stop);
  std::string line;
  while (true) {
    if (!await_ready(fd, POLLIN, stopped)) throw Cancelled();
    std::array<char, 4096> block{};
    const auto count = read(fd, block.data(), block.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return std::nullopt;
    line.append(block.data(), static_cast<std::size_t>(count));
    if (!line.ends_with('\n')) continue;  // Ctrl-D after some text
    line.pop_back();
    return line;
  }
}

}  // namespace

/// Shows a question while it lives.
class Questions::Asking {
 public:
  Asking(Questions& questions, const Asked& asked) : questions_(questions) {
    questions_.monitor_.with_lock([&](const Monitor::Held& held) {
      questions_.asked_(held) = asked;
      set_modes(asked.fd, asked.before, asked.question.hidden);
    });
    questions_.show(asked.fd, asked.question);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() {
    questions_.monitor_.with_lock([&](const Monitor::Held& held) {
      auto& now = questions_.asked_(held);
      tcsetattr(now->fd, TCSANOW, &now->before);
      now.reset();
    });
  }

 private:
  Questions& questions_;
};

bool Questions::possible() { return static_cast<bool>(foreground_terminal()); }

std::optional<std::string> Questions::ask(const Question& question, const std::stop_token& stop) {
  const Fd terminal = foreground_terminal();
  Asked asked{.fd = terminal.get(), .question = question};
  if (!terminal || tcgetattr(terminal.get(), &asked.before) != 0) return std::nullopt;
  const Asking asking(*this, asked);
  auto answer = read_line(terminal.get(), stop);
  // The terminal has echoed no newline. After a line of JSON, the prompt has a line of its own.
  if ((question.hidden || !answer) && shows_prompt(question)) say(terminal.get(), "\n");
  return answer;
}

/// If standard error is not the terminal, nobody sees its line of JSON there.
bool Questions::shows_prompt(const Question& question) {
  return question.json.empty() || isatty(STDERR_FILENO) == 0;
}

void Questions::show(int terminal, const Question& question) {
  if (!question.json.empty()) queue_.add(Stream::Err, question.json);
  if (shows_prompt(question)) say(terminal, question.prompt);
}

/// If standard error is the terminal, goes through the queue, which keeps the order of all output.
void Questions::say(int terminal, const std::string& text) {
  if (isatty(STDERR_FILENO) != 0)
    queue_.add(Stream::Err, text);
  else [[maybe_unused]]
    const auto written = write(terminal, text.data(), text.size());
}

void Questions::suspend() {
  monitor_.with_lock([&](const Monitor::Held& held) {
    if (const auto& asked = asked_(held)) tcsetattr(asked->fd, TCSANOW, &asked->before);
  });
}

void Questions::resume() {
  const auto asked = monitor_.with_lock([&](const Monitor::Held& held) {
    auto now = asked_(held);
    // If continued in the background, leave the terminal alone: the read will stop zksh again.
    if (now && tcgetpgrp(now->fd) != getpgrp()) now.reset();
    if (now) set_modes(now->fd, now->before, now->question.hidden);
    return now;
  });
  if (asked) show(asked->fd, asked->question);
}

}  // namespace zksh
