// Questions: asks the user at the terminal while a command runs.
#include "command/questions.h"

#include "base/error.h"
#include "base/text.h"
#include "base/words.h"
#include "command/screen.h"
#include "config/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <poll.h>
#include <utility>

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
void set_modes(int fd, termios modes, const Questions::Question& question) {
  modes.c_lflag |= ICANON | ISIG | ECHO;
  modes.c_iflag |= ICRNL;
  const bool by_key = question.key != 0;
  if (question.hidden || by_key) modes.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (by_key) modes.c_lflag &= ~static_cast<tcflag_t>(ICANON);
  if (by_key) modes.c_cc[VMIN] = 1;
  if (by_key) modes.c_cc[VTIME] = 0;
  tcsetattr(fd, TCSANOW, &modes);
  tcflush(fd, TCIFLUSH);
}

bool is_ready(int fd, short events) {
  pollfd waiting{.fd = fd, .events = events, .revents = 0};
  return poll(&waiting, 1, 0) > 0;
}

bool owns_terminal(int fd) { return tcgetpgrp(fd) == getpgrp(); }

/// Takes the beginning of a line from a terminal that delivers whole ones.
std::string take_unfinished(int fd) {
  termios modes{};
  if (tcgetattr(fd, &modes) != 0) return {};
  auto raw = modes;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON);
  raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
  tcsetattr(fd, TCSANOW, &raw);
  std::array<char, 4096> block{};
  const auto count = read(fd, block.data(), block.size());
  tcsetattr(fd, TCSANOW, &modes);
  return {block.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

/// If standard error is not the terminal, nobody sees its line of JSON there.
bool shows_prompt(const Questions::Question& question) {
  if (question.key != 0) return false;
  return question.json.empty() || isatty(STDERR_FILENO) == 0;
}

void write_to(int fd, std::string_view text) {
  [[maybe_unused]] const auto written = write(fd, text.data(), text.size());
}

}  // namespace

Questions::Asking::Asking(Questions& questions, const Question& question,
                          const std::stop_token& stop, Fd terminal, const termios& before)
    : questions_(questions),
      terminal_(std::move(terminal)),
      asked_{.fd = terminal_.get(),
             .wake_fd = wake_.get(),
             .stop = stop,
             .question = question,
             .before = before} {
  questions_.monitor_.with_lock([&](const Monitor::Held& held) {
    questions_.asked_(held) = asked_;
    set_modes(asked_.fd, before, question);
  });
  if (!question.json.empty()) questions_.queue_.add(Stream::Err, question.json);
  eventfd_write(questions_.wake_fd_, 1);
}

Questions::Asking::~Asking() {
  questions_.monitor_.with_lock([&](const Monitor::Held& held) {
    auto& now = questions_.asked_(held);
    if (!now || now->wake_fd != asked_.wake_fd) return;  // it was given up
    // Otherwise the modes are restored already, and doing so from the background would stop zksh.
    if (!now->suspended) tcsetattr(now->fd, TCSANOW, &now->before);
    now.reset();
  });
}

bool Questions::possible() { return static_cast<bool>(foreground_terminal()); }

std::unique_ptr<Questions::Asking> Questions::begin(const Question& question,
                                                    const std::stop_token& stop) {
  Fd terminal = foreground_terminal();
  termios before{};
  if (!terminal || tcgetattr(terminal.get(), &before) != 0) return nullptr;
  return std::make_unique<Asking>(*this, question, stop, std::move(terminal), before);
}

std::optional<std::string> Questions::ask(const Question& question, const std::stop_token& stop) {
  const auto asking = begin(question, stop);
  if (!asking) return std::nullopt;
  auto answer = asking->answer();
  // The terminal has echoed no newline. A question in JSON was a line of its own.
  if ((answer && !question.hidden) || !shows_prompt(question)) return answer;
  if (isatty(STDERR_FILENO) != 0)
    queue_.add(Stream::Err, "\n");  // which keeps the order of all output
  else
    write_to(asking->terminal(), "\n");
  return answer;
}

std::optional<std::string> Questions::Asking::answer() {
  const StopFd stopped(asked_.stop);
  while (true) {
    // In the background a read would stop the process, which a key is not worth.
    const bool looks = asked_.question.key == 0 || owns_terminal(asked_.fd);
    std::array<pollfd, 3> waiting{{{.fd = looks ? asked_.fd : -1, .events = POLLIN, .revents = 0},
                                   {.fd = stopped.get(), .events = POLLIN, .revents = 0},
                                   {.fd = asked_.wake_fd, .events = POLLIN, .revents = 0}}};
    poll(waiting.data(), waiting.size(), -1);
    if (waiting[1].revents != 0) throw Cancelled();
    eventfd_t news = 0;
    eventfd_read(asked_.wake_fd, &news);
    if (const auto went_on = questions_.take_typed(asked_.wake_fd); went_on) {
      if (!*went_on) return std::nullopt;
      if (asked_.question.key != 0) return std::string(1, asked_.question.key);
      return questions_.monitor_.with_lock([&](const Monitor::Held& held) {
        auto line = questions_.asked_(held)->typed;
        line.resize(line.find('\n'));
        return line;
      });
    }
  }
}

