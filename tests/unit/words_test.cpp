// Words: lines that zkCli.sh 3.8.0 splits sanely are split the same, and errors are pointed at.
#include "base/words.h"

#include "failures.h"

#include <gtest/gtest.h>

#include <chrono>

namespace zksh {
namespace {

using namespace std::string_literals;
using Texts = std::vector<std::string>;

Texts texts(std::string_view line) {
  Texts result;
  for (const auto& word : split_words(line)) result.push_back(word.text);
  return result;
}

std::string mistake(std::string_view line) {
  return refusal_of<UsageError>([&] { split_words(line); });
}

TEST(SplitWords, SplitsAtAsciiBlanks) {
  EXPECT_EQ(texts("get /a"), (Texts{"get", "/a"}));
  EXPECT_EQ(texts(" \t get\v/a\f-s\r\n"), (Texts{"get", "/a", "-s"}));
  EXPECT_EQ(texts("a\u00A0b"), (Texts{"a\u00A0b"}));
  EXPECT_EQ(texts(""), Texts{});
  EXPECT_EQ(texts(" \t "), Texts{});
}

TEST(SplitWords, AQuotedWordIsWhatStandsBetweenTheQuotes) {
  EXPECT_EQ(texts(R"(set /a "b c" 'd e')"), (Texts{"set", "/a", "b c", "d e"}));
  EXPECT_EQ(texts(R"("get" '/x')"), (Texts{"get", "/x"}));
  EXPECT_EQ(texts(R"("it's" 'a"b')"), (Texts{"it's", "a\"b"}));
  EXPECT_EQ(texts(R"("" '')"), (Texts{"", ""}));
}

TEST(SplitWords, AWordMayBeginRightAfterAClosingQuote) {
  EXPECT_EQ(texts(R"("abc"def)"), (Texts{"abc", "def"}));
  EXPECT_EQ(texts(R"("a""b")"), (Texts{"a", "b"}));
  EXPECT_EQ(texts(R"(""x)"), (Texts{"", "x"}));
}

TEST(SplitWords, QuotesInsideABareWordAreOrdinary) {
  EXPECT_EQ(texts(R"(a"b c"d)"), (Texts{"a\"b", "c\"d"}));
  EXPECT_EQ(texts("it's"), (Texts{"it's"}));
  EXPECT_EQ(texts(R"({"k":"v"})"), (Texts{R"({"k":"v"})"}));
  EXPECT_EQ(texts("trailing\""), (Texts{"trailing\""}));
  EXPECT_EQ(texts("a$'b'"), (Texts{"a$'b'"}));
}

TEST(SplitWords, ABackslashIsOrdinaryOutsideDollarQuotes) {
  EXPECT_EQ(texts(R"(a\ b)"), (Texts{"a\\", "b"}));
  EXPECT_EQ(texts(R"("a\"b")"), (Texts{"a\\", "b\""}));
  EXPECT_EQ(texts(R"('\n' \n)"), (Texts{"\\n", "\\n"}));
}

TEST(SplitWords, SignsOfOtherShellsAreWords) {
  EXPECT_EQ(texts("get /a ; ls / | x > y && $z $"),
            (Texts{"get", "/a", ";", "ls", "/", "|", "x", ">", "y", "&&", "$z", "$"}));
}

TEST(SplitWords, ALineThatBeginsWithAHashIsAComment) {
  EXPECT_EQ(texts("# ls / \"unclosed"), Texts{});
  EXPECT_EQ(texts("  #x"), Texts{});
  EXPECT_EQ(texts("set /a # y"), (Texts{"set", "/a", "#", "y"}));
  EXPECT_EQ(texts("\"#\" y"), (Texts{"#", "y"}));
}

