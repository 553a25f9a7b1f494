// line_hint: the hint after the line being typed.
#include "shell/typed_line.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(SyntaxAhead, WhatIsStillToCome) {
  EXPECT_EQ(syntax_ahead("set"), " [-s] [-v version] [--if-value value] [-b] [--null] path [data]");
  EXPECT_EQ(syntax_ahead("set "), "[-s] [-v version] [--if-value value] [-b] [--null] path [data]");
  EXPECT_EQ(syntax_ahead("set -s"), " [-v version] [--if-value value] [-b] [--null] path [data]");
  EXPECT_EQ(syntax_ahead("set -sv "), "version [--if-value value] [-b] [--null] path [data]");
  EXPECT_EQ(syntax_ahead("set -v 3 "), "[-s] [--if-value value] [-b] [--null] path [data]");
  EXPECT_EQ(syntax_ahead("set /a"), " [data]");
  EXPECT_EQ(syntax_ahead("set '/a b"), " [data]");
  EXPECT_EQ(syntax_ahead("set '-s' "), "[data]");
  EXPECT_EQ(syntax_ahead("set /a x"), "");
  EXPECT_EQ(syntax_ahead("set /a x "), "");
}

TEST(SyntaxAhead, BehindAnOperatorAFileOrAProgram) {
  EXPECT_EQ(syntax_ahead("get /a 2>"), " file");
  EXPECT_EQ(syntax_ahead("set /a >> "), "file");
  EXPECT_EQ(syntax_ahead("get /a 2>&1 |"), " program");
  for (const char* line : {"set /a > f", "set /a 2>&1", "set 2>&1 ", "set 2>e ", "get | cat"})
    EXPECT_EQ(syntax_ahead(line), "") << line;
}

TEST(SyntaxAhead, OfManyOptionsNoneIsNamed) {
  EXPECT_EQ(syntax_ahead("lock "), "[option…] path [program [argument…]]");
  EXPECT_EQ(syntax_ahead("lock /a "), "[program [argument…]]");
  EXPECT_EQ(syntax_ahead("lock /a date "), "");
  EXPECT_EQ(syntax_ahead("lock /a -- "), "");
}

TEST(SyntaxAhead, NothingWhereNothingIsKnown) {
  for (const char* line : {"", "  ", "nonesuch ", "# get", "get -", "get \"/a\""})
    EXPECT_EQ(syntax_ahead(line), "") << line;
}

TEST(SyntaxAhead, AnotherOfSeveral) {
  EXPECT_EQ(syntax_ahead("delete /a "), "[path…]");
  EXPECT_EQ(syntax_ahead("multilock /a"), " [path…] [-- program [argument…]]");
}

TEST(LineHint, TheSyntaxUntilAnArgumentIsTyped) {
  EXPECT_FALSE(line_hint("get ", "/app").takeable);
  EXPECT_EQ(line_hint("get /a", "pp").text, "pp");
  EXPECT_TRUE(line_hint("get /a", "pp").takeable);
}

TEST(LineHint, OfTheLastCommand) {
  EXPECT_EQ(line_hint("ls /; set /a", "").text, " [data]");
  EXPECT_EQ(line_hint("ls /\nset /a", "").text, " [data]");
}

TEST(LineHint, TheHistoryWhereTheSyntaxSaysNothing) {
  EXPECT_EQ(line_hint("ge", "t /app").text, "t /app");
  EXPECT_EQ(line_hint("quit", " now").text, " now");
  EXPECT_EQ(line_hint("set /a", "").text, " [data]");
}

}  // namespace
}  // namespace zksh
