// Suggestions: which known words resemble a misspelled one.
#include "base/text.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

const std::vector<std::string> commands{"addWatch", "addauth",   "close", "create",
                                        "delete",   "deleteall", "get",   "getAcl",
                                        "history",  "ls",        "ls2",   "set"};

std::vector<std::string> near(std::string_view word) { return suggestions(word, commands); }

TEST(Suggestions, FindsSlips) {
  EXPECT_EQ(near("craete").front(), "create");
  EXPECT_EQ(near("lss").front(), "ls");
  EXPECT_EQ(near("delet").front(), "delete");
  EXPECT_EQ(near("getacl").front(), "getAcl") << "a wrong case is nearer than a wrong letter";
  EXPECT_EQ(near("hist").front(), "history") << "a beginning counts";
}

TEST(Suggestions, NamesOnlyWhatIsNear) {
  EXPECT_EQ(near("gte"), std::vector<std::string>{"get"});
  EXPECT_EQ(near("SET"), std::vector<std::string>{"set"});
  EXPECT_TRUE(near("info").empty());
  const std::vector<std::string> options{"--force", "--recursive", "-r"};
  EXPECT_TRUE(suggestions("--once", options).empty()) << "dashes are no letters";
  EXPECT_EQ(suggestions("--recursivf", options), std::vector<std::string>{"--recursive"});
}

TEST(Suggestions, NamesNothingForWhatIsFarFromAll) {
  EXPECT_TRUE(near("frobnicate").empty());
  EXPECT_TRUE(near("").empty());
  EXPECT_TRUE(near(std::string(1000, 'x')).empty());
}

TEST(Suggestions, NamesThreeAtTheMost) { EXPECT_LE(near("xet").size(), 3U); }

}  // namespace
}  // namespace zksh
