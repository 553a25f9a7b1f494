// Pager: choosing one, and when results exceed the screen.
#include "shell/output_program.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace zksh {
namespace {

std::optional<std::string> pager_with(const char* own, const char* general) {
  setenv("PAGER", general, 1);
  if (own)
    setenv("ZKSH_PAGER", own, 1);
  else
    unsetenv("ZKSH_PAGER");
  return pager_line("");
}

TEST(Pager, TheSettingComesFirstThenItsOwnVariable) {
  EXPECT_EQ(pager_with("sh -x", "cat"), "sh -x");
  EXPECT_EQ(pager_with(nullptr, "sh"), "sh");
  EXPECT_EQ(pager_line("sh -e"), "sh -e");
  EXPECT_EQ(pager_line("off"), std::nullopt);
}

TEST(Pager, EmptyCatOrMissingIsNone) {
  for (const char* const none : {"", " ", "cat", "no-such-program -x", "/no/such"})
    EXPECT_EQ(pager_with(none, "sh"), std::nullopt) << none;
}

TEST(Pager, ARowIsAsWideAsTheScreen) {
  EXPECT_EQ(rows_of("", 10), 0U);
  EXPECT_EQ(rows_of("a\n\nb", 10), 3U);
  EXPECT_EQ(rows_of("0123456789\n01234567890\n", 10), 3U);
  EXPECT_EQ(rows_of("日本語日本語\n", 10), 2U);
}

}  // namespace
}  // namespace zksh
