// SessionSurvey: parsing what servers report about sessions, including broken and hostile answers.
#include "ensemble/server_poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST(SessionSurvey, Connections) {
  const auto all = parse_connections(
      " /10.0.0.7:37520[1](queued=0,recved=7,sent=7,sid=0x100002513350000,lop=PING,"
      "est=1795263443540,to=10000,lcxid=0x5,lzxid=0xffff,lresp=1,llat=0)\n"
      " /[0:0:0:0:0:0:0:1]:37522[1](queued=0,recved=1,sent=1,sid=0x2,lop=NA,est=x,to=99999999999999"
      "999999)\n"
      " /10.0.0.8:37524[0](queued=0,recved=1,sent=0)\n\n");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].session, 0x100002513350000);
  EXPECT_EQ(all[0].address, "10.0.0.7:37520");
  EXPECT_EQ(all[0].timeout, 10000);
  EXPECT_EQ(all[0].since, 1795263443540);
  EXPECT_EQ(all[0].last_request, "PING");
  EXPECT_EQ(all[1].address, "[0:0:0:0:0:0:0:1]:37522");
  EXPECT_EQ(all[1].timeout, std::nullopt);
  EXPECT_EQ(all[1].since, std::nullopt);
}

TEST(SessionSurvey, BrokenConnections) {
  for (const std::string text :
       {"", "\n", "/", "](queued=", "[](queued=sid=0x1", " /a[1](queued=0,sid=0x", "sid=0x1",
        " /a[1](queued=0,sid=1)", "\xff\xfe\x1b]0;(queued=0,sid=0x1)",
        " /10.0.0.7:1[1](queued=0,si"})
    EXPECT_THAT(parse_connections(text), IsEmpty()) << text;
  EXPECT_THAT(parse_connections(" /\x1b[2J:1[1](queued=0,sid=0x7,lop=\x1b]0;x)"), SizeIs(1))
      << "it is shown escaped";
}

TEST(SessionSurvey, Ephemerals) {
  EXPECT_THAT(
      parse_ephemerals("SessionTracker dump:\n\t0x7\nephemeral nodes dump:\n"
                       "Sessions with Ephemerals (2):\n0x1:\n\t/a\n\t/b\n0x2:\n\t/c d\n"
                       "Connections dump:\n1 expire at x:\n\tip: /1.2.3.4 sessionId: 0x5\n"),
      ElementsAre(Pair(1, ElementsAre("/a", "/b")), Pair(2, ElementsAre("/c d"))));
  EXPECT_THAT(parse_ephemerals("0x1:\n\t/a\n"), IsEmpty()) << "the heading is missing";
  EXPECT_THAT(parse_ephemerals("ephemeral nodes dump:\n\t/a\n0x1:\n/b\n\t/c"),
              ElementsAre(Pair(1, IsEmpty())))
      << "paths have an owner above them";
}

TEST(SessionSurvey, Wchc) {
  EXPECT_THAT(
      parse_wchc("0xffff000000000001\n\t/a\n\t/b\n0x2\n\t/a\n\n"),
      ElementsAre(Pair(static_cast<std::int64_t>(0xffff000000000001ULL), ElementsAre("/a", "/b")),
                  Pair(2, ElementsAre("/a"))));
  for (const std::string text : {"", "\n", "\t/a", "0x\n\t/a", "x\n\t/a", "\xff\xfe\n\t/\x1b[2J"})
    EXPECT_THAT(parse_wchc(text), IsEmpty()) << text;
  EXPECT_THAT(parse_wchc("0x1\n\t/cut of"), ElementsAre(Pair(1, ElementsAre("/cut of"))));
}

TEST(SessionSurvey, MillionsOfWatchesAreReadQuickly) {
  std::string text = "0x1\n";
  for (int i = 0; i < 300'000; ++i)
    text += "\t/services/of/some/length/node-" + std::to_string(i) + '\n';
  EXPECT_THAT(parse_wchc(text).at(1), SizeIs(300'000));
}

}  // namespace
}  // namespace zksh
