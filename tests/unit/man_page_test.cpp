// man_page: text that roff shows verbatim.
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

TEST(ManPage, IndentedLinesAreShownAsTheyAre) {
  EXPECT_EQ(man_page("As in:\n    ls -R 'x'\n      .y\nThen\n.SH B\n    z\n.SH C\n", {}),
            "As in:\n.PP\n.RS 4\n.nf\nls \\-R \\(aqx\\(aq\n  .y\n.fi\n.RE\n.PP\nThen\n"
            ".SH B\n.RS 4\n.nf\nz\n.fi\n.RE\n.SH C\n");
}

}  // namespace
}  // namespace zksh
