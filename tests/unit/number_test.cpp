// Id text: zxids and session ids.
#include "base/number.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(IdText, IsHexadecimalWithoutASign) {
  EXPECT_EQ(zxid_text(0), "0x0");
  EXPECT_EQ(zxid_text(0x100000abc), "0x100000abc");
  EXPECT_EQ(zxid_text(-1), "0xffffffffffffffff");
  // A server number above 127 makes its session ids negative.
  EXPECT_EQ(session_text(INT64_MIN + 31), "0x800000000000001f");
  EXPECT_EQ(session_text(0), "-");
}

}  // namespace
}  // namespace zksh
