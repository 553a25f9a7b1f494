// draw_contention: the signs in each column, and the width of lines.
#include "base/text.h"
#include "lock/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Clock::time_point drawn_at(int ms) { return Clock::time_point(1h + std::chrono::milliseconds(ms)); }

ContenderTurn drawn_turn(std::size_t contender, int asked, int acquired, int releasing) {
  return {.contender = contender,
          .asked = drawn_at(asked),
          .acquired = drawn_at(acquired),
          .releasing = drawn_at(releasing),
          .released = drawn_at(releasing)};
}

ContentionResult result(std::vector<ContenderTurn> turns, int ended) {
  return {.turns = std::move(turns),
          .began = drawn_at(0),
          .ended = drawn_at(ended),
          .events = {},
          .failure = {}};
}

TEST(ContentionDrawing, WaitsAndHoldsAreWhereTheyWere) {
  const auto lines = draw_contention(result({drawn_turn(0, 0, 0, 9), drawn_turn(1, 0, 10, 19)}, 20),
                                     2, {.columns = 24, .rows = 10, .ascii = true});
  EXPECT_THAT(lines, ElementsAre("#1 ##########",            //
                                 "#2 ----------##########",  //
                                 "   0               20ms",  //
                                 "   - waits   # holds"));
}

TEST(ContentionDrawing, UtfEightHasBlocks) {
  const auto lines = draw_contention(result({drawn_turn(0, 0, 10, 19)}, 20), 1, {.columns = 24});
  EXPECT_EQ(lines[0], "#1 ··········██████████");
  EXPECT_EQ(lines[2], "   · waits   █ holds");
}

TEST(ContentionDrawing, AHoldIsSeenHoweverShort) {
  const auto lines = draw_contention(result({drawn_turn(0, 0, 500, 500)}, 1000), 1,
                                     {.columns = 14, .rows = 10, .ascii = true});
  EXPECT_EQ(lines[0], "#1 -----#");
}

TEST(ContentionDrawing, ReadersAndLossesHaveSignsOfTheirOwn) {
  auto reader = drawn_turn(0, 0, 2, 9);
  reader.mode = LockMode::Shared;
  auto loser = drawn_turn(1, 0, 2, 5);
  loser.lost = true;
  const auto lines =
      draw_contention(result({reader, loser}, 10), 2, {.columns = 14, .rows = 10, .ascii = true});
  EXPECT_EQ(lines[0], "#1 --========");
  EXPECT_EQ(lines[1], "#2 --###!");
  EXPECT_EQ(lines[3], "   - waits   # holds   = reads   ! lost");
}

TEST(ContentionDrawing, OneThatGaveUpWaitedUntilTheEnd) {
  const ContenderTurn waiting{.contender = 0, .asked = drawn_at(5)};
  const auto lines =
      draw_contention(result({waiting}, 10), 1, {.columns = 14, .rows = 10, .ascii = true});
  EXPECT_EQ(lines[0], "#1      -----");
}

TEST(ContentionDrawing, OfManyTheFirstTheLastAndSomeBetweenAreDrawn) {
  std::vector<ContenderTurn> turns;
  turns.reserve(1000);
  for (int i = 0; i < 1000; ++i) turns.push_back(drawn_turn(static_cast<std::size_t>(i), 0, i, i));
  const auto lines = draw_contention(result(turns, 1000), 1000, {.columns = 80, .rows = 5});
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0].substr(0, 5), "   #1");
  EXPECT_EQ(lines[1].substr(0, 5), " #250");
  EXPECT_EQ(lines[4].substr(0, 5), "#1000");
  EXPECT_NE(lines[6].find("(5 of 1000 are drawn)"), std::string::npos);
}

TEST(ContentionDrawing, NoLineIsWiderThanTheTerminal) {
  std::vector<ContenderTurn> turns;
  turns.reserve(12);
  for (int i = 0; i < 12; ++i) turns.push_back(drawn_turn(static_cast<std::size_t>(i), 0, i, 1000));
  for (const std::size_t columns : {40U, 80U, 133U}) {
    const auto lines = draw_contention(result(turns, 1000), 12, {.columns = columns});
    const auto widest = std::ranges::max(lines, {}, [](const auto& l) { return text_width(l); });
    EXPECT_LT(text_width(widest), columns);
  }
}

}  // namespace
}  // namespace zksh