/// Reads what the terminal has. Returns true if the line is whole, or the key was typed; false at
/// the end of the input, or if the question, which `wake_fd` identifies, was given up; nullopt if
/// more must be read.
std::optional<bool> Questions::take_typed(int wake_fd) {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::optional<bool> {
    if (!asked_(held) || asked_(held)->wake_fd != wake_fd) return false;
    auto& asked = *asked_(held);
    const auto key = asked.question.key;
    if (key != 0 && (asked.suspended || !owns_terminal(asked.fd))) return std::nullopt;
    if (asked.typed.find('\n') == std::string::npos) {
      if (!is_ready(asked.fd, POLLIN)) return std::nullopt;
      // What was typed after the key is for the next reader.
      std::array<char, 4096> block{};
      const auto count = read(asked.fd, block.data(), key != 0 ? 1 : block.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
      asked.over = count <= 0;
      if (asked.over) return false;
      asked.typed.append(block.data(), static_cast<std::size_t>(count));
    }
    asked.over = asked.typed.find(key != 0 ? key : '\n') != std::string::npos;
    if (key != 0) asked.typed.clear();
    return asked.over ? std::optional(true) : std::nullopt;  // Ctrl-D after some text
  });
}

int Questions::show(bool at_row_begin) {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    auto& asked = asked_(held);
    if (!asked || asked->shown || !asked->is_open() || !shows_prompt(asked->question)) return -1;
    if (!owns_terminal(asked->fd)) return -1;  // the read will stop zksh
    if (!is_ready(asked->fd, POLLOUT)) return asked->fd;
    std::string text = asked->moved && !at_row_begin ? "\n" : "";
    text += asked->question.prompt;
    if (!asked->question.hidden) text += escape_for_terminal(asked->typed);
    write_to(asked->fd, text);
    asked->shown = true;
    return -1;
  });
}

void Questions::hide() {
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& asked = asked_(held);
    if (!asked || !asked->shown || !asked->is_open() || asked->question.key != 0) return;
    if (!owns_terminal(asked->fd) || is_ready(asked->fd, POLLIN)) return;
    asked->typed += take_unfinished(asked->fd);
    if (asked->typed.find('\n') != std::string::npos) {
      eventfd_write(asked->wake_fd, 1);
      return;
    }
    const auto& prompt = asked->question.prompt;
    auto line = prompt.substr(prompt.rfind('\n') + 1);
    if (!asked->question.hidden) line += escape_for_terminal(asked->typed);
    write_to(asked->fd, terminal_can_redraw() ? erase_line_of(text_width(line)) : "\n");
    asked->shown = false;
    asked->moved = true;
  });
}

void Questions::suspend() {
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& asked = asked_(held);
    if (!asked) return;
    tcsetattr(asked->fd, TCSANOW, &asked->before);
    asked->suspended = true;
  });
}

void Questions::resume() {
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& asked = asked_(held);
    // If continued in the background, leave the terminal alone: the read will stop zksh again.
    if (!asked || !owns_terminal(asked->fd)) return;
    set_modes(asked->fd, asked->before, asked->question);
    asked->typed.clear();
    asked->shown = asked->suspended = false;
    eventfd_write(asked->wake_fd, 1);
  });
  eventfd_write(wake_fd_, 1);
}

void Questions::give_up() {
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& asked = asked_(held);
    if (!asked) return;
    tcsetattr(asked->fd, TCSANOW, &asked->before);
    eventfd_write(asked->wake_fd, 1);
    asked.reset();
  });
}

bool Questions::echoes() {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    const auto& asked = asked_(held);
    return !asked || (asked->question.key == 0 && !asked->question.hidden);
  });
}

bool needs_confirmation(const Context& cx, bool yes) {
  if (!cx.services.settings.confirm || yes || cx.input == Input::Pipe || cx.rehearsal) return false;
  if (cx.background) throw UsageError("cannot ask for confirmation in the background; use --yes");
  return cx.can_ask();
}

namespace {

/// The question as shown, which mentions production servers.
std::string shown_question(const Context& cx, const std::string& question) {
  return (cx.services.protection.production ? "PRODUCTION: " : "") + question;
}

}  // namespace

std::optional<std::string> refusal_of(const Context& cx, const PlannedWork& work) {
  constexpr std::size_t many = 1000;
  const auto& [what, word, path, nodes, verb, done] = work;
  const auto nothing = "nothing was " + done;
  const auto* const them = nodes == 1 ? "it" : "them";
  if (nodes >= many || cx.services.protection.production) {
    const auto question = fmt::format("{} Type {} to {} {}: ", what, as_word(word), verb, them);
    const auto answer = cx.ask(shown_question(cx, question), false);
    const bool agreed =
        answer && (answer == word || answer == as_word(word) || (!path.empty() && answer == path));
    return agreed ? std::nullopt
                  : std::optional(fmt::format("{}: the answer was not {}", nothing, as_word(word)));
  }
  if (confirmed_by_user(
          cx, fmt::format("{} {:c}{} {}?", what, std::toupper(verb.front()), verb.substr(1), them)))
    return std::nullopt;
  return nothing;
}

bool confirmed_by_user(const Context& cx, const std::string& question) {
  const auto answer = cx.ask(shown_question(cx, question) + " [y/N] ", false);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace zksh
