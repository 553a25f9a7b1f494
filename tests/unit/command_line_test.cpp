// CommandLine: the command's words, and where its results go.
#include "shell/command_line.h"

#include "base/words.h"
#include "failures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace zksh {
namespace {

using Kind = RedirectTo::Kind;

RedirectTo target_of(std::string_view line) { return parse_command_line(line, true).to; }

std::string refusal(std::string_view line) {
  return refusal_of<UsageError>([&] { parse_command_line(line, true); });
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
  EXPECT_NE(refusal("ls / > f g").find("unexpected \"g\" after the file name"), std::string::npos);
}

TEST(CommandLine, AQuotedWordIsNoOperatorOfAnyKind) {
  std::mt19937 random(11);  // NOLINT: the same in every run
  const std::string bytes = "|&><;\"'$\\#ax1{}@!~ \n\xff";
  const std::vector<std::string> arguments{"argument"};
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    for (auto length = random() % 6; length > 0; --length) text += bytes[random() % bytes.size()];
    const auto written = as_words({"get", text, "x"});
    ASSERT_EQ(typed_commands(written), std::vector{written});
    const auto line = parse_command_line(written, true, &arguments);
    ASSERT_FALSE(line.to) << written;
    ASSERT_EQ(line.words.size(), 3U) << written;
    ASSERT_EQ(line.words[1].text, text) << written;
  }
}

TEST(CommandLine, SignsNeedNoBlanks) {
  EXPECT_EQ(target_of("ls /big|wc -l"), (RedirectTo{Kind::Program, "wc -l"}));
  EXPECT_EQ(target_of("ls /app >out.txt"), (RedirectTo{Kind::File, "out.txt"}));
  EXPECT_EQ(target_of("ls /app>>'my out'"), (RedirectTo{Kind::Append, "my out"}));
  EXPECT_EQ(parse_command_line("ls /app>f", true).words.back().text, "/app");
}

TEST(CommandLine, SignsInQuotesAreNone) {
  for (const auto* line : {"set /a '>'", "set /a \"|\" x", "set /a $'>>'", "set /a {\"a\":\">|\"}",
                           "set /a '&&' '||' '<'"})
    EXPECT_FALSE(target_of(line)) << line;
  EXPECT_EQ(target_of("set /a it's>f"), (RedirectTo{Kind::File, "f"}));
  EXPECT_FALSE(parse_command_line("ls / | cat", false).to);
  EXPECT_EQ(parse_command_line("ls / > f", false).words.size(), 4U);
  EXPECT_FALSE(target_of("# ls / > f"));
}

TEST(CommandLine, SignsOfOtherShellsAreRefusedWithTheRemedy) {
  for (const auto* line : {"ls / && ls /a", "ls /&&ls /a"})
    EXPECT_NE(refusal(line).find("use ;, which stops after a failure"), std::string::npos);
  for (const auto* line : {"ls / || ls /a", "ls /||ls /a"})
    EXPECT_NE(refusal(line).find("zksh has no ||"), std::string::npos);
  for (const auto* line : {"set /a < f", "set /a <f"})
    EXPECT_NE(refusal(line).find("use @FILE as the value"), std::string::npos);
  EXPECT_EQ(refusal("ls / | grep a && echo b"), "");  // the program's shell handles it
}

