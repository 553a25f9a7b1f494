// Regex: what matches, in lines and in any bytes, what is refused, and that no expression is slow.
#include "base/regex.h"

#include "failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace zksh {
namespace {

bool found(const std::string& regex, std::string_view text) {
  return Regex(regex, "x").matches(text);
}

bool whole(const std::string& regex, std::string_view text) {
  return Regex(regex, "x").matches_whole(text);
}

std::string refusal(const std::string& regex) {
  return refusal_of<UsageError>([&] { Regex(regex, "-regex").matches(""); });
}

TEST(Regex, MatchesLinesAnywhereInAnyBytes) {
  EXPECT_TRUE(found("^ready$", "state\nready\n"));
  EXPECT_FALSE(found("^ready$", "not ready"));
  EXPECT_TRUE(found("b+c?$", std::string("a\0bb", 4)));
  EXPECT_TRUE(found("a.b", std::string("a\0b", 3)));
  EXPECT_TRUE(found("^$", ""));
  EXPECT_TRUE(found("", {}));
  EXPECT_FALSE(found("b", std::string_view("ab", 1)));
  EXPECT_TRUE(found("z", "\xff\xfez"));
  EXPECT_FALSE(found("a.z", "a\xffz"));
  EXPECT_FALSE(found("a.b", "a\nb"));
}

TEST(Regex, MayHaveToMatchTheWhole) {
  EXPECT_TRUE(whole("/a/.*", "/a/b"));
  EXPECT_FALSE(whole("/a", "/a/b"));
  EXPECT_TRUE(whole("/a|/b", "/b"));
  EXPECT_FALSE(whole("/a|/b", "/a/b"));
}

TEST(Regex, CharactersAreThoseOfUnicode) {
  EXPECT_TRUE(whole("gr.ße", "größe"));
  EXPECT_TRUE(whole("[ä-ü]", "ö"));
  EXPECT_TRUE(whole("ä{2}", "ää"));
  EXPECT_TRUE(whole(R"(\pL+)", "größe"));
  EXPECT_TRUE(Regex("GRÖSSE", "x", {.ignore_case = true}).matches("grösse"));
  EXPECT_TRUE(whole("a\xff+", "a\xff\xff")) << "an expression that is not UTF-8 is bytes";
}

TEST(Regex, MayBePlainText) {
  const Regex address("10.0.*", "x", {.literal = true});
  EXPECT_TRUE(address.matches("at 10.0.*"));
  EXPECT_FALSE(address.matches("at 10.0.0.7"));
  EXPECT_TRUE(Regex("(A", "x", {.ignore_case = true, .literal = true}).matches("x(a"));
}

TEST(Regex, SaysWhatIsWrong) {
  for (const auto* const regex :
       {"(", "[a", "*a", "[z-a]", "[[:foo:]]", "a{40000}", "(a{1000}){1000}", "a\\", R"((a)\1)"})
    EXPECT_THAT(refusal(regex), testing::StartsWith("-regex: \"" + std::string(regex) +
                                                    "\" is not a valid regular expression: "));
}

TEST(Regex, ALongValueIsNoTrouble) {
  const std::string text(1U << 20U, 'a');
  for (const auto* regex : {"(a|b)*c", "a.*b.*c", "(a|aa)+$b", "[ab]{20,60}c", "(a*)*b"})
    EXPECT_FALSE(found(regex, text)) << regex;
}

}  // namespace
}  // namespace zksh
