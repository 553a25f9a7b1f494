// line_style: the colours of the line being typed.
#include "shell/typed_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace zksh {
namespace {

/// Each styled part, with the style's SGR code in brackets.
std::string styled(const std::string& line, std::size_t cursor) {
  std::string text;
  for (const auto& part : line_styles(line, cursor)) {
    const auto code = part.style.substr(2, part.style.size() - 3);
    text += '[' + std::string(code) + ']' + line.substr(part.begin, part.end - part.begin);
  }
  return text;
}
std::string styled(const std::string& line) { return styled(line, line.size()); }

TEST(LineStyle, KnownAndUnknownCommands) {
  EXPECT_EQ(styled("get /a"), "[1]get");
  EXPECT_EQ(styled("  rmr /a"), "[1]rmr") << "an alias";
  EXPECT_EQ(styled("gte /a"), "[31]gte");
  EXPECT_EQ(styled("cre"), "") << "it may still be create";
  EXPECT_EQ(styled("cre", 1), "[31]cre");
  EXPECT_EQ(styled("xyz"), "[31]xyz");
}

TEST(LineStyle, OptionsStringsAndSigns) {
  EXPECT_EQ(styled("set -v -1 \"/a b\" 'x y"), "[1]set[36]-v[33]\"/a b\"[33]'x y");
  EXPECT_EQ(styled("ls / | grep -v x > f"), "[1]ls[35]|[35]>") << "-v is another program's";
  EXPECT_EQ(styled("lock /a -- prog -x '$y'"), "[1]lock[36]--[33]'$y'");
  EXPECT_EQ(styled("lock /a -n prog -x '$y' > f"), "[1]lock[36]-n[33]'$y'[35]>");
  EXPECT_EQ(styled("set /a \"|\""), "[1]set[33]\"|\"") << "a word like any other";
  EXPECT_EQ(styled(" # a comment"), "[2]# a comment");
}

TEST(LineStyle, EveryOperatorAndThoseOfOtherShells) {
  EXPECT_EQ(styled("rm 0 2>/dev/null"), "[1]rm[35]2>");
  EXPECT_EQ(styled("ls /a >f 2>&1"), "[1]ls[35]>[35]2>&1");
  EXPECT_EQ(styled("ls /a 2>> 'e f'"), "[1]ls[35]2>>[33]'e f'");
  EXPECT_EQ(styled("ls /a &> f"), "[1]ls[31]&>") << "refused";
  EXPECT_EQ(styled("ls /a | cat &> f"), "[1]ls[35]|[35]&>") << "another shell's";
  EXPECT_EQ(styled("> f"), "[35]>");
}

TEST(LineStyle, OptionsThatTheCommandLacks) {
  EXPECT_EQ(styled("ls --bad /"), "[1]ls[31]--bad");
  EXPECT_EQ(styled("ls --bad"), "[1]ls[31]--bad");
  EXPECT_EQ(styled("ls --st"), "[1]ls[36]--st") << "it may become --stat";
  EXPECT_EQ(styled("ls --st /"), "[1]ls[31]--st");
  EXPECT_EQ(styled("ls --st", 2), "[1]ls[31]--st");
  EXPECT_EQ(styled("ls -sq -sR --help /"), "[1]ls[31]-sq[36]-sR[36]--help");
  EXPECT_EQ(styled("ls --he"), "[1]ls[36]--he");
  EXPECT_EQ(styled("get -- --bad"), "[1]get[36]--") << "a path";
  EXPECT_EQ(styled("lock /a -- prog --bad"), "[1]lock[36]--") << "another program's";
  EXPECT_EQ(styled("repeat 3 ls --stat"), "[1]repeat[36]--stat") << "another command's";
}

TEST(LineStyle, EveryCommandOfALine) {
  EXPECT_EQ(styled("ls /; gte\n# it's\nget '/a' ; cre"), "[1]ls[31]gte[2]# it's[1]get[33]'/a'");
  EXPECT_EQ(styled("ls / | sed s/x/;s/y/\nls"), "[1]ls[35]|[1]ls") << "a program's own words";
}

TEST(LineStyle, NothingOfAnEmptyOrAHugeLine) {
  EXPECT_EQ(styled(""), "");
  EXPECT_EQ(styled("  "), "");
  EXPECT_EQ(styled("get " + std::string(20'000, 'x')), "");
}

}  // namespace
}  // namespace zksh
