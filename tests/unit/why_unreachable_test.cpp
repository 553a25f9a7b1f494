// WhyUnreachable: what is said of servers that cannot be connected to.
#include "client/why_unreachable.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(WhyUnreachable, NamesTheServerAndTheReason) {
  // Port 1 of the loopback: nothing listens there.
  EXPECT_EQ(why_unreachable(parse_connect_string("127.0.0.1:1")),
            "127.0.0.1:1: Connection refused");
  const auto unknown = why_unreachable(parse_connect_string("no-such-host.invalid:1"));
  EXPECT_TRUE(unknown.starts_with("no-such-host.invalid:1: the name does not resolve")) << unknown;
}

}  // namespace
}  // namespace zksh
