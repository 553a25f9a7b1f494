// SignalRelay: who gets a signal, and what a program gets in its place.
#include "signal_relay.h"

#include "fd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <string>
#include <unistd.h>
#include <vector>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int own_status = 7;

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

/// A shell that says what it gets, in a group of its own.
class RelayToProgram : public SignalRelayTest {
 protected:
  static Program script(const std::string& text, const Fd& said) {
    return {.words = {"sh", "-c", "exec 2>/dev/null; " + text},
            .redirections = {{.target = STDOUT_FILENO, .source = said.get()}},
            .group = Program::Group::Own};
  }
  std::string line() {
    std::string text;
    std::array<char, 1> byte{};
    while (read(said.read_end.get(), byte.data(), 1) == 1 && byte[0] != '\n') text += byte[0];
    return text;
  }
  Pipe said = make_pipe();
};

TEST_F(RelayToProgram, PassesEverySignalOn) {
  const Process program(monitor, script("for s in INT HUP QUIT USR1 USR2; do trap \"echo $s\" $s; "
                                        "done; trap 'exit 7' TERM; echo ready; "
                                        "while :; do sleep 0.01; done",
                                        said.write_end));
  const SignalRelay::Registration registration(relay, program);
  EXPECT_EQ(line(), "ready");
  const std::vector<std::pair<int, std::string>> all = {
      {SIGINT, "INT"}, {SIGHUP, "HUP"}, {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}};
  for (const auto& [signal, name] : all) {
    EXPECT_TRUE(relay.offer(signal));
    EXPECT_EQ(line(), name);
  }
  EXPECT_TRUE(relay.offer(SIGTERM));
  EXPECT_EQ(program.wait(), own_status);
}

TEST_F(RelayToProgram, TheSecondTermKillsTheWholeGroup) {
  // The grandchild holds the pipe open for as long as it lives.
  const Process program(monitor, script("trap 'echo asked' TERM; "
                                        "sh -c 'trap \"\" TERM; echo ready; exec sleep 1000' & "
                                        "while :; do sleep 0.01; done",
                                        said.write_end));
  said.write_end.close();
  const SignalRelay::Registration registration(relay, program);
  EXPECT_EQ(line(), "ready");
  EXPECT_TRUE(relay.offer(SIGTERM));
  EXPECT_EQ(line(), "asked");
  EXPECT_TRUE(relay.offer(SIGTERM));
  EXPECT_EQ(program.wait(), status::signal_base + SIGKILL);
  EXPECT_EQ(line(), "");
}

TEST_F(RelayToProgram, ContinuesAStoppedProgramSoThatItCanEnd) {
  const Process program(monitor, script("trap 'exit 7' TERM; echo ready; kill -STOP 0; "
                                        "while :; do sleep 0.01; done",
                                        said.write_end));
  const SignalRelay::Registration registration(relay, program);
  EXPECT_EQ(line(), "ready");
  ASSERT_TRUE(monitor.wait({}, [&](const Monitor::Held& held) { return program.stopped(held); }));
  EXPECT_TRUE(relay.offer(SIGTERM));
  EXPECT_EQ(program.wait(), own_status);
}

TEST_F(RelayToProgram, AProgramThatHasEndedTakesNothing) {
  const Process program(monitor, script("exit 7", said.write_end));
  const SignalRelay::Registration registration(relay, program);
  EXPECT_EQ(program.wait(), own_status);
  EXPECT_FALSE(relay.offer(SIGTERM));
}

}  // namespace
}  // namespace zksh