TEST(SplitWords, DollarQuotesTakeCEscapes) {
  EXPECT_EQ(texts(R"($'\n\t\r\a\b\e\f\v\\\'\"\?')"), (Texts{"\n\t\r\a\b\x1b\f\v\\'\"?"}));
  EXPECT_EQ(texts(R"($'\0\1\18\101\377')"), (Texts{"\0\1\1"
                                                   "8A\xFF"s}));
  EXPECT_EQ(texts(R"($'\0001')"), (Texts{"\0"
                                         "1"s}));
  EXPECT_EQ(texts(R"($'\x00\xff\xFFf\x4g')"), (Texts{"\0\xFF\xFF"
                                                     "f\x04g"s}));
  EXPECT_EQ(texts(R"($'\u00e9\u4e2d\U0001F600\u00e9f')"), (Texts{"é中😀éf"}));
  EXPECT_EQ(texts(R"(set /a $'a b' c)"), (Texts{"set", "/a", "a b", "c"}));
  EXPECT_EQ(texts(R"($''$'\\'x)"), (Texts{"", "\\", "x"}));
}

TEST(SplitWords, KeepsWhatIsNotText) {
  EXPECT_EQ(texts("set /a \0\xFF b"s), (Texts{"set", "/a", "\0\xFF"s, "b"}));
  EXPECT_EQ(texts("'a\nb'"), (Texts{"a\nb"}));
}

TEST(SplitWords, TellsWhereAWordStood) {
  const auto words = split_words(R"( get "/a b"c $'\n')");
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0], (Word{.text = "get", .begin = 1, .end = 4, .quoted = false}));
  EXPECT_EQ(words[1], (Word{.text = "/a b", .begin = 5, .end = 11, .quoted = true}));
  EXPECT_EQ(words[2], (Word{.text = "c", .begin = 11, .end = 12, .quoted = false}));
  EXPECT_EQ(words[3], (Word{.text = "\n", .begin = 13, .end = 18, .quoted = true}));
}

TEST(SplitWords, PointsAtAnUnclosedQuote) {
  EXPECT_EQ(mistake("set /a \"b c"),
            "unclosed quote\n"
            "  set /a \"b c\n"
            "         ^");
  EXPECT_EQ(mistake("'"), "unclosed quote\n  '\n  ^");
  EXPECT_EQ(mistake("set /é中 $'b\\'"),
            "unclosed quote\n"
            "  set /é中 $'b\\'\n"
            "           ^");
}

TEST(SplitWords, PointsAtABadEscape) {
  EXPECT_EQ(mistake(R"(set /a $'b\q')"),
            "unknown escape in $'…'; a backslash is written \\\\\n"
            "  set /a $'b\\q'\n"
            "            ^");
  for (const auto* line : {R"($'\8')", R"($'\x')", R"($'\xg')", R"($'\u')", R"($'\U')",
                           R"($'\400')", R"($'\ud800')", R"($'\udfff')", R"($'\U00110000')"}) {
    EXPECT_NE(mistake(line), "") << line;
  }
}

TEST(SplitWords, ShowsNoControlBytesOfTheLine) {
  EXPECT_EQ(mistake("\x1b\0 '"s),
            "unclosed quote\n"
            "  \\x1b\\x00 '\n"
            "           ^");
}

TEST(SplitWords, ShowsTheNeighbourhoodOfTheSpotInALongLine) {
  const auto message = mistake(std::string(1000, 'x') + " '" + std::string(1000, 'y'));
  EXPECT_LT(message.size(), 250U);
  EXPECT_NE(message.find("  …xxx"), std::string::npos);
  EXPECT_NE(message.find("xxx 'yyy"), std::string::npos);
  EXPECT_NE(message.find("yyy…\n"), std::string::npos);
}

