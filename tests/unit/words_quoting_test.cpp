// Quoting: a written word is read back unchanged.
#include "base/words.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace zksh {
namespace {

// U+202E, in parts: in one piece the literal itself would be misleading.
const std::string bidi_override = std::string("\xe2\x80") + "\xae";

std::string whole(std::string_view text, char quote = '\0') {
  const auto word = write_word(text, quote);
  return word.text + word.closing;
}

TEST(Quoting, OnlyWhereItIsNeeded) {
  EXPECT_EQ(whole("/app/it's"), "/app/it's");
  EXPECT_EQ(whole("/größe"), "/größe");
  EXPECT_EQ(whole("/a b"), "\"/a b\"");
  EXPECT_EQ(whole("/a \"b\""), "'/a \"b\"'");
  EXPECT_EQ(whole("/a 'b' \"c\""), R"($'/a \'b\' "c"')");
  EXPECT_EQ(whole("/a\nb"), R"($'/a\nb')");
  EXPECT_EQ(whole("/a" + bidi_override + "b"), R"($'/a\u202eb')");
  EXPECT_EQ(whole("/a\xff"), R"($'/a\xff')");
  EXPECT_EQ(whole("/a*"), "\"/a*\"") << "no pattern";
  for (const std::string sign : {"&", "|", "a|b", "a>b", "x&&y", "<f", "a;b"})
    EXPECT_EQ(whole(sign), '"' + sign + '"');
  EXPECT_EQ(whole("a&b"), "a&b");
  EXPECT_EQ(whole("a&b<c"), "\"a&b<c\"");
  EXPECT_EQ(whole("'a"), "\"'a\"");
  EXPECT_EQ(whole(""), "\"\"");
}

TEST(Quoting, KeepsTheQuoteThatIsOpen) {
  EXPECT_EQ(whole("/a", '\''), "'/a'");
  EXPECT_EQ(whole("/a'b", '\''), "/a'b");
  EXPECT_EQ(whole("/a b", '$'), "$'/a b'");
}

TEST(Quoting, AnyBytesAreReadBack) {
  std::mt19937 random(7);  // NOLINT: the same in every run
  const std::string bytes =
      " \t\n\"'$\\#abx019/{}[]*?|&>!\x7f\x80\xc3\xa4" + bidi_override + "\xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto length = random() % 8; length > 0; --length) text += bytes[random() % bytes.size()];
    const char quote = std::string("\0\"'$", 4)[random() % 4];
    const auto words = split_words("get " + whole(text, quote) + " x");
    ASSERT_EQ(words.size(), 3U) << whole(text, quote);
    ASSERT_EQ(words[1].text, text) << whole(text, quote);
  }
}

TEST(Quoting, ABeginningGoesOnWhereItWasLeft) {
  const auto typed = split_typed("get " + write_word("/a b'c", '\0').text);
  ASSERT_TRUE(typed);
  EXPECT_EQ(typed->last.text, "/a b'c");
  EXPECT_EQ(typed->quote, '"');
  EXPECT_EQ(typed->words.size(), 1U);
}

TEST(AsWord, IsWhatCanBePasted) {
  EXPECT_EQ(as_word("/a"), "/a");
  EXPECT_EQ(as_word("/a b"), "\"/a b\"");
  EXPECT_EQ(as_word("/a;b"), "\"/a;b\"");
  EXPECT_EQ(as_word("/a\";b"), "'/a\";b'");
  EXPECT_EQ(as_word("/a\"';b"), "$'/a\"\\';b'");
  EXPECT_EQ(as_word("/" + bidi_override), "$'/\\u202e'");
  EXPECT_EQ(as_word("costs $5"), "'costs $5'");
  EXPECT_EQ(as_word("it's ${1}"), "$'it\\'s ${1}'");
  EXPECT_EQ(as_word("/$x"), "/$x");
}

}  // namespace
}  // namespace zksh
