// LockPicture: the output for people and programs, and what is left out for lack of room.
#include "lock/picture.h"

#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace zksh {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ResultOf;
using testing::SizeIs;

/// A queue of contenders; `behind` has the number of the one that each waits for, 0 for none.
LockView view_of(const std::vector<std::size_t>& behind) {
  LockView view;
  view.path = "/demo";
  view.kind = "exclusive";
  view.counter = 5;
  for (const auto before : behind) {
    auto& seat = view.seats.emplace_back();
    seat.number = view.seats.size();
    seat.contender = make_lock_queue({fmt::format("_c_{}-lock-{:010}", fresh_guid(), seat.number)})
                         .contenders.front();
    seat.state = before == 0 ? SeatState::Holds : SeatState::Waits;
    if (before > 0) seat.waits_for = seat.watches = before;
    seat.made_by = Library::Zksh;
    seat.owner = "host=db1 pid=4711 user=ops cmd=\"nightly.sh\" via=zksh/0.1.0";
    seat.session = 0x100002513350000 + static_cast<std::int64_t>(seat.number);
    seat.address = fmt::format("10.11.12.{}:41234", 100 + seat.number % 100);
    seat.connected = true;
    seat.created = 1000;
    seat.token = 4294967300 + static_cast<std::int64_t>(seat.number);
  }
  for (const auto& seat : view.seats)
    if (seat.waits_for) view.seats[*seat.waits_for - 1].watched_by.push_back(seat.number);
  return view;
}

std::vector<std::size_t> queue_of(std::size_t count) {
  std::vector<std::size_t> behind(count);
  for (std::size_t i = 0; i < count; ++i) behind[i] = i;
  return behind;
}

std::string picture(const LockView& view, std::size_t columns) {
  return fmt::format("{}\n",
                     fmt::join(lock_picture(view, {.columns = columns, .now = 3100}), "\n"));
}

TEST(LockPicture, SaysWhenTheSessionOfAClientThatIsGoneExpires) {
  auto view = view_of({0, 1});
  auto& holder = view.seats.front();
  holder.connected = false;
  holder.alive = true;
  holder.expires = "12:00:23 CET";  // as servers in another zone would write 00:00:23 of 1970
  EXPECT_THAT(picture(view, 200),
              HasSubstr("#1: its client is gone; its session expires in 20s (at 12:00:23 CET)\n"));
  holder.expires = "12:14:23 CET";
  EXPECT_THAT(picture(view, 200), HasSubstr("its session expires at 12:14:23 CET\n"));
  holder.alive = false;
  EXPECT_THAT(picture(view, 200), Not(HasSubstr("expires")));
}

TEST(LockPicture, HasEverythingWhereThereIsRoom) {
  const auto text = picture(view_of(queue_of(2)), 0);
  EXPECT_EQ(text,
            "/demo  exclusive  2 contenders\n"
            "#  state  mode  owner                    address             session             age"
            "       token  behind  should watch it\n"
            "1  HOLDS  excl  ops@db1 4711 nightly.sh  10.11.12.101:41234  0x100002513350001  2.1s"
            "  4294967301  -       #2\n"
            "2  waits  excl  ops@db1 4711 nightly.sh  10.11.12.102:41234  0x100002513350002  2.1s"
            "  4294967302  #1      -\n"
            "#1 ◄ #2\n");
}

TEST(LockPicture, TheHerdLooksLikeOne) {
  auto view = view_of(queue_of(4));
  view.measured = true;
  for (auto& seat : view.seats) {
    seat.watches.reset();
    seat.watched_by.clear();
  }
  const auto text = picture(view, 0);
  EXPECT_THAT(text, HasSubstr("#1 ◄ {#2 #3 #4}\n"));
  EXPECT_THAT(text, HasSubstr("  list?   -\n"));
  EXPECT_THAT(text, HasSubstr("list?: watches no contender's node"));
}

TEST(LockPicture, WhatNoServerReportsIsMarked) {
  auto view = view_of(queue_of(3));
  view.measured = true;
  view.seats[1].watch_unknown = true;
  view.seats[1].watches.reset();
  view.seats[0].watched_by.clear();
  const auto text = picture(view, 0);
  EXPECT_THAT(text, HasSubstr("  #1?     #3\n"));
  EXPECT_THAT(text, HasSubstr("#1 ◄ #2 ◄ #3\n"));
  EXPECT_THAT(text, HasSubstr("\n?: should watch it; "));
}

TEST(LockPicture, NobodyWatchesForANodeWithoutASession) {
  auto view = view_of(queue_of(4));
  view.measured = true;
  for (const std::size_t i : {1U, 2U}) {
    view.seats[i].watches.reset();
    view.seats[i - 1].watched_by.clear();
  }
  view.seats[1].session = 0;
  view.seats[2].alive = false;
  const auto text = picture(view, 0);
  EXPECT_THAT(text, Not(HasSubstr("list?")));
  EXPECT_THAT(text, HasSubstr("#3 ◄ #4\n"));
}