TEST(SplitWords, TakesLinearTime) {
  constexpr std::size_t size = 1U << 20U;
  std::string dollars;
  while (dollars.size() < size) dollars += "$'a' \"b\" ";
  for (const auto& line :
       {std::string(size, 'x'), std::string(size, '\0'), std::string(size, '\\'), dollars,
        "'" + std::string(size, '"'), "x '" + std::string(size, '\x80')}) {
    const auto start = std::chrono::steady_clock::now();
    mistake(line);
    split_commands(line);
    // Quadratic time would be many minutes.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  }
}

TEST(SplitCommands, SplitsAtSemicolonsAndNewlines) {
  EXPECT_EQ(split_commands("ls /; get /a\nset /a x;"), (Texts{"ls /", "get /a", "set /a x"}));
  EXPECT_EQ(split_commands("get /a;ls /"), (Texts{"get /a", "ls /"}));
  EXPECT_EQ(split_commands("reconfig -add server.4=a:1:2;2181,server.5=b:1:2;2181;ls /"),
            (Texts{"reconfig -add server.4=a:1:2;2181,server.5=b:1:2;2181", "ls /"}));
  EXPECT_EQ(split_commands("ls;4lw ruok"), (Texts{"ls", "4lw ruok"}));
  EXPECT_EQ(split_commands(" ;; \n\t\n"), Texts{});
  EXPECT_EQ(split_commands(""), Texts{});
}

TEST(SplitCommands, NotInsideQuotes) {
  EXPECT_EQ(split_commands("set /a \"x;y\"; set /b 'p\nq'"),
            (Texts{"set /a \"x;y\"", "set /b 'p\nq'"}));
  EXPECT_EQ(split_commands(R"(set /a $'it\'s;'; ls /)"), (Texts{R"(set /a $'it\'s;')", "ls /"}));
  EXPECT_EQ(split_commands("''\";\";x"), (Texts{"''\";\"", "x"}));
}

TEST(SplitCommands, TheTextOfAProgramHasTheQuotesOfSh) {
  EXPECT_EQ(split_commands(R"(get /a | awk -F';' '{print $1}'; ls /)"),
            (Texts{R"(get /a | awk -F';' '{print $1}')", "ls /"}));
  EXPECT_EQ(split_commands(R"(get /a|sed "s/\";/x/" \'; ls /)"),
            (Texts{R"(get /a|sed "s/\";/x/" \')", "ls /"}));
  EXPECT_EQ(split_commands("get 'a|b;c'; ls /"), (Texts{"get 'a|b;c'", "ls /"}));
}

TEST(SplitCommands, QuotesInsideABareWordHideNothing) {
  EXPECT_EQ(split_commands("set /a it's;ls /'"), (Texts{"set /a it's", "ls /'"}));
}

TEST(SplitCommands, AnUnclosedQuoteRunsToTheEnd) {
  EXPECT_EQ(split_commands("ls /; set /a 'x; y\nz"), (Texts{"ls /", "set /a 'x; y\nz"}));
}

TEST(PartsOf, LinesKeepTheirBlanksAndSemicolons) {
  const std::string text = " ls /; get /a # it's\n\n# it's 'quoted\nset /b 'p\nq'\nset /c \"x";
  std::vector<std::string> lines;
  for (const auto& part : parts_of(text, PartBy::Line)) {
    lines.push_back(text.substr(part.begin, part.end - part.begin));
    EXPECT_EQ(part.open, part.end == text.size());
  }
  EXPECT_EQ(lines,
            (Texts{" ls /; get /a # it's", "", "# it's 'quoted", "set /b 'p\nq'", "set /c \"x"}));
  EXPECT_EQ(parts_of("", PartBy::Line).size(), 1U);
  EXPECT_EQ(parts_of("ls /\n", PartBy::Line).size(), 2U);
  EXPECT_FALSE(parts_of("# it's 'quoted", PartBy::Line).back().open);
  EXPECT_FALSE(parts_of("set /a it's", PartBy::Line).back().open);
}

TEST(SplitCommands, LeavesOutComments) {
  EXPECT_EQ(split_commands("# a; b 'c\nls /; # d; e\nget /a # f"), (Texts{"ls /", "get /a # f"}));
}

}  // namespace
}  // namespace zksh
