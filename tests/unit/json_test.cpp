// Json: printed values.
#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace zksh {
namespace {

TEST(Json, Values) {
  EXPECT_EQ(Json().text(), "null");
  EXPECT_EQ(Json(true).text(), "true");
  EXPECT_EQ(Json(std::int64_t{-5}).text(), "-5");
  EXPECT_EQ(Json(std::int64_t{9007199254740993}).text(), "9007199254740993");
  EXPECT_EQ(Json("text").text(), "\"text\"") << "and not a truth value";
  EXPECT_EQ(Json(std::optional<int>()).text(), "null");
  EXPECT_EQ(Json(std::optional<int>(3)).text(), "3");
}

TEST(Json, FieldsKeepTheirOrder) {
  auto list = Json::array();
  list.add(1).add(Json::array());
  auto json = Json::object();
  json.set("z", 1).set("a", std::move(list));
  EXPECT_EQ(json.text(), "{\"z\":1,\"a\":[1,[]]}");
}

TEST(Json, ControlCharactersAreEscaped) {
  EXPECT_EQ(Json(std::string_view("a\n\"\x1b\0", 5)).text(), "\"a\\n\\\"\\u001b\\u0000\"");
}

TEST(Json, WhatIsNoUtf8BecomesBase64) {
  EXPECT_EQ(Json("\xc3\xa9").text(), "\"\xc3\xa9\"");
  // In one piece the literal itself would be misleading.
  const auto right_to_left = std::string("\xe2\x80") + "\xae";
  EXPECT_EQ(Json(right_to_left + "\u009b\x7f\U000e0041").text(),
            R"("\u202e\u009b\u007f\udb40\udc41")")
      << "what a terminal would obey, or not show";
  EXPECT_EQ(Json("\xff\x01").text(), "{\"base64\":\"/wE=\"}");
}

TEST(Json, ALineIsTheSameText) {
  auto json = Json::object();
  std::string text;
  JsonLine line([&](std::string_view piece) { text += piece; });
  json.set("number", -5);
  line.set_number("number", std::int64_t{-5});
  json.set_time("time", 1'700'000'000'123);
  line.set_time("time", 1'700'000'000'123);
  json.set_time("never", -1);
  line.set_time("never", -1);
  int count = 0;
  for (const std::string_view value : {"plain ~", "\"quoted\"", "back\\slash", "new\nline", "\x7f",
                                       "caf\xc3\xa9", "\xff", "\u200b", "\x1b[m"}) {
    const auto name = "field" + std::to_string(++count);
    json.set(name, value);
    line.set_text(name, value);
  }
  json.set("none", Json::text_or_null(""));
  line.set_text_or_null("none", "");
  json.set("some", Json::text_or_null("x"));
  line.set_text_or_null("some", "x");
  line.end();
  EXPECT_EQ(text, json.text() + "\n");
}

}  // namespace
}  // namespace zksh
