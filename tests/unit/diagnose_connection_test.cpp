// diagnose_connection: reports about servers that cannot be connected to.
#include "client/diagnose_connection.h"

#include "base/fd.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace zksh {
namespace {

TEST(DiagnoseConnection, NamesTheServerAndTheReason) {
  // Port 1 of the loopback: nothing listens there.
  EXPECT_EQ(diagnose_connection(parse_connect_string("127.0.0.1:1")),
            "127.0.0.1:1: Connection refused");
  EXPECT_EQ(diagnose_connection(parse_connect_string("127.0.0.1:1,127.0.0.1:2")),
            "127.0.0.1:1, 127.0.0.1:2: Connection refused");
  const auto unknown = diagnose_connection(parse_connect_string("no-such-host.invalid:1"));
  EXPECT_TRUE(unknown.starts_with("no-such-host.invalid:1: the name cannot be resolved"))
      << unknown;
}

TEST(DiagnoseConnection, AllAddressesOfANameMustRefuse) {
  // Where localhost is ::1, too, nobody listens there.
  const Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener.get(), plain, size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), plain, &size), 0);
  const auto server = fmt::format("localhost:{}", ntohs(address.sin_port));
  EXPECT_EQ(refusal_by_all(parse_connect_string(server)), "");
  EXPECT_TRUE(
      diagnose_connection(parse_connect_string(server)).starts_with(server + ": reachable"));
  EXPECT_EQ(refusal_by_all(parse_connect_string("localhost:1")), "localhost:1: Connection refused");
  EXPECT_EQ(refusal_by_all(parse_connect_string("localhost:1," + server)), "");
}

TEST(DiagnoseConnection, SaysThatThereIsNoDescriptorForIt) {
  rlimit usual{};
  getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit none{.rlim_cur = 3, .rlim_max = usual.rlim_max};  // stdin, stdout and stderr
  setrlimit(RLIMIT_NOFILE, &none);
  const auto text = diagnose_connection(parse_connect_string("127.0.0.1:1"));
  setrlimit(RLIMIT_NOFILE, &usual);
  EXPECT_EQ(text, "127.0.0.1:1: Too many open files");
}

}  // namespace
}  // namespace zksh
