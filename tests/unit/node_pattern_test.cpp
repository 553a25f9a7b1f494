// Node patterns: which nodes match, and the cost of finding them.
#include "client/node_pattern.h"

#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodePatternTest : public testing::Test {
 protected:
  NodePatternTest() {
    for (const char* path : {"/a1", "/a1/x", "/a1/y", "/a2", "/a2/x", "/b", "/b/a1", "/s*r"})
      client.create({.path = path, .data = {}}, {});
  }
  std::vector<std::string> matches(const std::string& pattern) {
    return matching_nodes(client, pattern, {});
  }

  FakeTree tree;
  FakeClient client{tree};
};

TEST_F(NodePatternTest, EachNameIsAPatternOfItsOwn) {
  EXPECT_THAT(matches("/a*"), ElementsAre("/a1", "/a2"));
  EXPECT_THAT(matches("/a?/x"), ElementsAre("/a1/x", "/a2/x"));
  EXPECT_THAT(matches("/[ab]*/[!x]*"), ElementsAre("/a1/y", "/b/a1"));
  EXPECT_THAT(matches("/*/a1"), ElementsAre("/b/a1"));
}

TEST_F(NodePatternTest, NothingMatchesWhatIsNotThere) {
  EXPECT_THAT(matches("/none*"), IsEmpty());
  EXPECT_THAT(matches("/none/x*"), IsEmpty());
  EXPECT_THAT(matches("/a*/none"), IsEmpty());
}

TEST_F(NodePatternTest, ABackslashTakesTheMeaning) {
  EXPECT_THAT(matches("/s\\*r"), ElementsAre("/s*r"));
}

TEST_F(NodePatternTest, OneRequestForEachParent) {
  const auto before = client.requests();
  matches("/a*/*");
  EXPECT_EQ(client.requests() - before, 3U);
}

TEST_F(NodePatternTest, AFailureIsNotTakenForNoMatch) {
  client.fail_request(1, FakeClient::When::BeforeItIsApplied, code::session_expired);
  EXPECT_THROW(matches("/a*"), ZkError);
}

}  // namespace
}  // namespace zksh
