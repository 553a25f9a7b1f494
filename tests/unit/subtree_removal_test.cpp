// Subtree removal: its requests, its order, and what it took for leaves.
#include "tree/subtree_removal.h"

#include "fake_client.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zksh {
namespace {

class SubtreeRemovalTest : public testing::Test {
 protected:
  SubtreeRemovalTest() { client.serve_batches(); }

  void make(const std::string& path) { other.create({.path = path, .data = "x"}, {}); }
  /// As many children for each node of a level as `widths` says.
  void make_tree(const std::string& top, const std::vector<int>& widths, std::size_t level = 0) {
    make(top);
    ++made;
    for (int i = 0; level < widths.size() && i < widths[level]; ++i)
      make_tree(fmt::format("{}/n{:05}", top, i), widths, level + 1);
  }
  Removal removed(const std::string& top) {
    Removal removal;
    const auto before = client.requests();
    remove_subtree(client, {.top = top}, removal, {});
    requests = client.requests() - before;
    EXPECT_FALSE(other.exists(top, Watch::none(), {}));
    return removal;
  }

  FakeTree server;
  FakeClient other{server};
  FakeClient client{server};
  std::size_t made = 0;
  std::size_t requests = 0;
};

TEST_F(SubtreeRemovalTest, ManyNodesAreListedWithARequest) {
  struct Case {
    std::vector<int> widths;
    std::size_t most;
  };
  for (const auto& [widths, most] : {Case{{20'000}, 25}, Case{{20, 20, 49}, 90}}) {
    make_tree("/t", widths);
    EXPECT_EQ(removed("/t").removed, std::exchange(made, 0));
    EXPECT_LE(requests, most);
  }
}

TEST_F(SubtreeRemovalTest, AChainMayBeDeep) {
  constexpr std::size_t levels = 40;
  const auto level = "/" + std::string(100'000, 'x');
  std::string path;
  for (std::size_t i = 0; i < levels; ++i) make(path += level);
  EXPECT_EQ(removed(level).removed, levels);
}

TEST_F(SubtreeRemovalTest, WhatWasTakenForALeafIsListedIfItIsNone) {
  make_tree("/t", {11'000});
  for (const auto* path : {"/t/n00007/a", "/t/n00007/a/b", "/t/n10999/c"}) make(path);
  const auto removal = removed("/t");
  EXPECT_EQ(removal.removed, made + 3);
  EXPECT_EQ(removal.found, made + 3);
  EXPECT_FALSE(removal.failure);
}

TEST_F(SubtreeRemovalTest, AllOfFewNodesAreListedBeforeAnyIsRemoved) {
  make_tree("/t", {9, 999});
  client.fail_request(38, FakeClient::When::BeforeItIsApplied, code::system_error);
  Removal removal;
  EXPECT_THROW(remove_subtree(client, {.top = "/t"}, removal, {}), ZkError);
  EXPECT_EQ(removal.removed + removal.unknown, 0);
  EXPECT_TRUE(other.exists("/t/n00008/n00998", Watch::none(), {}));
}

TEST_F(SubtreeRemovalTest, ANodeThatGetsAChildKeepsItsTransactionAndIsNamed) {
  make_tree("/t", {3});
  const auto add_child = [&](const Removal& now) {
    if (now.found == made && !other.exists("/t/n00001/late", Watch::none(), {}))
      make("/t/n00001/late");
  };
  Removal removal;
  remove_subtree(client, {.top = "/t", .progress = add_child}, removal, {});
  EXPECT_EQ(removal.removed, 0U);
  ASSERT_TRUE(removal.failure);
  EXPECT_EQ(removal.failure->code(), code::not_empty);
  EXPECT_TRUE(other.exists("/t/n00002", Watch::none(), {}));
}

}  // namespace
}  // namespace zksh
