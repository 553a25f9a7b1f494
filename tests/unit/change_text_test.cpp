// ChangeText: changes formatted for people, pipes and programs.
#include "node/change_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

NodeChange changed(const Data& from, const Data& to) {
  NodeChange change{.path = "/a", .time = 1000};
  change.before = Stat{.mzxid = 5, .version = 1};
  change.after = Stat{.mzxid = 7, .version = 3, .data_length = 2};
  change.old_value = from;
  change.new_value = to;
  return change;
}

TEST(ChangeText, ALineForPeople) {
  EXPECT_THAT(change_line(changed("x", std::nullopt), true),
              EndsWith(" changed  /a  version 1 -> 3  \"x\" -> null"));
  EXPECT_THAT(change_line(changed("x", "y\x1b[2J"), false),
              EndsWith("  version 1 → 3  \"x\" → \"y\\x1b[2J\""));
}

TEST(ChangeText, ALongValueIsCutAndCounted) {
  const auto line = change_line(changed(std::string(3000, 'x'), ""), true);
  EXPECT_LT(line.size(), 300U);
  EXPECT_THAT(line, HasSubstr("...\" (3000 bytes) -> \"\""));
}

TEST(ChangeText, PlainFieldsStayFields) {
  NodeChange change = changed("a\tb\\", std::nullopt);
  change.path = "/a\nb";
  change.added = {"x,y", "-"};
  EXPECT_EQ(plain_change(change),
            "1000\tchanged\t/a\\nb\t0x7\t3\t0x0\t0\ta\\tb\\\\\t\\N\tx\\x2cy,\\x2d\t-");
}

TEST(ChangeText, PlainDeletion) {
  NodeChange change{.type = NodeChange::Type::Deleted, .path = "/a", .time = 1, .missed = true};
  change.before = Stat{.ephemeral_owner = 0x10};
  EXPECT_EQ(plain_change(change), "1\tdeleted\t/a\t-\t-\t0x10\t1\t-\t-\t-\t-");
}

TEST(ChangeText, JsonKeepsEveryByte) {
  EXPECT_EQ(
      change_json(changed("\xff", std::nullopt)).text(),
      R"({"time":1000,"timeIso":"1970-01-01T00:00:01.000Z","type":"changed","path":"/a","missed":false,"zxid":"0x7","version":3,)"
      R"("oldVersion":1,"ephemeralOwner":null,"dataLength":2,"old":{"base64":"/w=="},)"
      R"("new":null})");
}

TEST(ChangeText, JsonOfAGap) {
  EXPECT_EQ(
      change_json({.type = NodeChange::Type::Gap, .time = 9, .expired = true, .since = 4}).text(),
      R"({"time":9,"timeIso":"1970-01-01T00:00:00.009Z","type":"gap","reason":"expired",)"
      R"("since":4,"sinceIso":"1970-01-01T00:00:00.004Z"})");
}

TEST(ChangeText, WhatDoesNotFitTheEnvironmentIsEmpty) {
  const auto variables =
      change_environment(changed(std::string("a\0b", 3), std::string(longest_in_environment, 'x')));
  EXPECT_THAT(variables, Contains(Pair("ZKSH_EVENT_OLD", "")));
  EXPECT_THAT(variables,
              Contains(Pair("ZKSH_EVENT_NEW", std::string(longest_in_environment, 'x'))));
  EXPECT_THAT(change_environment(changed("", std::string(longest_in_environment + 1, 'x'))),
              Contains(Pair("ZKSH_EVENT_NEW", "")));
  EXPECT_THAT(variables, Contains(Pair("ZKSH_EVENT_TYPE", "changed")));
  EXPECT_THAT(variables, Not(Contains(Pair("ZKSH_EVENT_PATH", ""))));
}

}  // namespace
}  // namespace zksh
