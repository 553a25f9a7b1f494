// WireGuard: the C client reads and writes here.
#include "wire_guard.h"

#include "monitor.h"
#include "wire_link.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zksh {
namespace {

std::atomic<const char*> refused{nullptr};

/// Which socket a descriptor is: numbers are used again.
std::uint64_t cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

/// The socket of a session: each of the C client's threads has one at a time.
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

constexpr std::chrono::milliseconds first_patience{3000};
/// More than the C client has itself.
constexpr std::chrono::milliseconds longest_patience{60000};

/// A request for a session that has not been answered: each of the C client's threads has one at a
/// time.
struct Greeting {
  int fd = -1;  ///< of the socket; -1: none is awaited
  std::chrono::milliseconds patience = first_patience;
  Clock::time_point begun;
};

thread_local Greeting greeting_here;

/// Milliseconds until the connection is ended; -1: it is not one of those in `sockets`.
int greeting_time_left(const pollfd* sockets, nfds_t count) {
  const auto& greeting = greeting_here;
  if (greeting.fd < 0 || std::none_of(sockets, sockets + count, [&](const pollfd& socket) {
        return socket.fd == greeting.fd;
      }))
    return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(greeting.begun +
                                                                 greeting.patience - Clock::now());
  return std::max(static_cast<int>(left.count()), 0);
}

int poll_unguarded(pollfd* sockets, nfds_t count, int timeout_ms) {
  const timespec timeout{.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1'000'000L};
  return ppoll(sockets, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}

/// Whether these bytes begin a session: the length of a greeting. No four-letter word looks so.
bool begins_session(std::string_view bytes) {
  constexpr std::int32_t old_greeting = 44;
  return bytes.size() == size_of_frame_length &&
         (frame_length(bytes) == old_greeting || frame_length(bytes) == old_greeting + 1);
}

}  // namespace

bool refuse_flawed(WireLink& link, const void* bytes, std::size_t size) {
  const auto* const flaw = link.flaw_of_received({static_cast<const char*>(bytes), size});
  if (flaw == nullptr) return false;
  refused.store(flaw);
  errno = EBADMSG;
  return true;
}

void note_greeting(int fd, bool awaited) {
  auto& greeting = greeting_here;
  if (awaited == (greeting.fd == fd)) return;
  if (awaited) {
    greeting.fd = fd;
    greeting.begun = Clock::now();
  } else {
    greeting = {};
  }
}

std::string refused_answer() {
  const auto* const flaw = refused.load();
  return flaw == nullptr ? "" : flaw;
}

}  // namespace zksh

using zksh::greeting_here;
using zksh::refuse_flawed;
using zksh::socket_here;

// For the linker these are the C library's functions.
extern "C" ssize_t guarded_send(int fd, const void* buffer, std::size_t size,
                                int flags) __asm__("send");
extern "C" ssize_t guarded_recv(int fd, void* buffer, std::size_t size, int flags) __asm__("recv");
extern "C" int guarded_poll(pollfd* sockets, nfds_t count, int timeout_ms) __asm__("poll");
extern "C" int guarded_connect(int fd, const sockaddr* address, socklen_t size) __asm__("connect");

extern "C" ssize_t guarded_send(int fd, const void* buffer, std::size_t size, int flags) {
  const std::string_view bytes(static_cast<const char*>(buffer), size);
  if (zksh::begins_session(bytes) && !socket_here.is(fd))
    socket_here = zksh::Socket(fd, zksh::cookie_of(fd));
  const bool ours = socket_here.has(fd);
  if (ours) socket_here.link.look_at_sent(bytes);
  const auto sent = sendto(fd, buffer, size, flags, nullptr, 0);
  if (ours && sent > 0) {
    socket_here.link.sent(bytes.substr(0, static_cast<std::size_t>(sent)));
    if (socket_here.link.awaits_greeting()) zksh::note_greeting(fd, true);
  }
  return sent;
}

extern "C" ssize_t guarded_recv(int fd, void* buffer, std::size_t size, int flags) {
  const auto came = recvfrom(fd, buffer, size, flags, nullptr, nullptr);
  if (came <= 0 || (flags & MSG_PEEK) != 0 || !socket_here.is(fd)) return came;
  const bool flawed = refuse_flawed(socket_here.link, buffer, static_cast<std::size_t>(came));
  if (!socket_here.link.awaits_greeting()) zksh::note_greeting(fd, false);
  return flawed ? -1 : came;
}

extern "C" int guarded_poll(pollfd* sockets, nfds_t count, int timeout_ms) {
  const int left = zksh::greeting_time_left(sockets, count);
  if (left < 0 || (timeout_ms >= 0 && timeout_ms < left))
    return zksh::poll_unguarded(sockets, count, timeout_ms);
  const int ready = zksh::poll_unguarded(sockets, count, left);
  if (ready != 0) return ready;
  // The C client sees a connection that was ended, and goes on to the next server.
  shutdown(greeting_here.fd, SHUT_RDWR);
  greeting_here.fd = -1;
  greeting_here.patience = std::min(2 * greeting_here.patience, zksh::longest_patience);
  return zksh::poll_unguarded(sockets, count, timeout_ms);
}

extern "C" int guarded_connect(int fd, const sockaddr* address, socklen_t size) {
  greeting_here.fd = -1;  // whatever had this number
  // A host that does not answer is asked twice, after 1 s again, and given up after 3 s.
  const int repetitions = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &repetitions, sizeof repetitions);
  return static_cast<int>(syscall(SYS_connect, fd, address, size));
}
