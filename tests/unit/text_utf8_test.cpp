// UTF-8: valid and invalid sequences, and that encoding is the inverse of decoding.
#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace zksh {
namespace {

struct Utf8Example {
  std::string_view bytes;
  char32_t code_point;
  std::size_t length;
};

TEST(Utf8, DecodesTheEndsOfEveryLength) {
  const auto examples = std::to_array<Utf8Example>({
      {{"\0", 1}, 0, 1},
      {"\x7F", 0x7F, 1},
      {"\xC2\x80", 0x80, 2},
      {"\xDF\xBF", 0x7FF, 2},
      {"\xE0\xA0\x80", 0x800, 3},
      {"\xED\x9F\xBF", 0xD7FF, 3},
      {"\xEE\x80\x80", 0xE000, 3},
      {"\xEF\xBF\xBF", 0xFFFF, 3},
      {"\xF0\x90\x80\x80", 0x10000, 4},
      {"\xF4\x8F\xBF\xBF", 0x10FFFF, 4},
  });
  for (const auto& example : examples) {
    const auto step = decode_utf8(example.bytes, 0);
    EXPECT_TRUE(step.valid);
    EXPECT_EQ(step.code_point, example.code_point);
    EXPECT_EQ(step.length, example.length);
    std::string written;
    append_utf8(written, example.code_point);
    EXPECT_EQ(written, example.bytes);
  }
}

TEST(Utf8, StepsOverOneByteOfWhatIsInvalid) {
  for (const std::string_view bytes : {
           "\x80",              // continuation alone
           "\xC0\xAF",          // overlong, two bytes
           "\xC1\xBF",          //
           "\xE0\x9F\xBF",      // overlong, three bytes
           "\xED\xA0\x80",      // surrogates
           "\xED\xBF\xBF",      //
           "\xF0\x8F\xBF\xBF",  // overlong, four bytes
           "\xF4\x90\x80\x80",  // above U+10FFFF
           "\xF5\x80\x80\x80",  //
           "\xFF",              // never a lead
           "\xC3",              // cut off
           "\xE2\x82",          //
           "\xF0\x9F\x98",      //
           "\xC3(",             // not continued
       }) {
    const auto step = decode_utf8(bytes, 0);
    EXPECT_FALSE(step.valid) << bytes;
    EXPECT_EQ(step.length, 1U) << bytes;
    EXPECT_EQ(step.code_point, U'\xFFFD') << bytes;
  }
}

TEST(Utf8, DecodesInTheMiddle) {
  EXPECT_EQ(decode_utf8("aéb", 1).code_point, U'é');
  EXPECT_EQ(decode_utf8("aéb", 3).code_point, U'b');
}

}  // namespace
}  // namespace zksh
