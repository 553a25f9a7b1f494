// Key input: the bytes that the terminal sends, one at a time, and pastes whole.
#include "term/key_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::string_view paste_end = "\033[201~";
constexpr std::chrono::seconds patience{2};

}  // namespace

bool KeyInput::ready(std::chrono::microseconds wait) {
  if (!ahead_.empty()) return true;
  if (budget_ == 0 || ended_) return false;
  return known_ > 0 || poll_terminal(wait);
}

bool KeyInput::poll_terminal(std::chrono::microseconds wait) {
  pollfd terminal{fd_, POLLIN, 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait);
  if (poll(&terminal, 1, static_cast<int>(milliseconds.count())) <= 0) return false;
  int bytes = 0;
  if (ioctl(fd_, FIONREAD, &bytes) == 0 && bytes > 0) {
    known_ = static_cast<std::size_t>(bytes);
    return true;
  }
  char byte = 0;
  if (!take_byte(byte)) return false;
  ahead_.push_back(byte);
  return true;
}

bool KeyInput::take_byte(char& byte) {
  if (known_ > 0) --known_;
  if (budget_ > 0) --budget_;
  const ssize_t count = read(fd_, &byte, 1);
  if (count == 1) return true;
  known_ = 0;
  ended_ = ended_ || count == 0 || (errno != EINTR && errno != EAGAIN);
  return false;
}

int KeyInput::next() {
  char byte = 0;
  if (!ahead_.empty()) {
    byte = ahead_.front();
    ahead_.pop_front();
    return static_cast<unsigned char>(byte);
  }
  if (known_ == 0 && (ended_ || !poll_terminal(patience))) return -1;
  if (!ahead_.empty()) return next();
  return take_byte(byte) ? static_cast<unsigned char>(byte) : -1;
}

bool KeyInput::take_paste(std::string& paste) {
  std::array<char, 16384> block;  // NOLINT: filled by read
  while (ready()) {
    const std::size_t before = paste.size();
    paste.append(ahead_.begin(), ahead_.end());
    ahead_.clear();
    if (paste.size() == before) {
      const ssize_t count =
          read(fd_, block.data(), std::min(block.size(), std::max<std::size_t>(known_, 1)));
      if (count <= 0) {
        known_ = 0;
        ended_ = count == 0 || (errno != EINTR && errno != EAGAIN);
        return false;
      }
      const auto taken = static_cast<std::size_t>(count);
      known_ -= std::min(known_, taken);
      budget_ -= std::min(budget_, taken);
      paste.append(block.data(), taken);
    }
    const std::size_t from = before - std::min(before, paste_end.size() - 1);
    const std::size_t end = paste.find(paste_end, from);
    if (end == std::string::npos) continue;
    const std::size_t after = end + paste_end.size();
    ahead_.insert(ahead_.begin(), paste.begin() + static_cast<std::ptrdiff_t>(after), paste.end());
    paste.resize(end);
    return true;
  }
  return false;
}

}  // namespace zksh
