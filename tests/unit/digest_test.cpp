// Digest: SHA-1 with the examples of FIPS 180, and ids as DigestAuthenticationProvider generates
// them.
#include "base/digest.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

std::string hex_of(std::string_view text) {
  return fmt::format("{:02x}", fmt::join(sha1(text), ""));
}

TEST(Digest, IsSha1) {
  EXPECT_EQ(hex_of(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex_of("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(hex_of(std::string(1000000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Digest, PadsEveryLength) {
  // Around the end of a block, where the padding takes another one.
  EXPECT_EQ(hex_of(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  EXPECT_EQ(hex_of(std::string(56, 'a')), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
  EXPECT_EQ(hex_of(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

TEST(Digest, NamesTheUserAndHidesThePassword) {
  EXPECT_EQ(digest_id("user1:12345"), "user1:+owfoSBn/am19roBPzR1/MfCblE=");
  EXPECT_EQ(digest_id("super:sandbox"), "super:WCo+aqEZfTf8oYIQkfqdYXKhC3M=");
  EXPECT_EQ(digest_id("nocolon"), "nocolon:Ra+cHr2ZoHvBjtNArFGNGlVie4g=");
  EXPECT_EQ(digest_id(""), ":2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
}

}  // namespace
}  // namespace zksh
