// NodeCache: lists of children are fetched, kept, and dropped when outdated.
#include "shell/node_cache.h"

#include "base/fd.h"
#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/eventfd.h>

namespace zksh {
namespace {

using testing::ElementsAre;

class NodeCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* path : {"/app", "/app/config", "/app/jobs", "/app/jobs/one"}) create(path);
  }

  void create(const std::string& path, CreateMode mode = CreateMode::Persistent) {
    client.create({.path = path, .data = "", .mode = mode}, {});
  }

  /// Waits until what was asked for has come.
  void let_it_come() {
    while (!cache.process_finished()) {
      pollfd waking{wake.get(), POLLIN, 0};
      ASSERT_EQ(poll(&waking, 1, 10'000), 1) << "nothing has come";
      eventfd_t count = 0;
      eventfd_read(wake.get(), &count);
    }
  }

  Candidates matches(const std::string& parent, const std::string& prefix, bool may_ask = true) {
    return cache.matches(parent, prefix, room, may_ask);
  }
  /// As the editor has it: a Tab, and another look when what it awaits has come.
  Candidates completed(const std::string& parent, const std::string& prefix) {
    auto found = matches(parent, prefix);
    if (!found.awaited) return found;
    let_it_come();
    return matches(parent, prefix, false);
  }

  static std::vector<std::string> shown(const Candidates& nodes) {
    std::vector<std::string> texts;
    for (const auto& node : nodes.first)
      texts.push_back(node.text + (node.mark == '*' ? "*" : "") +
                      (node.open && !node.text.ends_with('/') ? "?" : ""));
    return texts;
  }

  std::size_t room = 10;
  FakeTree tree;
  FakeClient client{tree};
  Fd wake{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  NodeCache cache{client, wake.get(), {.lists = 2}};
};

TEST_F(NodeCacheTest, TheFirstLookAsksAndTheNextKnows) {
  EXPECT_TRUE(matches("/app", "").awaited);
  let_it_come();
  create("/app/mine", CreateMode::Ephemeral);
  EXPECT_THAT(shown(completed("/app", "")), ElementsAre("config", "jobs/", "mine*"));
  const auto requests = client.requests();
  EXPECT_FALSE(matches("/app", "").awaited);
  EXPECT_EQ(client.requests(), requests);
}

TEST_F(NodeCacheTest, AChangeOfTheChildrenMakesAListOld) {
  completed("/app", "");
  create("/app/new");
  EXPECT_THAT(shown(completed("/app", "n")), ElementsAre("new"));
  client.remove({.path = "/app/new"}, {});
  EXPECT_EQ(completed("/app", "n").count, 0U);
}

TEST_F(NodeCacheTest, AChangeWhileAListComesIsNotMissed) {
  matches("/app", "");
  create("/app/new");
  let_it_come();
  EXPECT_THAT(shown(completed("/app", "")), ElementsAre("config", "jobs/", "new"));
}

TEST_F(NodeCacheTest, OnlyWhatIsShownIsAskedWhatItIs) {
  create("/big");
  for (int i = 0; i < 50; ++i) create("/big/node-" + std::to_string(100 + i));
  const auto before = client.requests();
  const auto nodes = completed("/big", "");
  EXPECT_EQ(nodes.common, "node-1");
  EXPECT_EQ(client.requests(), before + 1) << "their names tell enough";
  const auto listed = completed("/big", "node-1");
  EXPECT_EQ(listed.count, 50U);
  EXPECT_EQ(listed.first.size(), room);
  EXPECT_EQ(client.requests(), before + 1 + room);
}

TEST_F(NodeCacheTest, ListsAreFewAndTheirWatchesToo) {
  for (const char* path : {"/a", "/b", "/c"}) create(path);
  for (const char* path : {"/a", "/b", "/c"}) completed(path, "");
  EXPECT_EQ(client.watches(), 2U);
  EXPECT_FALSE(matches("/c", "").awaited);
  EXPECT_TRUE(matches("/a", "").awaited) << "the one that was used first is dropped";
}

TEST_F(NodeCacheTest, ANewSessionKnowsNothing) {
  completed("/app", "");
  client.expire();
  client.await_connection("/", {});
  EXPECT_TRUE(matches("/app", "").awaited);
  let_it_come();
}

TEST_F(NodeCacheTest, WithoutAConnectionNothingIsAwaited) {
  completed("/app", "");
  client.disconnect();
  EXPECT_FALSE(matches("/other", "").awaited);
  EXPECT_EQ(matches("/app", "").count, 2U) << "what is known is still offered";
}

TEST_F(NodeCacheTest, ANodeThatIsNotThereHasNoChildren) {
  EXPECT_EQ(completed("/nonesuch", "").count, 0U);
  EXPECT_EQ(client.watches(), 0U);
}

TEST_F(NodeCacheTest, AnswersThatNeverComeKeepNobody) {
  const auto before = client.requests();
  client.hold_back();
  for (int i = 0; i < 100; ++i) matches("/n" + std::to_string(i), "");
  EXPECT_LE(client.requests(), before + 8);
}

}  // namespace
}  // namespace zksh
