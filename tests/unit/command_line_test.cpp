// A command line: what is the command's, and where its results go.
#include "shell/command_line.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace zksh {
namespace {

using Kind = RedirectTo::Kind;

RedirectTo target_of(std::string_view line) { return parse_command_line(line, true).to; }

std::string refusal(std::string_view line) {
  try {
    parse_command_line(line, true);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(CommandLine, TheRestOfTheLineIsTheProgramsAsItWasTyped) {
  const auto line = parse_command_line("ls  /a | grep  \"x y\"|wc -l > f", true);
  EXPECT_EQ(line.words.size(), 2U);
  EXPECT_EQ(line.to, (RedirectTo{Kind::Program, "grep  \"x y\"|wc -l > f"}));
}

TEST(CommandLine, AFileIsOneWord) {
  EXPECT_EQ(target_of("ls / > f"), (RedirectTo{Kind::File, "f"}));
  EXPECT_EQ(target_of("ls / >> 'my file'"), (RedirectTo{Kind::Append, "my file"}));
  setenv("HOME", "/home/ann", 1);
  EXPECT_EQ(target_of("ls / > ~/f").target, "/home/ann/f");
  EXPECT_EQ(target_of("ls / > '~/f'").target, "~/f");
  EXPECT_NE(refusal("ls / > f g").find("\"g\" is left over"), std::string::npos);
}

TEST(CommandLine, OnlyUnquotedWordsOfTheirOwnAreSigns) {
  for (const auto* line :
       {"set /a '>'", "set /a \"|\" x", "set /a a|b", "set /a >f", "set /a $'>>'"})
    EXPECT_FALSE(target_of(line)) << line;
  EXPECT_FALSE(parse_command_line("ls / | cat", false).to);
  EXPECT_EQ(parse_command_line("ls / > f", false).words.size(), 4U);
  EXPECT_FALSE(target_of("# ls / > f"));
}

TEST(CommandLine, SaysWhatIsMissing) {
  EXPECT_EQ(refusal("| cat"), "a command is missing before |");
  EXPECT_EQ(refusal("ls / |"), "a program is missing behind | (as a value it wants quotes)");
  EXPECT_EQ(refusal("ls / >>"), "a file's name is missing behind >> (as a value it wants quotes)");
}

}  // namespace
}  // namespace zksh
