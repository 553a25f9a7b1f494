// SocketInterposer: the send, recv, poll and connect that the C client calls.
#include "session/socket_interposer.h"

#include "base/monitor.h"
#include "session/wire_link.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

std::atomic<const char*> refused{nullptr};

/// Identifies the socket behind a descriptor, whose number may be reused.
std::uint64_t cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

/// The socket of a session without TLS; each of the C client's threads has at most one.
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

/// Rounds up; never negative.
template <class Duration>
int whole_milliseconds(Duration left) {
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left);
  return static_cast<int>(std::max(rounded, std::chrono::milliseconds(0)).count());
}

/// How long the server of a connection may stay silent.
class Patience {
 public:
  /// This thread connects a socket. Whatever had its descriptor before is closed, and no connect
  /// response is awaited on another one.
  void begin(int fd) {
    greeting_on_ = -1;
    if (answer_on_ == fd) answer_on_ = -1;
  }
  void await_greeting(int fd) {
    if (std::exchange(greeting_on_, fd) != fd) greeted_ = Clock::now();
  }
  void take_greeting(int fd) {
    if (greeting_on_ == fd) *this = {};
  }
  void await_answer(int fd, std::optional<BootClock::time_point> until) {
    answer_on_ = until ? fd : -1;
    answer_until_ = until.value_or(BootClock::time_point());
  }
  /// Milliseconds until the connection must be ended; -1: never, or it is not among `sockets`.
  int left(const pollfd* sockets, nfds_t count) const {
    const auto among = [&](int fd) {
      return fd >= 0 && std::any_of(sockets, sockets + count,
                                    [&](const pollfd& socket) { return socket.fd == fd; });
    };
    if (among(greeting_on_)) return whole_milliseconds(greeted_ + of_greeting_ - Clock::now());
    return among(answer_on_) ? whole_milliseconds(answer_until_ - BootClock::now()) : -1;
  }
  /// The C client sees an ended connection, and tries the next server.
  void end_connection() {
    constexpr std::chrono::milliseconds longest{60000};  // more than the C client's own limit
    if (greeting_on_ >= 0) {
      shutdown(std::exchange(greeting_on_, -1), SHUT_RDWR);
      of_greeting_ = std::min(2 * of_greeting_, longest);
    } else {
      refused.store("a request was not answered in time");
      shutdown(std::exchange(answer_on_, -1), SHUT_RDWR);
    }
  }

 private:
  int greeting_on_ = -1;  ///< the socket on which a connect response is awaited; -1: none
  std::chrono::milliseconds of_greeting_{3000};
  Clock::time_point greeted_{};
  int answer_on_ = -1;  ///< the socket on which another answer is awaited; -1: none
  BootClock::time_point answer_until_{};
};

thread_local Patience patience_here;

int poll_unguarded(pollfd* sockets, nfds_t count, int timeout_ms) {
  const timespec timeout{.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1'000'000L};
  return ppoll(sockets, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}

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
  if (link.awaits_greeting()) patience_here.await_greeting(fd);
  patience_here.await_answer(fd, link.give_up_at());
}

bool refuse_received(WireLink& link, int fd, std::string_view bytes) {
  const auto* const flaw = link.flaw_of_received(bytes);
  if (!link.awaits_greeting()) patience_here.take_greeting(fd);
  if (link.has_answered()) refused.store(nullptr);
  patience_here.await_answer(fd, link.give_up_at());
  if (flaw == nullptr) return false;
  refused.store(flaw);
  errno = EBADMSG;
  return true;
}

std::string refused_answer() {
  const auto* const flaw = refused.load();
  return flaw == nullptr ? "" : flaw;
}

}  // namespace zksh

using zksh::patience_here;
using zksh::socket_here;

// For the linker, these are the C library's functions.
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
  if (ours) {
    socket_here.link.look_at_sent(bytes);
    // Mostly in one packet with its frame: a server would be woken for the length alone.
    if (socket_here.link.sends_length()) flags |= MSG_MORE;
  }
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

extern "C" int guarded_poll(pollfd* sockets, nfds_t count, int timeout_ms) {
  const int left = patience_here.left(sockets, count);
  if (left < 0 || (timeout_ms >= 0 && timeout_ms < left))
    return zksh::poll_unguarded(sockets, count, timeout_ms);
  const int ready = zksh::poll_unguarded(sockets, count, left);
  if (ready != 0) return ready;
  patience_here.end_connection();
  return zksh::poll_unguarded(sockets, count, timeout_ms);
}

extern "C" int guarded_connect(int fd, const sockaddr* address, socklen_t size) {
  patience_here.begin(fd);
  // A host that does not answer is asked twice, after 1 s again, and given up after 3 s.
  const int repetitions = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &repetitions, sizeof repetitions);
  // On a read-only server the C client asks the others whether they take writes, over a socket that
  // blocks, on the thread that serves the session. Its own limit of 1 s has microseconds that were
  // never set, and mostly no effect.
  constexpr timeval limit{.tv_sec = 1, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return static_cast<int>(syscall(SYS_connect, fd, address, size));
}
