// Help: the order in which commands are shown, and what other shells call them.
#include "command/help.h"

#include "base/text.h"
#include "config/settings.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace zksh {
namespace {

using testing::ElementsAre;

TEST(Help, BeginsWithWhatANewcomerNeeds) {
  const auto text = help_overview();
  const auto nodes = text.find("\nNodes\n");
  EXPECT_LT(text.find("create /demo"), nodes);
  EXPECT_LT(nodes, text.find("\nLocks\n"));
  EXPECT_LT(text.find("\nLocks\n"), text.find("\nSandbox\n"));
}

TEST(Help, ShowsEachCommandOnce) {
  std::size_t shown = 0;
  for (const auto& group : commands_in_groups()) shown += group.commands.size();
  EXPECT_EQ(shown, all_commands().size());
}

TEST(Help, WordsLeadSomewhere) {
  const auto found = [](std::string_view word) { return help_search(word, 200); };
  EXPECT_EQ(found("cons"), "  4lw  Send a four-letter word to every server\n");
  for (const auto& setting : Settings::descriptions())
    EXPECT_THAT(found(setting.name), testing::HasSubstr(fmt::format("conf {}", setting.name)));
  for (const auto* word : {"mirror", "migrate", "replicate", "txn", "log", "biggest", "digest",
                           "pager", "colour", "keys", "perm", "backups"})
    EXPECT_NE(found(word), "") << word;
  EXPECT_EQ(found("nonsense"), "");
}

TEST(Help, BreaksBetweenWords) {
  for (const std::size_t width : {40U, 60U, 78U})
    for (const auto& text : {help_overview(width), help_keys(width), help_search("backup", width),
                             help_of(*command_named("get"), width)})
      for (const auto line : lines_of(text)) EXPECT_LE(line.size(), width) << line;
}

TEST(Commands, OnlyThoseOfZkCliIgnoreSurplusWords) {
  // help, multi and repeat take any number of words; ls2 is zkCli 3.4's.
  const std::vector<std::string_view> exceptions{"help", "ls2", "multi", "repeat"};
  for (const auto* command : all_commands())
    EXPECT_TRUE(command->strict || command->zkcli_syntax ||
                std::ranges::count(exceptions, command->name) > 0)
        << command->name;
}

TEST(SuggestedCommands, KnowsWhatOthersCallThem) {
  EXPECT_THAT(suggested_commands("mkdir"), ElementsAre("create"));
  EXPECT_THAT(suggested_commands("?"), ElementsAre("help"));
  EXPECT_THAT(suggested_commands("dir"), ElementsAre("ls")) << "and nothing that it resembles";
}

}  // namespace
}  // namespace zksh
