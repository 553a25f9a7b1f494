// Patient connection: how long it waits for a lost connection.
#include "client/patient_connection.h"

#include "client/forwarding_client.h"
#include "fake_client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace zksh {
namespace {

using namespace std::chrono_literals;

class GrantedWithoutEnd final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;
  int negotiated_timeout() override { return std::numeric_limits<int>::max(); }
};

TEST(PatientConnection, ATimeoutOfWeeksIsNotWaitedFor) {
  FakeTree tree;
  FakeClient client(tree);
  GrantedWithoutEnd granted(client);
  client.disconnect();
  const auto begin = Clock::now();
  EXPECT_THROW(await_reconnection(granted, "/a", begin - 61s, {}), ZkError);
  EXPECT_LT(Clock::now() - begin, 30s);
  client.reconnect();
  await_reconnection(granted, "/a", begin - 30s, {});
}

}  // namespace
}  // namespace zksh
