// ServerPoller: parsing answers in the format of ZooKeeper 3.8.0.
#include "ensemble/server_poller.h"

#include "client/four_letter_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::map<std::int64_t, std::string> addresses(std::string_view cons) {
  std::map<std::int64_t, std::string> all;
  for (const auto& connection : parse_connections(cons))
    all.emplace(connection.session, connection.address);
  return all;
}

TEST(ServerPoller, Cons) {
  EXPECT_THAT(
      addresses(
          " /10.0.0.7:37520[1](queued=0,recved=7,sent=7,sid=0x100002513350000,lop=PING,"
          "est=1795263443540,to=10000,lcxid=0x5)\n"
          " /[0:0:0:0:0:0:0:1]:37522[1](queued=0,recved=1,sent=1,sid=0xffff000000000001,lop=NA)\n"
          " /10.0.0.8:37524[0](queued=0,recved=1,sent=0)\n\n"),
      ElementsAre(Pair(static_cast<std::int64_t>(0xffff000000000001ULL), "[0:0:0:0:0:0:0:1]:37522"),
                  Pair(0x100002513350000, "10.0.0.7:37520")));
  EXPECT_THAT(addresses("nonsense\nsid=0x1\n](queued=/\n"), IsEmpty());
}

TEST(ServerPoller, DumpOfALeaderOrALoneServer) {
  EXPECT_THAT(parse_dump("SessionTracker dump:\nSession Sets (3)/(2):\n"
                         "0 expire at Sat Nov 21 12:17:34 UTC 2026:\n"
                         "2 expire at Sat Nov 21 12:17:38 UTC 2026:\n"
                         "\t0x200002513470000\n\t0x100002513350000\n"
                         "ephemeral nodes dump:\nSessions with Ephemerals (1):\n"
                         "0x300002513bb0000:\n\t/demo/x\nConnections dump:\n"),
              ElementsAre(0x100002513350000, 0x200002513470000))
      << "the owner of an ephemeral need not be alive";
}

TEST(ServerPoller, WhenSessionsExpire) {
  EXPECT_THAT(parse_expiries("SessionTracker dump:\nSession Sets (3)/(2):\n"
                             "0 expire at Sat Nov 21 12:17:34 UTC 2026:\n"
                             "1 expire at Sat Nov 21 12:17:38 UTC 2026:\n\t0x200002513470000\n"
                             "1 expire at 4711 ms of the server's own clock:\n\t0x5\n"
                             "ephemeral nodes dump:\nSessions with Ephemerals (1):\n"
                             "0x300002513bb0000:\n\t/demo/x\n"),
              ElementsAre(Pair(0x200002513470000, "12:17:38 UTC")));
}

TEST(ServerPoller, DumpOfAFollower) {
  EXPECT_THAT(parse_dump("SessionTracker dump:\nGlobal Sessions(2):\n"
                         "0x100002513350000\t10000ms\n0x200002513470000\t4000ms\n"
                         "ephemeral nodes dump:\nSessions with Ephemerals (0):\n"),
              ElementsAre(0x100002513350000, 0x200002513470000));
}

TEST(ServerPoller, Wchp) {
  EXPECT_THAT(parse_wchp("/demo/a\n\t0x1\n\t0x2\n/demo/b\n\t0x3\n\n"),
              ElementsAre(Pair("/demo/a", ElementsAre(1, 2)), Pair("/demo/b", ElementsAre(3))));
  EXPECT_THAT(parse_wchp("\n"), IsEmpty());
  EXPECT_THAT(parse_wchp("\t0x1\n"), IsEmpty());
}

TEST(ServerPoller, Refusals) {
  EXPECT_TRUE(is_refusal("cons is not executed because it is not in the whitelist.\n"));
  EXPECT_FALSE(is_refusal(" /10.0.0.7:37520[1](queued=0)\n"));
}

TEST(ServerPoller, FieldsOfMntr) {
  EXPECT_EQ(answer_field("zk_version\t3.8.0\nzk_sum_node_deleted_watch_count\t12\n",
                         "zk_sum_node_deleted_watch_count"),
            "12");
}

TEST(ServerPoller, AStopEndsTheQuestions) {
  std::stop_source source;
  ServerPoller words("127.0.0.1:1", "off", source.get_token());
  EXPECT_NO_THROW(words.ask({.sessions = true}, std::nullopt));
  source.request_stop();
  ServerPoller stopped("127.0.0.1:1", "off", source.get_token());
  EXPECT_THROW(stopped.ask({.sessions = true}, std::nullopt), Cancelled);
}

TEST(ServerPoller, SilentServersCostLittleAndOnce) {
  // Port 1 refuses the connection; nothing is told.
  ServerPoller words("127.0.0.1:1,127.0.0.1:1/root", "off", {});
  EXPECT_EQ(words.chroot(), "/root");
  const auto account =
      words.ask({.sessions = true, .watches = true, .watchers = true}, std::nullopt);
  EXPECT_THAT(account.addresses, IsEmpty());
  EXPECT_FALSE(account.all_addresses);
  EXPECT_EQ(account.watchers, std::nullopt);
  EXPECT_EQ(account.watches, std::nullopt);
  EXPECT_EQ(account.no_watchers, "127.0.0.1:1 does not answer");
}

}  // namespace
}  // namespace zksh
