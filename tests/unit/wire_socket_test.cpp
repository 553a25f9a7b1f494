// WireSocket: a socket that the C client has closed, whose number another thread has got.
#include "session/wire_socket.h"

#include "base/fd.h"
#include "listener.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace zksh {
namespace {

struct Owner : WireOwner {
  Clock::time_point tend() override { return Clock::time_point::max(); }
  bool takes_writes(const SocketAddress& /*server*/) override { return true; }
  std::unique_ptr<TlsConnection> secure(const SocketAddress& /*server*/,
                                        std::uint64_t /*connection*/) override {
    return nullptr;
  }
  void tls_ended(const SocketAddress& /*server*/, const TlsConnection& /*connection*/) override {}
  bool wants_sasl() override { return false; }
  void continue_sasl(const SocketAddress& /*server*/, std::uint64_t /*connection*/,
                     const std::string* /*token*/, std::int32_t /*error*/) override {}
  void event_came(const WireEvent& /*event*/) override {}
  bool is_reported(std::string_view /*path*/, bool /*of_children*/) override { return false; }
};

TEST(WireSocket, SendsNothingToANumberThatTheCClientHasClosed) {
  Owner owner;
  WireSocket wire(owner);
  const Listener server;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
  const WireSocket::Here here(wire);  // this thread does as the C client
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(0, fcntl(fd, F_SETFL, O_NONBLOCK));
  ASSERT_TRUE(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||
              errno == EINPROGRESS);
  pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
  ASSERT_EQ(1, poll(&writable, 1, -1));
  const std::array<char, 45> request{};
  const auto length = htonl(request.size());
  ASSERT_EQ(4, send(fd, &length, sizeof length, 0));
  ASSERT_EQ(45, send(fd, request.data(), request.size(), 0));
  ASSERT_TRUE(wire.awaits_greeting());
  close(fd);

  std::array<int, 2> ends{};
  ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
  const Fd other(ends[1]);
  ASSERT_EQ(fd, ends[0]) << "the kernel gives the least number that is free";
  EXPECT_FALSE(wire.awaits_greeting());
  EXPECT_FALSE(wire.owns(fd));
  wire.begin_close();
  wire.finish_close(Clock::now());
  wire.give_up();
  wire.leave_reader();
  char byte = 0;
  EXPECT_EQ(-1, recv(other.get(), &byte, 1, MSG_DONTWAIT));
  EXPECT_EQ(EAGAIN, errno) << "neither bytes, nor its end";
  close(ends[0]);
}

}  // namespace
}  // namespace zksh
