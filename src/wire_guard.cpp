// WireGuard: the C client reads and writes here.
#include "wire_guard.h"

#include "wire_answer.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <sys/socket.h>

namespace zksh {
namespace {

constexpr std::size_t size_of_length = 4;

std::atomic<const char*> refused{nullptr};

std::int32_t length_in(std::string_view bytes) {
  std::uint32_t length = 0;
  for (const char byte : bytes.substr(0, size_of_length))
    length = length << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(length);
}

/// Which socket a descriptor is: numbers are used again.
std::uint64_t cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

/// The bytes of one direction: lengths, and what follows them. The C client hands over, and asks
/// for, a length and what follows it one by one.
struct Direction {
  std::uint32_t frame = 0;  ///< its size, as far as its length has passed
  std::size_t length_taken = 0;
  std::size_t taken = 0;  ///< so many bytes of the frame have passed

  bool in_frame() const { return length_taken == size_of_length; }
  /// Takes note of bytes of a length.
  void take_length(std::string_view bytes) {
    for (const char byte : bytes.substr(0, size_of_length - length_taken)) {
      frame = frame << 8U | static_cast<unsigned char>(byte);
      ++length_taken;
    }
  }
  /// Takes note of bytes of a frame; true at its end.
  bool take(std::size_t bytes) {
    taken += bytes;
    if (taken < frame) return false;
    *this = {};
    return true;
  }
};

/// The connection of a session: each of the C client's threads has one at a time.
class Link {
 public:
  Link() = default;
  Link(int fd, std::uint64_t cookie) : fd_(fd), cookie_(cookie) {}

  bool has(int fd) const { return fd == fd_; }
  /// As has, and the descriptor has not been closed meanwhile.
  bool is(int fd) const { return fd == fd_ && cookie_of(fd) == cookie_; }

  /// `bytes` is to be sent. A frame is handed over as a whole at first, however much is taken.
  void look_at_sent(std::string_view bytes) {
    if (!out_.in_frame() || out_.taken > 0 || noted_) return;
    noted_ = true;
    if (!greeting_sent_)
      fresh_ = asks_for_new_session(bytes);
    else
      conversation_.note_request(bytes);
    greeting_sent_ = true;
  }
  void sent(std::string_view bytes) {
    if (!out_.in_frame()) {
      out_.take_length(bytes);
    } else if (out_.take(bytes.size())) {
      noted_ = false;
    }
  }

  /// `bytes` came, at this place of the memory where the C client puts a frame as a whole.
  const char* flaw_of_received(std::string_view bytes) {
    if (!greeted_) {
      greeting_taken_ += bytes.size();
      const std::string_view whole(bytes.data() + bytes.size() - greeting_taken_, greeting_taken_);
      const auto* const flaw = flaw_of_greeting(whole, fresh_);
      greeted_ = whole.size() >= size_of_length &&
                 whole.size() >= size_of_length + static_cast<std::size_t>(length_in(whole));
      return flaw;
    }
    if (!in_.in_frame()) {
      in_.take_length(bytes);
      return in_.in_frame() ? flaw_of_length(static_cast<std::int32_t>(in_.frame)) : nullptr;
    }
    const auto size = in_.taken + bytes.size();
    const std::string_view whole(bytes.data() + bytes.size() - size, size);
    return in_.take(bytes.size()) ? conversation_.flaw_of(whole) : nullptr;
  }

 private:
  int fd_ = -1;
  std::uint64_t cookie_ = 0;
  bool greeting_sent_ = false;
  bool fresh_ = true;
  bool noted_ = false;  ///< the request that is being sent
  bool greeted_ = false;
  std::size_t greeting_taken_ = 0;
  Direction out_;
  Direction in_;
  WireConversation conversation_;
};

thread_local Link link_here;

/// Whether these bytes begin a session: the length of a greeting. No four-letter word looks so.
bool begins_session(std::string_view bytes) {
  constexpr std::int32_t old_greeting = 44;
  return bytes.size() == size_of_length &&
         (length_in(bytes) == old_greeting || length_in(bytes) == old_greeting + 1);
}

}  // namespace

std::string refused_answer() {
  const auto* const flaw = refused.load();
  return flaw == nullptr ? "" : flaw;
}

}  // namespace zksh

using zksh::link_here;

// For the linker these are the C library's functions.
extern "C" ssize_t guarded_send(int fd, const void* buffer, std::size_t size,
                                int flags) __asm__("send");
extern "C" ssize_t guarded_recv(int fd, void* buffer, std::size_t size, int flags) __asm__("recv");

extern "C" ssize_t guarded_send(int fd, const void* buffer, std::size_t size, int flags) {
  const std::string_view bytes(static_cast<const char*>(buffer), size);
  if (zksh::begins_session(bytes) && !link_here.is(fd))
    link_here = zksh::Link(fd, zksh::cookie_of(fd));
  const bool ours = link_here.has(fd);
  if (ours) link_here.look_at_sent(bytes);
  const auto sent = sendto(fd, buffer, size, flags, nullptr, 0);
  if (ours && sent > 0) link_here.sent(bytes.substr(0, static_cast<std::size_t>(sent)));
  return sent;
}

extern "C" ssize_t guarded_recv(int fd, void* buffer, std::size_t size, int flags) {
  const auto came = recvfrom(fd, buffer, size, flags, nullptr, nullptr);
  if (came <= 0 || (flags & MSG_PEEK) != 0 || !link_here.is(fd)) return came;
  const auto* const flaw = link_here.flaw_of_received(
      {static_cast<const char*>(buffer), static_cast<std::size_t>(came)});
  if (flaw == nullptr) return came;
  zksh::refused.store(flaw);
  errno = EBADMSG;
  return -1;
}
