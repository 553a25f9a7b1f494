// NodeWait: ends when the condition holds, and reads again only after an event.
#include "node/node_wait.h"

#include "fake_client.h"

#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

namespace zksh {
namespace {

TEST(ChildCount, ExactAndBounds) {
  const auto allowed = [](std::string_view text) {
    const ChildCount count(text, "--children");
    std::string all;
    for (int i = 0; i < 6; ++i) all += count.allows(i) ? '1' : '0';
    return all;
  };
  EXPECT_EQ(allowed("3"), "000100");
  EXPECT_EQ(allowed("3+"), "000111");
  EXPECT_EQ(allowed(">=3"), "000111");
  EXPECT_EQ(allowed(">3"), "000011");
  EXPECT_EQ(allowed("<=3"), "111100");
  EXPECT_EQ(allowed("<3"), "111000");
  EXPECT_EQ(allowed("<0"), "000000");
  for (const auto* text : {"", "x", "-1", ">", ">=", "+", ">=3+x", "3-", "99999999999"})
    EXPECT_THROW(ChildCount(text, "--children"), UsageError) << text;
}

class NodeWaitTest : public testing::Test {
 protected:
  using LooksAt = NodeCondition::LooksAt;

  void create(const std::string& path, const Data& data = "x") {
    other.create({.path = path, .data = data}, {});
  }
  static NodeCondition exists() {
    return {.holds = [](const NodeState& node) { return node.stat.has_value(); }};
  }
  static NodeCondition gone() {
    return {.holds = [](const NodeState& node) { return !node.stat.has_value(); }};
  }
  static NodeCondition children(int count) {
    return {.looks_at = LooksAt::Children, .holds = [count](const NodeState& node) {
              return node.stat && node.stat->num_children == count;
            }};
  }
  static NodeCondition value(const std::string& wanted) {
    return {.looks_at = LooksAt::Value,
            .holds = [wanted](const NodeState& node) { return node.value == wanted; }};
  }
  NodeState wait(const NodeCondition& wish) {
    NodeState seen;
    await_node(fake, "/a", wish, seen, {});
    return seen;
  }
  FakeTree server;
  FakeClient fake{server};
  FakeClient other{server};
};

TEST_F(NodeWaitTest, EndsAtOnceWhenItHolds) {
  wait(gone());
  create("/a");
  EXPECT_TRUE(wait(exists()).stat);
  EXPECT_EQ(wait(value("x")).value, "x");
  EXPECT_EQ(wait(children(0)).stat->num_children, 0);
}

TEST_F(NodeWaitTest, WaitsForEachStep) {
  std::jthread actor([&] {
    const auto watched = [&] {
      while (fake.watches() == 0) std::this_thread::yield();
    };
    watched();
    create("/a");
    watched();
    create("/a/b");
    watched();
    create("/a/c");
  });
  EXPECT_EQ(wait(children(2)).stat->num_children, 2);
}

TEST_F(NodeWaitTest, OneThatComesBetweenTwoLooksIsSeen) {
  // Before the look for its existence, after that for its value.
  fake.before_request(2, [&] { create("/a"); });
  EXPECT_EQ(wait(value("x")).value, "x");
}

TEST_F(NodeWaitTest, AnExpiredSessionIsReplaced) {
  fake.create({.path = "/a", .data = "x", .mode = CreateMode::Ephemeral}, {});
  std::jthread actor([&] {
    while (fake.watches() == 0) std::this_thread::yield();
    fake.expire();
  });
  EXPECT_FALSE(wait(gone()).stat);
}

TEST_F(NodeWaitTest, ALostAnswerIsAskedForAgain) {
  create("/a");
  fake.fail_request(1, FakeClient::When::BeforeItIsApplied);
  EXPECT_TRUE(wait(exists()).stat);
}

TEST_F(NodeWaitTest, WhatIsForbiddenIsAnError) {
  create("/a");
  fake.fail_request(1, FakeClient::When::BeforeItIsApplied, code::no_auth);
  EXPECT_THROW(wait(value("x")), ZkError);
}

TEST_F(NodeWaitTest, LeavesNoWatch) {
  create("/a");
  wait(exists());
  EXPECT_EQ(fake.watches(), 0U);
}

TEST_F(NodeWaitTest, AStopEndsIt) {
  std::stop_source stop;
  std::jthread actor([&] {
    while (fake.watches() == 0) std::this_thread::yield();
    stop.request_stop();
  });
  NodeState seen;
  EXPECT_THROW(await_node(fake, "/a", exists(), seen, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace zksh
