// ShortText: what is left of a path that is too long.
#include "base/text.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(ShortText, TheEndStays) {
  EXPECT_EQ(cut_middle("/app/jobs", 9), "/app/jobs");
  EXPECT_EQ(cut_middle("/app/jobs/0000000007", 12), "/app/…000007");
  EXPECT_EQ(cut_middle("/app/jobs/0000000007", 13, "..."), "/app/...00007");
  EXPECT_EQ(cut_middle("/app/jobs", 3), "/a…") << "no room for two ends";
  EXPECT_EQ(cut_middle("/app/jobs", 0), "");
}

TEST(ShortText, CharactersStayWhole) {
  const std::string wide = "/漢字漢字漢字漢字";
  for (std::size_t columns = 0; columns < 20; ++columns) {
    const auto cut = cut_middle(wide, columns);
    EXPECT_LE(text_width(cut), columns) << cut;
    EXPECT_TRUE(is_utf8(cut)) << cut;
  }
  EXPECT_EQ(cut_middle("/żółć/żółć", 7), "/żó…ółć");
  EXPECT_LE(text_width(cut_middle("\xff\xff\xff\xff\xff\xff\xff\xff", 5)), 5U);
}

TEST(ShortText, Guids) {
  const std::string node = "/l/_c_8fedd093-ab12-4c0e-9d52-0123456789ab-lock-0000000004";
  EXPECT_EQ(cut_middle(node, 40), "/l/_c_8fedd093…-lock-0000000004");
  EXPECT_EQ(cut_middle(node, 21), "/l/_c_8fed…0000000004");
  EXPECT_EQ(with_short_guids("/l/_c_8fedd093-ab12-4c0e-9d52-0123456789ab-lock-0000000004"),
            "/l/_c_8fedd093…-lock-0000000004");
  EXPECT_EQ(with_short_guids("8fedd093ab124c0e9d520123456789ab__lock__0000000004", "..."),
            "8fedd093...__lock__0000000004");
  for (const std::string text :
       {"/app/lock-0000000004", "8fedd093-ab12", "deadbeef",
        "8fedd093ab124c0e9d520123456789ab8fedd093ab124c0e9d520123456789ab", ""})
    EXPECT_EQ(with_short_guids(text), text);
}

}  // namespace
}  // namespace zksh