TEST(LockPicture, FitsAnyWidthAndKeepsWhatMatters) {
  for (std::size_t columns = 30; columns <= 200; ++columns) {
    const auto lines = lock_picture(view_of(queue_of(12)), {.columns = columns, .now = 5000});
    for (const auto& line : lines) EXPECT_LE(text_width(line), columns) << line;
    const auto row = *std::ranges::find_if(
        lines, [](const std::string& line) { return line.starts_with("11"); });
    for (const auto* part : {"11  waits", "ops", "#10"})
      EXPECT_THAT(row, HasSubstr(part)) << columns;
  }
}

TEST(LockPicture, EightyColumns) {
  const auto text = picture(view_of(queue_of(2)), 80);
  EXPECT_THAT(text, HasSubstr("#  state  mode  owner            address       session   age"
                              "       token  behind\n"));
  EXPECT_THAT(text, HasSubstr("2  waits  excl  ops@db1 4711 n…  10.11.12.102  …0002    2.1s"
                              "  4294967302  #1\n"));
}

TEST(LockPicture, TellsWhatOnlyServersKnowWhenTheyDo) {
  auto view = view_of(queue_of(2));
  for (auto& seat : view.seats) {
    seat.address.clear();
    seat.connected.reset();
  }
  EXPECT_THAT(picture(view, 0), Not(HasSubstr("address")));
  view.seats[0].address = "10.0.0.1:5";
  view.seats[0].connected = true;
  view.seats[1].connected = false;
  EXPECT_THAT(picture(view, 0), HasSubstr("(none)"));
  view.measured = true;
  EXPECT_THAT(picture(view, 0), HasSubstr("watched by\n"));
}

TEST(LockPicture, HostileBytesAreEscaped) {
  auto view = view_of(queue_of(1));
  view.path = "/a\x1b[2J";
  view.seats[0].owner = "evil\x1b]0;title\a\n\xff";
  view.others = {"\x1b[31m"};
  view.flaws = {"about \x1b[1m"};
  view.seats[0].address = "\x1b[5m";
  for (const std::size_t columns : {0U, 80U, 40U})
    for (const auto& line : lock_picture(view, {.columns = columns}))
      EXPECT_TRUE(std::ranges::none_of(line, [](unsigned char c) {
        return c < 0x20 || c == 0x7f || c == 0xff;
      })) << line;
  for (const auto& line : plain_lock(view))
    EXPECT_EQ(std::ranges::count(line, '\t'), 11) << "no field has a tab: " << line;
}

TEST(LockPicture, AnOwnerMaySayAMegabyte) {
  auto view = view_of(queue_of(3));
  view.seats[1].owner = std::string(1U << 20U, 'x');
  EXPECT_LT(picture(view, 0).size(), 1000U);
  view.seats[1].owner.reset();
  EXPECT_THAT(picture(view, 0), HasSubstr("2  waits  excl  - "));
}

TEST(LockPicture, FitsAScreen) {
  auto view = view_of(queue_of(1000));
  view.flaws = std::vector<std::string>(20, "something is wrong");
  for (std::size_t rows = 5; rows < 60; ++rows) {
    const auto lines = lock_picture(view, {.columns = 80, .lines = rows});
    EXPECT_LE(lines.size(), rows);
    EXPECT_THAT(lines, testing::Contains(HasSubstr(" more"))) << rows;
    EXPECT_THAT(lines, testing::Contains(testing::StartsWith("   1  HOLDS"))) << rows;
  }
  EXPECT_THAT(lock_picture(view_of(queue_of(1000)), {.columns = 80}), SizeIs(testing::Ge(1002)));
}

TEST(LockPicture, WithoutUtf8ThereIsAsciiAlone) {
  auto view = view_of(queue_of(40));
  view.flaws = {"kazoo contender 4268e3cb…__lock__0000000007 cannot see this lock"};
  EXPECT_THAT(lock_picture(view, {.columns = 80, .ascii = true}),
              Each(ResultOf(
                  [](const std::string& line) {
                    return std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });
                  },
                  true)));
}

TEST(LockPicture, WhatChanged) {
  auto view = view_of(queue_of(1));
  view.changes = {.since = 1000, .left = 3, .events = ServersAccount::Events{4, 0}};
  EXPECT_THAT(lock_picture(view, {.now = 5000}),
              testing::Contains(HasSubstr("3 contenders have left the queue; watch events:")));
}

