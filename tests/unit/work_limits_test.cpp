// FlightWindow: follows the distance, and gives way.
#include "client/work_limits.h"

#include "client/forwarding_client.h"
#include "fake_client.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// A server at a distance; at none before the first answer.
class FarAway final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;
  std::optional<std::chrono::nanoseconds> round_trip() override { return distance; }
  std::optional<std::chrono::nanoseconds> distance;
};

class FlightWindowTest : public testing::Test {
 protected:
  FakeTree server;
  FakeClient inner{server};
  FarAway client{inner};
};

TEST_F(FlightWindowTest, NearTheServerItIsTheLeast) {
  FlightWindow window(client, {.least = 256, .rate = 20'000});
  EXPECT_EQ(window.now(), 256U) << "nothing is known";
  client.distance = 200us;
  EXPECT_EQ(window.now(), 256U);
  window.learn(256, 25ms);
  EXPECT_EQ(window.now(), 256U);
}

TEST_F(FlightWindowTest, FarAwayItIsWhatAServerAnswersMeanwhile) {
  client.distance = 150ms;
  FlightWindow window(client, {.least = 256, .rate = 20'000});
  EXPECT_EQ(window.now(), 3000U);
}

TEST_F(FlightWindowTest, ABusyServerIsNotTakenForAFarOne) {
  client.distance = 100ms;  // the connect request's answer was late
  FlightWindow window(client, {.least = 512, .rate = 200'000});
  EXPECT_EQ(window.now(), 20'000U);
  client.distance = 1ms;
  window.learn(64, 3ms);
  EXPECT_EQ(window.now(), 512U);
}

TEST_F(FlightWindowTest, GrowsWhileAnswersComeAtOnce) {
  client.distance = 150ms;
  FlightWindow window(client, {.least = 256, .rate = 20'000});
  window.learn(3000, 160ms);
  EXPECT_GT(window.now(), 5000U);
  window.learn(10, 150ms);
  EXPECT_GT(window.now(), 5000U) << "there was no more to do";
}

TEST_F(FlightWindowTest, GivesWayWhenAnswersAreSlow) {
  client.distance = 150ms;
  FlightWindow window(client, {.least = 256, .rate = 20'000});
  window.learn(3000, 900ms);
  EXPECT_EQ(window.now(), 1000U);
  window.learn(1000, 10s);
  EXPECT_EQ(window.now(), 256U);
}

TEST_F(FlightWindowTest, WhatTheUserSaysHolds) {
  client.distance = 150ms;
  FlightWindow window(client, {.fixed = 7});
  window.learn(7, 150ms);
  EXPECT_EQ(window.now(), 7U);
}

}  // namespace
}  // namespace zksh
