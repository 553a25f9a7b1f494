// escape_for_terminal: what a terminal may get unescaped.
#include "base/text.h"
#include "base/words.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::string_literals;

TEST(EscapeForTerminal, LeavesTextAlone) {
  for (const auto* text :
       {"", "abc", "a\\nb", "é 中 😀 \u00A0", "\u200A\u2010\u2027\u202F\u205F\u2070", "{\"k\": 'v'}",
        "\uFEFE\uFFFD", "\U000DFFFF\U000E0080"}) {
    EXPECT_EQ(escape_for_terminal(text), text);
  }
}

TEST(EscapeForTerminal, EscapesControlBytes) {
  EXPECT_EQ(escape_for_terminal("a\0\n\t\r\x1b[2J\x7F"s), "a\\x00\\n\\t\\x0d\\x1b[2J\\x7f");
  EXPECT_EQ(escape_for_terminal("\u0080\u009B\u009F"), "\\u0080\\u009b\\u009f");
}

TEST(EscapeForTerminal, KeepsTheLinesAndTabsOfAValue) {
  EXPECT_EQ(escape_for_terminal("a\nb\tc\r\n", true), "a\nb\tc\\x0d\n");
}

TEST(EscapeForTerminal, EscapesWhatIsInvisibleOrTurnsTextRound) {
  for (const char32_t c : {0x061CU, 0x200BU, 0x200CU, 0x200DU, 0x200EU, 0x200FU, 0x2028U, 0x2029U,
                           0x202AU, 0x202EU, 0x2060U, 0x2066U, 0x2069U, 0xFEFFU}) {
    std::string text;
    append_utf8(text, c);
    const auto shown = escape_for_terminal("a" + text + "b");
    EXPECT_EQ(shown.substr(0, 3), "a\\u");
    EXPECT_EQ(shown.size(), 8U) << shown;
  }
  EXPECT_EQ(escape_for_terminal("\U000E0000\U000E007F"), "\\U000e0000\\U000e007f");
}

TEST(EscapeForTerminal, EscapesTheBytesOfWhatIsNotUtf8) {
  EXPECT_EQ(escape_for_terminal("\xFFz"), "\\xffz");
  EXPECT_EQ(escape_for_terminal("\x9B[2J"), "\\x9b[2J");
  EXPECT_EQ(escape_for_terminal("\xC0\x9B"), "\\xc0\\x9b");
  EXPECT_EQ(escape_for_terminal("\xED\xA0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(escape_for_terminal("é\xE2\x82"), "é\\xe2\\x82");
}

TEST(EscapeForTerminal, WhatItWritesCanBeTypedBack) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) {
    if (c != '\\' && c != '\'') bytes += static_cast<char>(c);
  }
  for (const char32_t c : {0x85U, 0x202EU, 0xE0041U}) append_utf8(bytes, c);
  const auto words = split_words("$'" + escape_for_terminal(bytes) + "'");
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].text, bytes);
}

TEST(EscapeForTerminal, KeepsJoinedEmoji) {
  const std::string family = "\U0001F469\u200D\U0001F469\u200D\U0001F467";
  EXPECT_EQ(escape_for_terminal(family), family);
  EXPECT_EQ(escape_for_terminal("a\u200Db"), "a\\u200db") << "in a name it would hide";
  EXPECT_EQ(escape_for_terminal("\U0001F469\u200D"), "\U0001F469\\u200d");
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 20), "one two three");
  EXPECT_EQ(wrapped("one two three", 8), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("/a/path/that/is/wide and more", 10), "/a/path/that/is/wide\nand more");
  EXPECT_EQ(wrapped("see /a/path/that/is/wide", 10), "see\n/a/path/that/is/wide");
  EXPECT_EQ(wrapped("  an indented line\nanother", 14), "  an indented\nline\nanother");
  EXPECT_EQ(wrapped("日本語 漢字", 8), "日本語\n漢字") << "columns, not bytes";
  EXPECT_EQ(wrapped("", 8), "");
}

TEST(CutAfterWord, KeepsWholeWordsAndNoPunctuationBeforeTheMark) {
  EXPECT_EQ(cut_after_word("one two", 7), "one two");
  EXPECT_EQ(cut_after_word("one, two three", 12), "one, two…");
  EXPECT_EQ(cut_after_word("one, two three", 7), "one…");
  EXPECT_EQ(cut_after_word("one two three", 10, "..."), "one two...");
  EXPECT_EQ(cut_after_word("everything", 6), "every…") << "no word fits";
  EXPECT_EQ(cut_after_word("one two", 1), "…");
  EXPECT_EQ(cut_after_word("one two", 0), "");
}

}  // namespace
}  // namespace zksh