std::vector<std::string> chains(const std::vector<std::size_t>& behind) {
  return lock_chains(view_of(behind), {});
}

TEST(LockChains, AQueueIsOneChain) {
  EXPECT_THAT(chains({0, 1, 2}), ElementsAre("#1 ◄ #2 ◄ #3"));
  EXPECT_THAT(chains({0}), IsEmpty());
  EXPECT_THAT(chains({}), IsEmpty());
}

TEST(LockChains, ReadersStandTogether) {
  EXPECT_THAT(chains({0, 0, 2, 3, 3, 5}), ElementsAre("{#1 #2} ◄ #3 ◄ {#4 #5} ◄ #6"));
  EXPECT_THAT(chains({0, 1, 1, 1, 1, 1}), ElementsAre("#1 ◄ {#2 … #6}"));
}

TEST(LockChains, WhoSeesNobodyBeforeItHasItsOwn) {
  auto view = view_of({0, 1, 0, 3, 0});
  view.seats[2].state = SeatState::MayHold;
  view.seats[4].state = SeatState::MayHold;
  EXPECT_THAT(lock_chains(view, {}), ElementsAre("#1 ◄ #2", "#3 ◄ #4"));
}

TEST(LockChains, OfASemaphoreTheFirstWaitsForAnyLease) {
  auto view = view_of({0, 0, 0, 3});
  view.seats[2].state = SeatState::Next;
  EXPECT_THAT(lock_chains(view, {}), ElementsAre("{#1 #2} ◄ #3 ◄ #4"));
}

TEST(LockChains, ALongOneLosesItsMiddle) {
  const auto lines = lock_chains(view_of(queue_of(1000)), {.columns = 40});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_LE(text_width(lines[0]), 40U);
  EXPECT_THAT(lines[0], testing::StartsWith("#1 ◄ #2 ◄ "));
  EXPECT_THAT(lines[0], testing::EndsWith(" ◄ … ◄ #1000"));
}

TEST(LockJson, SaysAllOfEachContender) {
  auto view = view_of({0, 1});
  view.seats[1].owner = "\xff\x01";
  view.seats[1].address.clear();
  view.seats[0].owner.reset();
  const auto text = lock_json(view, {.now = 3100}).text();
  const auto& second = view.seats[1];
  EXPECT_THAT(text, testing::StartsWith(
                        "{\"path\":\"/demo\",\"kind\":\"exclusive\",\"limit\":null,\"counter\":5,"
                        "\"contenders\":[{\"number\":1,\"state\":\"holds\",\"mode\":\"exclusive\","
                        "\"library\":\"zksh\",\"contenderNodes\":["));
  EXPECT_THAT(text, HasSubstr("\"owner\":null"));
  EXPECT_THAT(text,
              HasSubstr(fmt::format(
                  "{{\"number\":2,\"state\":\"waits\",\"mode\":\"exclusive\",\"library\":\"zksh\","
                  "\"contenderNodes\":"
                  "[\"{}\"],\"owner\":{{\"base64\":\"/wE=\"}},\"ownerLength\":0,"
                  "\"session\":\"0x100002513350002\",\"sessionAlive\":null,\"connected\":true,"
                  "\"client\":null,\"ctime\":1000,\"ctimeIso\":\"1970-01-01T00:00:01.000Z\","
                  "\"ageMs\":2100,\"token\":\"0x100000006\",\"waitsFor\":1,"
                  "\"watchedBy\":[],\"otherWatchers\":0,\"askedToRelease\":false}}",
                  second.contender.nodes.front().text)));
  EXPECT_THAT(
      text, testing::EndsWith("\"otherNodes\":[],\"warnings\":[],\"circles\":[],\"watcherSource\":"
                              "\"inferred\",\"serverWatches\":null,\"time\":3100,"
                              "\"timeIso\":\"1970-01-01T00:00:03.100Z\","
                              "\"changes\":null}"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(TextWidth, CountsColumns) {
  EXPECT_EQ(text_width("abc"), 3U);
  EXPECT_EQ(text_width("é◄"), 2U);
  EXPECT_EQ(text_width("日本"), 4U);
  EXPECT_EQ(text_width("e\xcc\x81"), 1U) << "a combining accent";
  EXPECT_EQ(text_width("\xff\xfe"), 2U);
}

TEST(TextWidth, CutsBetweenCharacters) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdef", 5), "abcd…");
  EXPECT_EQ(cut_to_width("日本語", 5), "日本…");
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");
  EXPECT_EQ(cut_to_width("abcdef", 5, "..."), "ab...");
  EXPECT_EQ(cut_to_width("abcdef", 0), "");
  EXPECT_LT(cut_to_width("a" + std::string(1U << 20U, '\xcc'), 5).size(), 20U);
}

}  // namespace
}  // namespace zksh
