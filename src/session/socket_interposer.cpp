// SocketInterposer: the send and recv that the C client calls.
#include "session/socket_interposer.h"

#include "session/handshake_timeout.h"
#include "session/wire_link.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <sys/socket.h>
#include <sys/types.h>

namespace zksh {
namespace {

std::atomic<const char*> refused{nullptr};

/// Identifies the socket behind a descriptor, whose number may be reused.
std::uint64_t cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

/// The socket of a session; each of the C client's threads has at most one.
class Socket {
 public:
  Socket() = default;
  Socket(int fd, std::uint64_t cookie) : fd_(fd), cookie_(cookie) {}

  bool has(int fd) const { return fd == fd_; }
  /// As has, and the descriptor has not been closed meanwhile.
  bool is(int fd) const { return fd == fd_ && cookie_of(fd) == cookie_; }

  WireLink link{};

 private:
  int fd_ = -1;
  std::uint64_t cookie_ = 0;
};

thread_local Socket socket_here;

/// Whether these bytes begin a session: the length of a connect request. No four-letter word looks
/// like that.
bool begins_session(std::string_view bytes) {
  constexpr std::int32_t old_greeting = 44;
  return bytes.size() == size_of_frame_length &&
         (frame_length(bytes) == old_greeting || frame_length(bytes) == old_greeting + 1);
}

}  // namespace

void note_sent(WireLink& link, int fd, std::string_view bytes) {
  link.sent(bytes);
  if (link.awaits_greeting()) note_greeting(fd, true);
  note_deadline(fd, link.give_up_at());
}

bool refuse_received(WireLink& link, int fd, std::string_view bytes) {
  const auto* const flaw = link.flaw_of_received(bytes);
  if (!link.awaits_greeting()) note_greeting(fd, false);
  if (link.has_answered()) refused.store(nullptr);
  note_deadline(fd, link.give_up_at());
  if (flaw == nullptr) return false;
  refused.store(flaw);
  errno = EBADMSG;
  return true;
}

void note_unanswered() { refused.store("a request was not answered in time"); }

std::string refused_answer() {
  const auto* const flaw = refused.load();
  return flaw == nullptr ? "" : flaw;
}

}  // namespace zksh

using zksh::socket_here;

// For the linker, these are the C library's functions.
extern "C" ssize_t guarded_send(int fd, const void* buffer, std::size_t size,
                                int flags) __asm__("send");
extern "C" ssize_t guarded_recv(int fd, void* buffer, std::size_t size, int flags) __asm__("recv");

extern "C" ssize_t guarded_send(int fd, const void* buffer, std::size_t size, int flags) {
  const std::string_view bytes(static_cast<const char*>(buffer), size);
  if (zksh::begins_session(bytes) && !socket_here.is(fd))
    socket_here = zksh::Socket(fd, zksh::cookie_of(fd));
  const bool ours = socket_here.has(fd);
  if (ours) socket_here.link.look_at_sent(bytes);
  const auto sent = sendto(fd, buffer, size, flags, nullptr, 0);
  if (ours && sent > 0)
    zksh::note_sent(socket_here.link, fd, bytes.substr(0, static_cast<std::size_t>(sent)));
  return sent;
}

extern "C" ssize_t guarded_recv(int fd, void* buffer, std::size_t size, int flags) {
  const auto came = recvfrom(fd, buffer, size, flags, nullptr, nullptr);
  if (came <= 0 || (flags & MSG_PEEK) != 0 || !socket_here.is(fd)) return came;
  const std::string_view bytes(static_cast<const char*>(buffer), static_cast<std::size_t>(came));
  return zksh::refuse_received(socket_here.link, fd, bytes) ? -1 : came;
}
