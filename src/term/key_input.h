// Key input: the bytes that the terminal sends, one at a time, and pastes whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

namespace zksh {

/// Reads no more than it is asked for, so that what was typed ahead stays in the terminal for the
/// program that runs next.
class KeyInput {
 public:
  explicit KeyInput(int fd) : fd_(fd) {}

  /// So many bytes may be taken until the next call: keeps a flood from stopping the poll loop.
  void set_budget(std::size_t bytes) { budget_ = bytes; }
  /// Whether a byte can be taken now, or within the time.
  bool ready(std::chrono::microseconds wait = {});
  /// The next byte; -1 when none comes within two seconds. Readline asks in the middle of a
  /// character or a key, whose bytes come together.
  int next();
  /// The terminal is gone: no more bytes will come.
  bool ended() const { return ended_; }

  /// Puts a byte before those that come.
  void put_back(char byte) { ahead_.push_front(byte); }
  bool has_ahead() const { return !ahead_.empty(); }
  void drop_ahead() { ahead_.clear(); }

  /// Moves what has come of a bracketed paste to `paste`; true when its end was there.
  bool take_paste(std::string& paste);

 private:
  bool poll_terminal(std::chrono::microseconds wait);
  bool take_byte(char& byte);

  int fd_;
  std::deque<char> ahead_;
  std::size_t known_ = 0;  ///< bytes that can be read without blocking
  std::size_t budget_ = 0;
  bool ended_ = false;
};

}  // namespace zksh
