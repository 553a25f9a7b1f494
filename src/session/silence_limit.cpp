// SilenceLimit: the C client connects and waits here.
#include "session/silence_limit.h"

#include "base/monitor.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zksh {
namespace {

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

}  // namespace zksh

using zksh::greeting_here;

// For the linker these are the C library's functions.
extern "C" int guarded_poll(pollfd* sockets, nfds_t count, int timeout_ms) __asm__("poll");
extern "C" int guarded_connect(int fd, const sockaddr* address, socklen_t size) __asm__("connect");

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
