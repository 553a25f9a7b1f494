// Printer: writes the OutputQueue to the standard streams without blocking.
#include "shell/printer.h"

#include "base/text.h"
#include "term/terminal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zksh {
namespace {

int descriptor(Stream stream) { return stream == Stream::Out ? STDOUT_FILENO : STDERR_FILENO; }

bool is_ready(int fd) {
  pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&waiting, 1, 0) != 0;
}

/// How much can be written to a writable descriptor without blocking. It stays in blocking mode,
/// since other processes share it; a pipe accepts PIPE_BUF bytes, a terminal at least some.
std::size_t safe_size(int fd) {
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return 1U << 20U;
  return isatty(fd) ? 512 : 4096;
}

}  // namespace

/// Writes a part of the first chunk; false if its stream accepts nothing now.
bool Printer::write_front() {
  auto& chunk = waiting_.front();
  const int fd = descriptor(chunk.stream);
  const auto rest = std::string_view(chunk.bytes).substr(written_);
  if (!notice_.empty()) end_notice();  // what reads a pipe may write to the same terminal
  if (hide_ && isatty(fd)) hide_();
  const bool dropped = (chunk.stream == Stream::Out && out_failure_ != 0) ||
                       (rest.empty() && notice_.empty());  // all that it was for
  if (dropped || (above_ && isatty(fd) && above_(rest))) {
    written_ += rest.size();
  } else if (!is_ready(fd)) {
    blocked_on_ = fd;
    return false;
  } else {
    const auto count = write(fd, rest.data(), std::min(rest.size(), safe_size(fd)));
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      blocked_on_ = fd;  // somebody else made the shared descriptor non-blocking
      return false;
    } else if (errno != EINTR) {
      if (chunk.stream == Stream::Out && !drops_refused_) {
        out_failure_ = errno;
        queue_.fail_out();
      }
      written_ += rest.size();
    }
  }
  if (written_ > 0) {
    printed_at_ = Clock::now();
    if (isatty(fd)) ended_line_ = chunk.bytes[written_ - 1] == '\n';
  }
  if (written_ == chunk.bytes.size()) {
    waiting_.pop_front();
    written_ = 0;
  }
  return true;
}

void Printer::show_notice(const std::string& text) {
  const bool stays = terminal_is_dumb();
  const bool is_shown = text == notice_ || (stays && !notice_.empty());
  if (is_shown || !ended_line_ || !waiting_.empty() || !is_ready(STDERR_FILENO)) return;
  // A wrapped line could not be erased.
  const auto columns = static_cast<std::size_t>(std::max(screen_size(STDERR_FILENO).columns, 2));
  const auto line = stays ? text + '\n' : cut_to_width(text, columns - 1, "");
  end_notice();
  if (write(STDERR_FILENO, line.data(), line.size()) > 0) notice_ = text;
}

void Printer::end_notice() {
  constexpr std::string_view erase_line = "\r\033[K";
  if (notice_.empty() || !is_ready(STDERR_FILENO)) return;
  notice_.clear();
  if (terminal_is_dumb()) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, erase_line.data(), erase_line.size());
}

void Printer::pump() {
  constexpr std::chrono::milliseconds longest_turn{50};
  const auto until = Clock::now() + longest_turn;
  blocked_on_ = -1;
  while (true) {
    if (waiting_.empty()) waiting_ = queue_.take();
    if (waiting_.empty()) {
      if (show_) blocked_on_ = show_(ended_line_);
      return;
    }
    if (Clock::now() >= until) {
      blocked_on_ = descriptor(waiting_.front().stream);
      return;
    }
    if (!write_front()) return;
  }
}

void Printer::flush(const std::function<bool(int fd)>& wait) {
  const auto all = queue_.added();
  do {
    pump();
  } while (blocked_on_ >= 0 && !queue_.has_written(all) && wait(blocked_on_));
}

}  // namespace zksh
