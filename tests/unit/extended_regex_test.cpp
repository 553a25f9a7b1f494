// ExtendedRegex: what POSIX says, what the GNU library adds to it, and what costs it too much.
#include "base/extended_regex.h"

#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace zksh {
namespace {

bool found(const std::string& regex, std::string_view text) {
  return ExtendedRegex(regex, "x").matches(text);
}

bool whole(const std::string& regex, std::string_view text) {
  return ExtendedRegex(regex, "x").matches_whole(text);
}

std::string refusal(const std::string& regex) {
  try {
    ExtendedRegex(regex, "x").matches("");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ExtendedRegex, MatchesLinesAnywhereInAnyBytes) {
  EXPECT_TRUE(found("^ready$", "state\nready\n"));
  EXPECT_FALSE(found("^ready$", "not ready"));
  EXPECT_TRUE(found("b+c?$", std::string("a\0bb", 4)));
  EXPECT_TRUE(found("a.b", std::string("a\0b", 3)));
  EXPECT_TRUE(found("^$", ""));
  EXPECT_TRUE(found("", {}));
  EXPECT_FALSE(found("b", std::string_view("ab", 1)));
  EXPECT_TRUE(found("z", "\xff\xfez"));
  EXPECT_FALSE(found("a.z", "a\xffz"));
}

TEST(ExtendedRegex, NothingButANewlineMatchesANewline) {
  EXPECT_FALSE(found("a.b", "a\nb"));
  EXPECT_FALSE(found("a[^x]b", "a\nb"));
  EXPECT_TRUE(found("a[[:space:]]b", "a\nb"));
  EXPECT_TRUE(found("a\nb", "a\nb"));
}

TEST(ExtendedRegex, MayHaveToMatchTheWhole) {
  EXPECT_TRUE(whole("/a/.*", "/a/b"));
  EXPECT_FALSE(whole("/a", "/a/b"));
  EXPECT_TRUE(whole("/a|/b", "/b"));
  EXPECT_FALSE(whole("/a|/b", "/a/b"));
  EXPECT_TRUE(whole("/a)", "/a)"));
}

TEST(ExtendedRegex, TakesSignsAsPosixDoes) {
  const std::vector<std::pair<std::string, std::string>> matching{
      {"a+?b", "b"},          {"(a*)+?", ""},
      {"a**b", "aab"},        {"x{2}{3}", "xxxxxx"},
      {"a{,2}b", "aab"},      {"a{2,}", "aaaa"},
      {"a{2,3}", "aaa"},      {"a)", "a)"},
      {"a}", "a}"},           {"a||b", ""},
      {"()b", "b"},           {R"([\.]+)", R"(\.)"},
      {R"([\]x])", R"(\x])"}, {"[]a]+", "a]"},
      {"[^]a]", "b"},         {"[a-]+", "a-"},
      {"[--/]+", "-./"},      {"[[.-.]x]+", "-x"},
      {"[[=a=]]", "a"},       {"[[:digit:]x]+", "1x2"},
      {R"(\d)", "d"},         {R"(\.\*\\)", R"(.*\)"},
      {R"(\x41)", "x41"},     {R"(\Qa\E)", "QaE"},
  };
  for (const auto& [regex, text] : matching) {
    EXPECT_TRUE(whole(regex, text)) << regex << " and " << text;
  }
  EXPECT_FALSE(whole("a{2,3}", "aaaa"));
  EXPECT_FALSE(whole("a{0}b", "ab"));
  EXPECT_FALSE(whole("[a-c]", "-"));
}

TEST(ExtendedRegex, KnowsTheExtensionsOfTheGnuLibrary) {
  EXPECT_TRUE(found(R"(\<ready\>)", "not ready yet"));
  EXPECT_FALSE(found(R"(\<read\>)", "ready"));
  EXPECT_TRUE(found(R"(\bready\b)", "ready"));
  EXPECT_TRUE(found(R"(\Bead)", "ready"));
  EXPECT_TRUE(whole(R"(\w+\s\S\W)", "a_1\tx."));
  EXPECT_TRUE(found(R"(\`a)", "a\nb"));
  EXPECT_FALSE(found(R"(\`b)", "a\nb"));
  EXPECT_FALSE(found(R"(a\')", "a\nb"));
}

TEST(ExtendedRegex, CharactersAreThoseOfUnicode) {
  EXPECT_TRUE(whole("gr.ße", "größe"));
  EXPECT_TRUE(whole("[[:alpha:]]+", "größe"));
  EXPECT_TRUE(whole("[ä-ü]", "ö"));
  EXPECT_TRUE(whole("ä{2}", "ää"));
  EXPECT_TRUE(whole("[^ä]", "漢"));
  EXPECT_TRUE(ExtendedRegex("GRÖSSE", "x", true).matches("grösse"));
  EXPECT_TRUE(ExtendedRegex("[[:upper:]]+", "x", true).matches_whole("äa"));
  EXPECT_TRUE(whole("a\xff+", "a\xff\xff")) << "what is no UTF-8 is taken as bytes";
}

TEST(ExtendedRegex, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> refused{
      {"(", "Unmatched ( or"},
      {"[a", "Unmatched ["},
      {"[", "Unmatched ["},
      {"[]", "Unmatched ["},
      {"[a-", "Unmatched ["},
      {"[[:alpha:", "Unmatched ["},
      {"[[:alpha", "Unmatched ["},
      {"[[:foo:]]", "Invalid character class name"},
      {"[[.ab.]]", "Invalid collation character"},
      {"[[..]]", "Invalid collation character"},
      {"[z-a]", "Invalid range end"},
      {"*a", "Invalid preceding regular expression"},
      {"a|*b", "Invalid preceding regular expression"},
      {"(+a)", "Invalid preceding regular expression"},
      {"^*", "Invalid preceding regular expression"},
      {"{1}", "Invalid preceding regular expression"},
      {"a{x}", "Invalid content of"},
      {"a{}", "Invalid content of"},
      {"a{,}", "Invalid content of"},
      {"a{2,1}", "Invalid content of"},
      {"a{-1}", "Invalid content of"},
      {"a{1", "Unmatched {"},
      {"a{40000}", "more than 1000"},
      {"(a{1000}){1000}", "too big"},
      {"a\\", "Trailing backslash"},
      {R"((a)\1)", "back-references are not supported"},
  };
  for (const auto& [regex, problem] : refused)
    EXPECT_THAT(refusal(regex), testing::HasSubstr(problem)) << regex;
}

TEST(ExtendedRegex, ALongValueIsNoTrouble) {
  const std::string text(1U << 20U, 'a');
  for (const auto* regex : {"(a|b)*c", "a.*b.*c", "(a|aa)+$b", "[ab]{20,60}c", "(a*)*b"})
    EXPECT_FALSE(found(regex, text)) << regex;
}

}  // namespace
}  // namespace zksh
