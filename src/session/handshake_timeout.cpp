// HandshakeTimeout: the connect and poll that the C client calls.
#include "session/handshake_timeout.h"

#include "base/monitor.h"
#include "session/socket_interposer.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::chrono::milliseconds first_patience{3000};
/// More than the C client's own limit.
constexpr std::chrono::milliseconds longest_patience{60000};

/// A connect request that is not answered yet; each of the C client's threads has at most one.
struct Greeting {
  int fd = -1;  ///< of the socket; -1: none is awaited
  std::chrono::milliseconds patience = first_patience;
  Clock::time_point begun;
};

thread_local Greeting greeting_here;

/// The deadline for the answer to another request.
struct Deadline {
  int fd = -1;  ///< of the socket; -1: there is none
  BootClock::time_point time;
};

thread_local Deadline deadline_here;

bool contains(const pollfd* sockets, nfds_t count, int fd) {
  return fd >= 0 && std::any_of(sockets, sockets + count,
                                [&](const pollfd& socket) { return socket.fd == fd; });
}

/// Rounds up; never negative.
template <class Duration>
int whole_milliseconds(Duration left) {
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left);
  return static_cast<int>(std::max(rounded, std::chrono::milliseconds(0)).count());
}

/// Milliseconds until the connection must be ended; -1: never, or it is not among `sockets`.
int time_left(const pollfd* sockets, nfds_t count) {
  const auto& greeting = greeting_here;
  if (contains(sockets, count, greeting.fd))
    return whole_milliseconds(greeting.begun + greeting.patience - Clock::now());
  if (contains(sockets, count, deadline_here.fd))
    return whole_milliseconds(deadline_here.time - BootClock::now());
  return -1;
}

/// The C client sees an ended connection, and tries the next server.
void end_connection() {
  auto& greeting = greeting_here;
  if (greeting.fd >= 0) {
    shutdown(std::exchange(greeting.fd, -1), SHUT_RDWR);
    greeting.patience = std::min(2 * greeting.patience, longest_patience);
  } else {
    note_unanswered();
    shutdown(std::exchange(deadline_here.fd, -1), SHUT_RDWR);
  }
}

int poll_unguarded(pollfd* sockets, nfds_t count, int timeout_ms) {
  const timespec timeout{.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1'000'000L};
  return ppoll(sockets, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}

}  // namespace

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

void note_deadline(int fd, std::optional<BootClock::time_point> deadline) {
  deadline_here = deadline ? Deadline{.fd = fd, .time = *deadline} : Deadline();
}

}  // namespace zksh

using zksh::deadline_here;
using zksh::greeting_here;

// For the linker, these are the C library's functions.
extern "C" int guarded_poll(pollfd* sockets, nfds_t count, int timeout_ms) __asm__("poll");
extern "C" int guarded_connect(int fd, const sockaddr* address, socklen_t size) __asm__("connect");

extern "C" int guarded_poll(pollfd* sockets, nfds_t count, int timeout_ms) {
  const int left = zksh::time_left(sockets, count);
  if (left < 0 || (timeout_ms >= 0 && timeout_ms < left))
    return zksh::poll_unguarded(sockets, count, timeout_ms);
  const int ready = zksh::poll_unguarded(sockets, count, left);
  if (ready != 0) return ready;
  zksh::end_connection();
  return zksh::poll_unguarded(sockets, count, timeout_ms);
}

extern "C" int guarded_connect(int fd, const sockaddr* address, socklen_t size) {
  greeting_here.fd = -1;  // whatever had this descriptor before
  deadline_here.fd = -1;
  // A host that does not respond gets a second SYN after 1 s, and is given up after 3 s.
  const int repetitions = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &repetitions, sizeof repetitions);
  // When connected to a read-only server, the C client asks the others whether they accept writes,
  // over a blocking socket on the session's thread. Its own 1 s limit has an uninitialised
  // microseconds field, and usually no effect.
  constexpr timeval limit{.tv_sec = 1, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return static_cast<int>(syscall(SYS_connect, fd, address, size));
}
