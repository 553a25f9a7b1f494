// Byte text: RFC 4648's examples, java.util.Base64's strictness and netty's hex dump.
#include "base/byte_text.h"

#include "base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace zksh {
namespace {

using namespace std::string_literals;

const auto rfc_examples = std::to_array<std::pair<std::string, std::string>>({
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xFB\xEF\xBE\xFF\0"s, "++++/wA="},
});

TEST(Base64, EncodesAndDecodes) {
  for (const auto& [bytes, text] : rfc_examples) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
}

TEST(Base64, TakesWhatJavasDecoderTakes) {
  EXPECT_EQ(decode_base64("Zg"), "f");    // no padding at all
  EXPECT_EQ(decode_base64("Zm8"), "fo");  //
  EXPECT_EQ(decode_base64("Zh=="), "f");  // surplus bits
  EXPECT_EQ(decode_base64("Zm9vZg"), "foof");
}

TEST(Base64, RefusesWhatJavasDecoderRefuses) {
  for (const auto* text : {"Z", "Zg=", "Zg===", "Zm8==", "Zm9v=", "=", "==", "Zg==Zg==", "Zg==\n",
                           "Zm9v\n", "Zm 9v", "Zm-v", "Zm_v", "Zm9vZ", "Z=g=", "Zé=="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

std::string dump_of(std::string_view bytes) {
  std::string dump;
  hex_dump(bytes, [&](std::string_view piece) { dump += piece; });
  return dump;
}

TEST(Pieces, AreNotCutWithinACharacter) {
  std::string text = "a";
  while (text.size() < (5U << 20U)) text += "\xE2\x82\xAC\xF0\x9F\x98\x80";
  std::string whole;
  in_pieces(text, [&](std::string_view piece) {
    EXPECT_LE(piece.size(), 1U << 20U);
    EXPECT_TRUE(is_utf8(piece));
    whole += piece;
  });
  EXPECT_EQ(whole, text);
}

TEST(Pieces, OfBase64AreOneText) {
  const std::string bytes(4000001, '\xA7');
  std::string text;
  encode_base64(bytes, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text, encode_base64(bytes));
}

TEST(HexDump, IsNettys) {
  EXPECT_EQ(dump_of("hello\0world"s),
            R"(         +-------------------------------------------------+
         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |
+--------+-------------------------------------------------+----------------+
|00000000| 68 65 6c 6c 6f 00 77 6f 72 6c 64                |hello.world     |
+--------+-------------------------------------------------+----------------+)");
}

TEST(HexDump, ShowsFullRowsAndOnlyPrintableAscii) {
  std::string bytes(256, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  const auto dump = dump_of(bytes);
  EXPECT_NE(dump.find("\n|00000010| 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f |"
                      "................|\n"),
            std::string::npos);
  EXPECT_NE(dump.find("\n|00000020| 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f |"
                      " !\"#$%&'()*+,-./|\n"),
            std::string::npos);
  EXPECT_NE(dump.find("\n|00000070| 70 71 72 73 74 75 76 77 78 79 7a 7b 7c 7d 7e 7f |"
                      "pqrstuvwxyz{|}~.|\n"),
            std::string::npos);
  EXPECT_NE(dump.find("\n|000000f0| f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 fa fb fc fd fe ff |"
                      "................|\n+"),
            std::string::npos);
}

TEST(HexDump, OfManyBytesComesInPieces) {
  const std::string bytes(100000, 'x');
  const auto dump = dump_of(bytes);
  EXPECT_EQ(std::ranges::count(dump, '\n'), 100000 / 16 + 3);
  EXPECT_NE(dump.find("|00018690|"), std::string::npos);
}

TEST(HexDump, IsEmptyForNothing) { EXPECT_EQ(dump_of(""), ""); }

}  // namespace
}  // namespace zksh
