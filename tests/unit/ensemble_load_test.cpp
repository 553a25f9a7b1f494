// EnsembleLoad: counters of two looks, those that were reset, and answers that are none.
#include "ensemble/ensemble_load.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

MemberAnswers member(const std::string& mntr, const std::string& cons = "\n", int port = 2181) {
  return {.address = {.host = "a", .port = port},
          .answers = {{.problem = "no answer"}, {.text = mntr}, {.text = cons}}};
}

std::string connection(int port, std::int64_t received, std::int64_t session) {
  return fmt::format(
      " /10.0.0.7:{}[1](queued=0,recved={},sent=5,sid=0x{:x},lop=GETD,est=1,to=9000)\n", port,
      received, session);
}

std::string figures(std::int64_t received, std::int64_t reads, std::int64_t time,
                    std::int64_t writes = 0) {
  return fmt::format(
      "zk_server_state\tleader\nzk_packets_received\t{}\nzk_cnt_readlatency\t{}\n"
      "zk_sum_readlatency\t{}\nzk_cnt_updatelatency\t0\nzk_sum_updatelatency\t0\n"
      "zk_cnt_a_b_write_per_namespace\t{}\n",
      received, reads, time, writes);
}

class Load : public testing::Test {
 protected:
  EnsembleLoad take(const std::vector<MemberAnswers>& members) {
    now += 2s;
    return meter.take(members, names, now);
  }
  LoadMeter meter;
  std::map<std::int64_t, std::string> names;
  Clock::time_point now{};
};

TEST_F(Load, TheFirstLookKnowsNoRates) {
  const auto load = take({member(figures(100, 10, 20, 5), connection(1, 50, 7))});
  EXPECT_EQ(load.interval, 0ms);
  EXPECT_FALSE(load.servers[0].requests);
  EXPECT_FALSE(load.clients[0].requests);
  EXPECT_THAT(load.nodes, IsEmpty());
}

TEST_F(Load, CountsWhatHappenedBetweenTwoLooks) {
  names[7] = "/workers/w1";
  take({member(figures(100, 10, 20, 5), connection(1, 50, 7))});
  const auto load =
      take({member(figures(130, 14, 26, 8), connection(1, 60, 7) + connection(2, 90, 8))});
  EXPECT_EQ(load.interval, 2s);
  EXPECT_EQ(load.servers[0].requests, 30);
  EXPECT_EQ(load.servers[0].latency_us, 1500) << "6 ms in 4 requests";
  EXPECT_EQ(load.servers[0].role, "leader");
  ASSERT_EQ(load.clients.size(), 2U);
  EXPECT_EQ(load.clients[0].session, 8) << "the busiest first; a new connection began at 0";
  EXPECT_EQ(load.clients[0].requests, 90);
  EXPECT_EQ(load.clients[1].requests, 10);
  EXPECT_EQ(load.clients[1].ephemeral, "/workers/w1");
  EXPECT_EQ(load.clients[1].last_request, "GETD");
  ASSERT_EQ(load.nodes.size(), 1U);
  EXPECT_EQ(load.nodes[0].path, "/a_b");
  EXPECT_EQ(load.nodes[0].writes, 3);
}

TEST_F(Load, CountersThatWentBackBeganAnew) {
  take({member(figures(100, 10, 20, 5), connection(1, 50, 7))});
  const auto load = take({member(figures(4, 2, 6, 1), connection(1, 3, 7))});
  EXPECT_EQ(load.servers[0].requests, 4);
  EXPECT_EQ(load.servers[0].latency_us, 3000);
  EXPECT_EQ(load.clients[0].requests, 3);
  EXPECT_EQ(load.nodes[0].writes, 1);
}

TEST_F(Load, WritesAreTheSameOnAllServers) {
  const auto at = [](std::int64_t writes, int port) {
    return member(
        figures(1, 0, 0, writes) + fmt::format("zk_cnt_a_b_read_per_namespace\t{}\n", writes), "\n",
        port);
  };
  take({at(1, 1), at(1, 2)});
  const auto load = take({at(5, 1), at(4, 2)});
  EXPECT_EQ(load.nodes[0].writes, 4);
  EXPECT_EQ(load.nodes[0].reads, 7);
}

TEST_F(Load, AServerThatWasSilentHasNoRateAtFirst) {
  auto silent = member("", "");
  for (auto& answer : silent.answers) answer.problem = "Connection refused";
  take({member(figures(100, 1, 1))});
  EXPECT_EQ(take({silent}).servers[0].problem, "Connection refused");
  EXPECT_FALSE(take({member(figures(900, 9, 9), connection(1, 5, 7))}).servers[0].requests);
  EXPECT_EQ(take({member(figures(901, 9, 9))}).servers[0].requests, 1);
}

TEST_F(Load, SrvrSaysWhatItHasWhereMntrIsNotAllowed) {
  const auto allows_srvr = [](int received) {
    auto answers = member("", "");
    for (auto& answer : answers.answers) answer.problem = "it is not in the whitelist";
    answers.answers[0] = {.text = fmt::format("Zookeeper version: 3.8.0-x\nLatency min/avg/max: "
                                              "0/0.25/9\nReceived: {}\nConnections: 3\n"
                                              "Mode: follower\n",
                                              received)};
    return answers;
  };
  take({allows_srvr(10)});
  const auto load = take({allows_srvr(17)}).servers[0];
  EXPECT_EQ(load.problem, "");
  EXPECT_EQ(load.role, "follower");
  EXPECT_EQ(load.requests, 7);
  EXPECT_EQ(load.latency_us, 250);
  EXPECT_EQ(load.connections, 3);
}

TEST_F(Load, GarbageIsMissing) {
  const std::string garbage =
      "zk_packets_received\t-5\nzk_cnt__write_per_namespace\t1\nzk_cnt_\xff_read_per_namespace\tx\n"
      "_write_per_namespace\t4\nzk_cnt_write_per_namespace\t4\n";
  take({member(garbage, "garbage")});
  const auto load = take({member(garbage, connection(1, -4, 7) + " /(recved=")});
  EXPECT_FALSE(load.servers[0].requests);
  EXPECT_THAT(load.nodes, IsEmpty());
  EXPECT_FALSE(load.clients[0].requests);
}

TEST(FirstEphemerals, OneForEachSession) {
  const ServerAnswer dump{.text =
                              "SessionTracker dump:\nephemeral nodes dump:\nSessions with "
                              "Ephemerals (2):\n0x7:\n\t/b\n\t/a\n0x8:\n\t/c\n"};
  EXPECT_THAT(first_ephemerals({dump, {}}), UnorderedElementsAre(Pair(7, "/a"), Pair(8, "/c")));
}

}  // namespace
}  // namespace zksh
