// diagnose_connection: reports about servers that cannot be connected to.
#include "client/diagnose_connection.h"

#include "listener.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

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

TEST(DiagnoseConnection, AllServersMustRefuse) {
  const Listener listener;
  const auto server = fmt::format("127.0.0.1:{}", listener.port());
  EXPECT_EQ(refusal_by_all(parse_connect_string("127.0.0.1:1")), "127.0.0.1:1: Connection refused");
  EXPECT_EQ(refusal_by_all(parse_connect_string("127.0.0.1:1," + server)), "");
  EXPECT_TRUE(
      diagnose_connection(parse_connect_string(server)).starts_with(server + ": reachable"));
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
