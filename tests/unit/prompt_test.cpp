// Prompt: each letter, and what is left out if empty.
#include "shell/prompt.h"

#include "config/settings.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

std::string usual() { return std::string(Settings::find("prompt")->initial); }

PromptFacts facts() {
  return {.server = "zk1:2181", .state = "CONNECTED", .number = 3, .node = "/"};
}

TEST(Prompt, IsZkClisWhenThereIsNothingElseToSay) {
  EXPECT_EQ(prompt_text(usual(), facts(), false), "[zk: zk1:2181(CONNECTED) 3] ");
  auto several = facts();
  several.server = "zk1:2181,zk2:2181,zk3:2181/app";
  EXPECT_EQ(prompt_text("%s>", several, false), "zk1:2181,+2/app>");
}

TEST(Prompt, TellsNodeProfileLocksAndStatus) {
  auto all = facts();
  all.node = "/app/jobs";
  all.profile = "prod";
  all.locks = "locked /demo";
  all.status = 4;
  EXPECT_EQ(prompt_text(usual(), all, false),
            "[zk: zk1:2181(CONNECTED) 3 /app/jobs prod locked /demo !4] ");
}

TEST(Prompt, LongPathsLeaveRoomToType) {
  auto deep = facts();
  deep.node = "/services/region-eu-west-1/payments/instances/0000000042";
  EXPECT_EQ(prompt_text("%d>", deep, false), " /services/region-eu…instances/0000000042>");
  deep.ascii = true;
  EXPECT_EQ(prompt_text("%d>", deep, false), " /services/region-e...nstances/0000000042>");
  deep.locks = "locked /services/region-eu-west-1/payments/lock-1";
  EXPECT_EQ(prompt_text("%l>", deep, false), " locked /services/r...t-1/payments/lock-1>");
}

TEST(Prompt, ADangerousProfileIsRedWhereThereAreColours) {
  auto red = facts();
  red.profile = "prod";
  EXPECT_EQ(prompt_text("%p>", red, true), " prod>");
  red.dangerous = true;
  EXPECT_EQ(prompt_text("%p>", red, true), " \033[1;31mprod\033[0m>");
  EXPECT_EQ(prompt_text("%p>", red, false), " prod>");
}

TEST(Prompt, AnInterruptedCommandIsNotTold) {
  auto interrupted = facts();
  interrupted.status = 130;
  EXPECT_EQ(prompt_text("%n%?>", interrupted, false), "3>");
}

TEST(Prompt, PercentAndUnknownLettersStandForThemselves) {
  EXPECT_EQ(prompt_text("100%% %x %", facts(), false), "100% %x ");
}

TEST(Prompt, SendsNoControlCodesOfOthers) {
  auto hostile = facts();
  hostile.node = "/a\033]0;owned\a";
  EXPECT_EQ(prompt_text("%d\033>", hostile, false), " /a\\x1b]0;owned\\x07\\x1b>");
}

}  // namespace
}  // namespace zksh