TEST(CommandLine, ErrorsGoToAFileOrWhereTheResultsGo) {
  const auto errors_of = [](std::string_view line) {
    return parse_command_line(line, true).errors;
  };
  EXPECT_EQ(errors_of("rm 0 2>/dev/null"), (RedirectTo{Kind::File, "/dev/null"}));
  EXPECT_EQ(errors_of("rm 0 2>> 'my log'"), (RedirectTo{Kind::Append, "my log"}));
  for (const auto* line : {"ls /a 2>&1", "ls /a > f 2>&1", "ls /a >f 2>&1", "ls /a 2>&1 | cat"})
    EXPECT_EQ(errors_of(line).kind, Kind::Results) << line;
  for (const auto* line : {"rm 0 2>e >f", "rm 0 >f 2>e", "rm 0 1> f 2> e", "rm 0 2>e 1>f"}) {
    const auto parsed = parse_command_line(line, true);
    EXPECT_EQ(parsed.words.size(), 2U) << line;
    EXPECT_EQ(parsed.to, (RedirectTo{Kind::File, "f"})) << line;
    EXPECT_EQ(parsed.errors, (RedirectTo{Kind::File, "e"})) << line;
  }
  EXPECT_EQ(target_of("rm 0 2>e | cat 2>&1"), (RedirectTo{Kind::Program, "cat 2>&1"}));
  EXPECT_EQ(parse_command_line("set /c a2>f", true).words.back().text, "a2") << "as in sh";
  EXPECT_NE(refusal("ls / 2>&1 > f").find("write 2>&1 after > FILE"), std::string::npos);
  EXPECT_NE(refusal("ls / 2>&1 x").find("unexpected \"x\""), std::string::npos);
  EXPECT_NE(refusal("ls / > f | cat").find("results can go to one place"), std::string::npos);
  EXPECT_NE(refusal("ls / 2>e 2>&1").find("errors can go to one place"), std::string::npos);
  EXPECT_EQ(refusal("2> e"), "a command is missing before 2>");
}

TEST(CommandLine, NoOperatorOfOtherShellsIsAWord) {
  const std::vector<std::pair<const char*, const char*>> remedies{
      {"ls / &> f", "&>; use > FILE 2>&1"},    {"ls / &>> f", "&>>; use >> FILE 2>&1"},
      {"ls / >& f", ">&; use > FILE 2>&1"},    {"ls / >| f", ">|; use >"},
      {"ls / |& cat", "|&; use 2>&1 |"},       {"set /c 5>f", "5>; only results"},
      {"ls / 3>> f", "3>>; only results"},     {"ls / 1>&2", "1>&2; only 2>&1"},
      {"ls / 2>&-", "2>&-; only 2>&1"},        {"set /a <<< x", "<<<; write the text"},
      {"set /a <<EOF", "<<; write the lines"}, {"set /a 0</dev/null", "0<; use @FILE"},
      {"set /a</dev/null", "<; use @FILE"}};
  for (const auto& [line, remedy] : remedies)
    EXPECT_NE(refusal(line).find(std::string("zksh has no ") + remedy), std::string::npos)
        << line << ": " << refusal(line);
}

TEST(CommandLine, SaysWhatIsMissing) {
  EXPECT_EQ(refusal("| cat"), "a command is missing before |");
  EXPECT_EQ(refusal("ls / |"), "no program after | (to use | as a value, quote it)");
  EXPECT_EQ(refusal("ls / >>"), "no file name after >> (to use >> as a value, quote it)");
  EXPECT_EQ(refusal("ls / > ''"), "no file name after > (to use > as a value, quote it)");
}

TEST(TypedCommands, what_stands_behind_a_pipe_is_the_programs) {
  using List = std::vector<std::string>;
  EXPECT_EQ(typed_commands("ls / ; ls /a"), (List{"ls /", "ls /a"}));
  EXPECT_EQ(typed_commands("ls / ; ls /a | { cat; wc </x && y; }"),
            (List{"ls /", "ls /a| { cat; wc </x && y; }"}));
  EXPECT_EQ(typed_commands("set /a 'x|y' ; ls"), (List{"set /a 'x|y'", "ls"}));
  EXPECT_EQ(typed_commands("ls ; | cat"), (List{"ls", "| cat"})) << "a command is missing";
  EXPECT_EQ(typed_commands(" "), List());
  EXPECT_EQ(typed_commands("get /a; # was x | touch /tmp/p"), List{"get /a"}) << "a comment";
  EXPECT_EQ(background_line("get /a; # R & D &"), std::nullopt) << "a comment";
  EXPECT_EQ(background_line("get /a &"), "get /a");
}

}  // namespace
}  // namespace zksh
