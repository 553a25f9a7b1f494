// History expansion: lines that refer to earlier ones.
#include "base/error.h"
#include "command/line_history.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

class Expansion : public testing::Test {
 protected:
  Expansion() {
    for (const auto* line : {"ls /", "get /a", "addauth digest ann:secret", "ls /b"})
      history.add(line);
  }
  std::optional<std::string> expanded(const std::string& line) const {
    return expand_history(line, history);
  }
  LineHistory history;
};

TEST_F(Expansion, NamesALine) {
  EXPECT_EQ(expanded("!!"), "ls /b");
  EXPECT_EQ(expanded("!0"), "ls /");
  EXPECT_EQ(expanded("!-3"), "get /a");
  EXPECT_EQ(expanded("!g"), "get /a");
  EXPECT_EQ(expanded("!ls"), "ls /b");
}

TEST_F(Expansion, KeepsWhatStandsAround) {
  EXPECT_EQ(expanded("!! | wc -l"), "ls /b | wc -l");
  EXPECT_EQ(expanded("  !0"), "  ls /");
}

TEST_F(Expansion, IsForTheFirstWordAlone) {
  for (const auto* line : {"get /!!", "set /a !!", "", "  ", "!", "! x"})
    EXPECT_EQ(expanded(line), std::nullopt) << line;
}

TEST_F(Expansion, RefusesWhatIsNotThere) {
  for (const auto* line : {"!4", "!-5", "!-0", "!nosuch", "!99999999999999999999999", "!2"})
    EXPECT_THROW(expanded(line), ValueError) << line;
  history = {};
  EXPECT_THROW(expanded("!!"), ValueError);
}

}  // namespace
}  // namespace zksh
