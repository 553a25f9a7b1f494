// man_page: text as roff shows it, to the letter.
#include "shell/man_page.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(ManPage, WhatRoffWouldTakeForItsOwnIsEscaped) {
  EXPECT_EQ(roff("a\\n-b"), "a\\en\\-b");
  EXPECT_EQ(roff(".TH"), "\\&.TH");
  EXPECT_EQ(roff("a.b\n.c"), "a.b\n\\&.c");
  EXPECT_EQ(roff("'x' `y` ^ ~"), "\\(aqx\\(aq \\(gay\\(ga \\(ha \\(ti");
  EXPECT_EQ(roff("host…"), "host\\[u2026]");
}

TEST(ManPage, OnlyTheMarkedLinesOfTheFrameAreReplaced) {
  Argument flag;
  flag.kind = Argument::Kind::Flag;
  flag.names = {"-x", "--extra"};
  flag.help = "More.";
  EXPECT_EQ(man_page(".SH A\n@OPTIONS@\nx @OPTIONS@\n", {flag}),
            ".SH A\n.TP\n\\fB\\-x\\fR, \\fB\\-\\-extra\\fR\nMore.\nx @OPTIONS@\n");
}

}  // namespace
}  // namespace zksh
