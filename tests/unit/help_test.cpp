// Help: the order in which commands are shown, and what other shells call them.
#include "command/help.h"

#include "base/text.h"
#include "command/json_fields.h"
#include "config/settings.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

TEST(Help, NamesOtherFormsBesideWhatTheyStandFor) {
  const auto text = help_overview(200);
  EXPECT_THAT(text, testing::HasSubstr(" (also rlock, wlock)\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\n  rlock")));
}

TEST(Help, WordsLeadSomewhere) {
  const auto found = [](std::string_view word) { return help_search(word, 200); };
  EXPECT_EQ(found("cons"), "  4lw  Send a four-letter word to every server\n");
  for (const auto& setting : Settings::descriptions())
    EXPECT_THAT(found(setting.name), testing::HasSubstr(fmt::format("conf {}", setting.name)));
  for (const auto* word :
       {"mirror", "migrate", "replicate", "txn", "log", "biggest", "digest", "pager", "colour",
        "keys", "perm", "backups", "undelete", "certificate", "profile"})
    EXPECT_NE(found(word), "") << word;
  for (const auto& [word, command] :
       {std::pair("acl", "  setAcl"), std::pair("quota", "  setquota"),
        std::pair("auth", "  addauth"), std::pair("ephemeral", "  ephemerals"),
        std::pair("recover", "  txns")})
    EXPECT_THAT(found(word), testing::HasSubstr(command)) << word;
  EXPECT_EQ(found("nonsense"), "");
}

TEST(Help, BreaksBetweenWords) {
  for (const std::size_t width : {40U, 60U, 78U})
    for (const auto& text : {help_overview(width), help_keys(width), help_search("backup", width),
                             help_of(*command_named("get"), width)})
      for (const auto line : lines_of(text)) EXPECT_LE(text_width(line), width) << line;
}

TEST(Commands, AreInOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(all_commands(), {},
                                     [](const Command* command) { return command->name; }));
}

TEST(Commands, DescribeTheJsonFieldsThatTheyPrint) {
  const auto uses = [](std::string_view declared, std::string_view name) {
    for (const auto& shape : json_shapes(declared))
      for (const auto field : shape)
        if (field == name || field == fmt::format("[{}]", name)) return true;
    return false;
  };
  std::set<std::string_view> own;
  for (const auto* command : all_commands())
    for (const auto& field : command->json_fields) {
      EXPECT_TRUE(uses(command->json, field.name)) << command->name << ": " << field.name;
      EXPECT_TRUE(own.insert(field.name).second) << field.name << " is described twice";
    }
  const auto all = json_fields();
  for (const auto& field : all) {
    const auto in_object = [&](const auto& object) { return uses(object.fields, field.name); };
    const auto in_command = [&](const auto* command) { return uses(command->json, field.name); };
    EXPECT_TRUE(field.name == "base64" || std::ranges::any_of(json_objects(), in_object) ||
                std::ranges::any_of(all_commands(), in_command))
        << field.name << " is printed by nobody";
  }
}

TEST(SuggestedCommands, KnowsWhatOthersCallThem) {
  EXPECT_THAT(suggested_commands("mkdir"), ElementsAre("create"));
  EXPECT_THAT(suggested_commands("?"), ElementsAre("help"));
  EXPECT_THAT(suggested_commands("DIR"), ElementsAre("ls")) << "and nothing that it resembles";
  EXPECT_THAT(suggested_commands("acl"), ElementsAre("digest", "find", "getAcl", "setAcl"));
  EXPECT_THAT(suggested_commands("mntr"), ElementsAre("4lw mntr"));
  EXPECT_THAT(suggested_commands("session"), ElementsAre("help session")) << "they are many";
  EXPECT_THAT(suggested_commands("craete /a"), ElementsAre("create"));
}

TEST(SuggestedCommands, AnswerAQuestionWithHelp) {
  EXPECT_THAT(suggested_commands("how do I restore a backup"),
              ElementsAre("help restore", "help backup"));
}

}  // namespace
}  // namespace zksh
