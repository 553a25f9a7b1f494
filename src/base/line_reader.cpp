// LineReader: reads lines from a descriptor; a stop ends the wait.
#include "base/line_reader.h"

#include "base/error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace zksh {

LineReader::LineReader(int fd, bool owned, std::string name, const std::stop_token& stop,
                       LineEnd line_end)
    : fd_(fd), owned_(owned ? fd : -1), name_(std::move(name)), stop_(stop), line_end_(line_end) {}

/// Reads more bytes; false at the end of the input and after a stop.
bool LineReader::fill() {
  if (!await_ready(fd_, POLLIN, stop_)) return false;
  buffer_.erase(0, taken_);
  searched_ -= taken_;
  taken_ = 0;
  std::array<char, 1U << 16U> block;
  const auto count = read(fd_, block.data(), block.size());
  if (count < 0 && errno != EINTR && errno != EAGAIN)
    throw ValueError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
  if (count > 0) buffer_.append(block.data(), static_cast<std::size_t>(count));
  skip_byte_order_mark();
  if (buffer_.size() > longest_line)
    throw ValueError(fmt::format("{}: a line is longer than {} MiB", name_, longest_line >> 20U));
  return count != 0;
}

void LineReader::skip_byte_order_mark() {
  // It may arrive in pieces.
  if (!at_begin_ ||
      (buffer_.size() < byte_order_mark.size() && byte_order_mark.starts_with(buffer_)))
    return;
  at_begin_ = false;
  if (!buffer_.starts_with(byte_order_mark)) return;
  buffer_.erase(0, byte_order_mark.size());
  searched_ = 0;
}

/// The position of the next line end in the buffer; npos if there is none yet.
std::size_t LineReader::line_end() {
  if (after_return_ && taken_ < buffer_.size()) {
    if (buffer_[taken_] == '\n') searched_ = std::max(searched_, ++taken_);
    after_return_ = false;
  }
  return line_end_ == LineEnd::Newline ? buffer_.find('\n', searched_)
                                       : buffer_.find_first_of("\r\n", searched_);
}

bool LineReader::ready() {
  while (!ended_ && line_end() == std::string::npos) {
    searched_ = buffer_.size();
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, 0) == 0) return false;
    ended_ = !fill();
  }
  return true;
}

bool LineReader::next(std::string& line) {
  while (true) {
    const auto end = line_end();
    if (end != std::string::npos) {
      line.assign(buffer_, taken_, end - taken_);
      after_return_ = buffer_[end] == '\r';
      taken_ = searched_ = end + 1;
      return true;
    }
    searched_ = buffer_.size();
    if (ended_) {
      line.assign(buffer_, taken_);
      taken_ = buffer_.size();
      return !line.empty();
    }
    ended_ = !fill();
  }
}

}  // namespace zksh
