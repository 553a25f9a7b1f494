// Script arguments: where they are substituted, and where not.
#include "failures.h"
#include "shell/command_line.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using Texts = std::vector<std::string>;

Texts filled(std::string_view line, const Texts& arguments) {
  Texts texts;
  for (const auto& word : with_arguments(split_words(line), line, arguments))
    texts.push_back(word.text);
  return texts;
}

std::string refusal(std::string_view line, const Texts& arguments) {
  return refusal_of<ValueError>([&] { filled(line, arguments); });
}

TEST(ScriptArguments, StayOneWordWhateverTheyHold) {
  EXPECT_EQ(filled("set $1 $2", {"/a b", "it's \"$1\""}), (Texts{"set", "/a b", "it's \"$1\""}));
  EXPECT_EQ(filled("get $1", {""}), (Texts{"get", ""}));
}

TEST(ScriptArguments, StandAnywhereInAWord) {
  EXPECT_EQ(filled("get /x/$1/y", {"a"}), (Texts{"get", "/x/a/y"}));
  EXPECT_EQ(filled("set /n \"$1 of $#\"", {"a", "b"}), (Texts{"set", "/n", "a of 2"}));
  EXPECT_EQ(filled("get ${1}0$2", {"a", "b"}), (Texts{"get", "a0b"}));
  Texts twelve(12, "x");
  twelve[9] = "tenth";
  EXPECT_EQ(filled("get $10", twelve), (Texts{"get", "tenth"}));
}

TEST(ScriptArguments, AllOfThemAreAWordEach) {
  EXPECT_EQ(filled("ls $@", {"/a b", "/c"}), (Texts{"ls", "/a b", "/c"}));
  EXPECT_EQ(filled("ls \"$@\"", {"/a b", "/c"}), (Texts{"ls", "/a b", "/c"}));
  EXPECT_EQ(filled("ls $@", {}), (Texts{"ls"}));
  EXPECT_NE(refusal("ls /$@", {"a"}).find("a separate word"), std::string::npos);
}

TEST(ScriptArguments, AreNotLookedForInOtherQuotes) {
  EXPECT_EQ(filled("set /a '$1 $#'", {"x"}), (Texts{"set", "/a", "$1 $#"}));
  EXPECT_EQ(filled("set /a $'$1\\n'", {"x"}), (Texts{"set", "/a", "$1\n"}));
  EXPECT_EQ(filled("set /a $x$ ${x} ${1", {"x"}), (Texts{"set", "/a", "$x$", "${x}", "${1"}));
}

TEST(ScriptArguments, OneThatIsMissingIsNamed) {
  EXPECT_EQ(refusal("set $1 $2", {"/a"}).substr(0, 13), "$2 is not set");
  EXPECT_EQ(refusal("get $0", {"/a"}).substr(0, 13), "$0 is not set");
  EXPECT_EQ(refusal("get $99999999999999999999999", {"/a"}).substr(0, 4), "$999");
}

TEST(ScriptArguments, APatternInOneIsPlainText) {
  const std::string_view line = "rm $1 $2/*";
  const auto words = with_arguments(split_words(line), line, {"/a[1]", "/b"});
  EXPECT_TRUE(words[1].quoted);
  EXPECT_FALSE(words[2].quoted);
}

TEST(ScriptArguments, ADashInOneMakesNoOption) {
  const std::string_view line = "set $1 --version=$2 -$3 $@";
  const auto words = with_arguments(split_words(line), line, {"-s", "*", "v"});
  std::vector<bool> quoted;
  quoted.reserve(words.size());
  for (const auto& word : words) quoted.push_back(word.quoted);
  EXPECT_EQ(quoted, (std::vector<bool>{false, true, false, false, true, true, false}));
}

}  // namespace
}  // namespace zksh
