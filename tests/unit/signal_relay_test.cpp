// SignalRelay: who gets a signal, and what is recorded.
#include "base/signal_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace zksh {
namespace {

using testing::ElementsAre;

class SignalRelayTest : public testing::Test {
 protected:
  /// Takes what `accepts` says and notes it under a name.
  SignalRelay::Receiver receiver(std::string name, bool accepts) {
    return [this, name = std::move(name), accepts](const Monitor::Held&, int signal) {
      heard.push_back(name + " " + std::to_string(signal));
      return accepts;
    };
  }
  Monitor monitor;
  SignalRelay relay{monitor};
  std::vector<std::string> heard;
};

TEST_F(SignalRelayTest, NobodyTakesASignalWithoutAReceiver) {
  EXPECT_FALSE(relay.offer(SIGTERM));
  EXPECT_EQ(relay.take_end(), std::nullopt);
  EXPECT_EQ(relay.registrations(), 0);
}

TEST_F(SignalRelayTest, OffersToTheNewestFirstAndEndsWithWhoeverTakesIt) {
  const SignalRelay::Registration oldest(relay, receiver("oldest", true));
  {
    const SignalRelay::Registration older(relay, receiver("older", true));
    const SignalRelay::Registration newest(relay, receiver("newest", false));
    EXPECT_EQ(relay.registrations(), 3);
    EXPECT_TRUE(relay.offer(SIGINT));
    EXPECT_THAT(heard, ElementsAre("newest 2", "older 2"));
  }
  EXPECT_EQ(relay.registrations(), 1);
  EXPECT_TRUE(relay.offer(SIGHUP));
  EXPECT_THAT(heard, ElementsAre("newest 2", "older 2", "oldest 1"));
}

TEST_F(SignalRelayTest, TellsOnceTheFirstTakenSignalThatAsksForTheEnd) {
  const SignalRelay::Registration registration(relay, receiver("it", true));
  EXPECT_TRUE(relay.offer(SIGUSR1));
  EXPECT_TRUE(relay.offer(SIGUSR2));
  EXPECT_EQ(relay.take_end(), std::nullopt);
  EXPECT_TRUE(relay.offer(SIGHUP));
  EXPECT_TRUE(relay.offer(SIGTERM));
  EXPECT_EQ(relay.take_end(), SIGHUP);
  EXPECT_EQ(relay.take_end(), std::nullopt);
}

TEST_F(SignalRelayTest, ASignalThatNobodyTookIsNotTold) {
  const SignalRelay::Registration registration(relay, receiver("it", false));
  EXPECT_FALSE(relay.offer(SIGTERM));
  EXPECT_EQ(relay.take_end(), std::nullopt);
}

}  // namespace
}  // namespace zksh
