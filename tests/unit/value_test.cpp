// ValueFile: names, newlines and what is text.
#include "node/value.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(ValueFile, NamesKeepTheirEndings) {
  EXPECT_EQ(value_file_name("/app/config.json"), "config.json");
  EXPECT_EQ(value_file_name("/"), "value");
  EXPECT_EQ(value_file_name("/.."), "value..");
  EXPECT_EQ(value_file_name("/-rf"), "value-rf");
  EXPECT_EQ(value_file_name("/a b\n\x1b$(x)\xc3\xbc"), "a_b____x___");
  EXPECT_EQ(value_file_name("/" + std::string(300, 'x') + ".yml").size(), 100U);
  EXPECT_TRUE(value_file_name("/" + std::string(300, 'x') + ".yml").ends_with("x.yml"));
}

TEST(ValueFile, OneFinalNewlineIsDroppedWhereThereWasNone) {
  EXPECT_EQ(edited_value("a", "a\n"), "a");
  EXPECT_EQ(edited_value("a", "b\n"), "b");
  EXPECT_EQ(edited_value("a", "b\n\n"), "b\n");
  EXPECT_EQ(edited_value("", "b\n"), "b");
  EXPECT_EQ(edited_value("", ""), "");
  EXPECT_EQ(edited_value("a\n", "b\n"), "b\n");
  EXPECT_EQ(edited_value("a\n", "a"), "a");
}

TEST(ValueFile, AnEditorMayHaveArguments) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(editor_words("vi", "/f"), (Words{"vi", "/f"}));
  EXPECT_EQ(editor_words(" code  -w ", "/f"), (Words{"code", "-w", "/f"}));
  EXPECT_EQ(editor_words("'my editor' -x", "/f"),
            (Words{"/bin/sh", "-c", "trap : INT; 'my editor' -x \"$@\"", "'my editor' -x", "/f"}));
}

TEST(ValueFile, TextIsUtf8WithoutNul) {
  EXPECT_TRUE(is_text(""));
  EXPECT_TRUE(is_text("ä\n"));
  EXPECT_FALSE(is_text("\xff"));
  EXPECT_FALSE(is_text(std::string_view("a\0", 2)));
}

}  // namespace
}  // namespace zksh
