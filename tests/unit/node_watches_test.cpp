// NodeWatches: a server's persistent watches, and what is told after a gap.
#include "client/node_watches.h"

#include "failures.h"
#include "fake_client.h"
#include "tree/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodeWatchesTest : public testing::Test {
 protected:
  NodeWatchesTest() { fake.serve_persistent_watches(); }

  void create(const std::string& path) { other.create({.path = path, .data = "x"}, {}); }
  void set(const std::string& path) { other.set({.path = path, .data = "y"}, {}); }
  void remove(const std::string& path) { other.remove({.path = path}, {}); }

  /// Notes all events, and returns what is to be reported.
  std::vector<std::string> told() {
    const auto noted = server.monitor().with_lock(
        [&](const Monitor::Held& held) { return std::exchange((*mailbox)(held), {}); });
    for (const auto& event : noted) watches.note(event);
    watches.catch_up({});
    std::vector<std::string> texts;
    for (const auto& event : watches.take_events())
      texts.push_back(std::string(event_name(event.type)) + " " + event.path);
    return texts;
  }

  FakeTree server;
  Mailbox mailbox = std::make_shared<Guarded<std::deque<Event>>>();
  FakeClient fake{server, [this](const Monitor::Held& held, const Event& event) {
                    (*mailbox)(held).push_back(event);
                  }};
  FakeClient other{server};
  NodeWatches watches{fake, mailbox, survey_subtree};
};

TEST_F(NodeWatchesTest, EachChangeIsOneEventAndNothingIsRead) {
  create("/a");
  for (const auto* const name : {"/a/1", "/a/2", "/a/3"}) create(name);
  const auto before = fake.requests();
  EXPECT_EQ(watches.add("/a", WatchMode::Recursive, {}), code::ok);
  EXPECT_LE(fake.requests(), before + 2);
  for (int i = 0; i < 3; ++i) set("/a/1");
  remove("/a/2");
  EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a/1", "NodeDataChanged /a/1",
                                  "NodeDataChanged /a/1", "NodeDeleted /a/2"));
  EXPECT_LE(fake.requests(), before + 2);
  EXPECT_EQ(fake.watches(), 0);
}

TEST_F(NodeWatchesTest, AnEventThatAOneShotWatchReportsTooIsOne) {
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  fake.get("/a", Watch::printed(), {});
  set("/a");
  EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a"));
  fake.children("/a", Watch::printed(), {});
  create("/a/b");
  EXPECT_THAT(told(), testing::UnorderedElementsAre("NodeCreated /a/b", "NodeChildrenChanged /a"));
}

TEST_F(NodeWatchesTest, AfterAGapTheStatsTell) {
  for (const auto* const path : {"/a", "/a/b", "/a/b/c", "/a/d", "/a/e", "/a/e/f"}) create(path);
  watches.add("/a", WatchMode::Recursive, {});
  EXPECT_THAT(told(), IsEmpty());
  fake.disconnect();
  remove("/a/b/c");
  set("/a/d");
  create("/a/e/g");
  set("/a/e/g");
  fake.reconnect();
  EXPECT_THAT(told(), ElementsAre("NodeChildrenChanged /a/b", "NodeDataChanged /a/d",
                                  "NodeCreated /a/e/g", "NodeDataChanged /a/e/g"));
  set("/a/d");
  EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a/d"));
  fake.disconnect();
  fake.reconnect();
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(NodeWatchesTest, ARootThatWentOrCameDuringAGapIsTold) {
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  watches.add("/b", WatchMode::Persistent, {});
  fake.disconnect();
  remove("/a");
  create("/b");
  create("/b/c");
  fake.reconnect();
  EXPECT_THAT(told(), testing::UnorderedElementsAre("NodeDeleted /a", "NodeCreated /b",
                                                    "NodeChildrenChanged /b"));
  fake.disconnect();
  create("/a");
  remove("/b/c");
  fake.reconnect();
  EXPECT_THAT(told(), testing::UnorderedElementsAre("NodeCreated /a", "NodeChildrenChanged /b"));
  fake.disconnect();
  remove("/a");
  create("/a");
  fake.reconnect();
  EXPECT_THAT(told(), ElementsAre("NodeDeleted /a", "NodeCreated /a"));
}

TEST_F(NodeWatchesTest, WhatWasWrittenWhileNothingWasWatchedIsNotTold) {
  const auto events = [&] {
    return server.monitor().with_lock(
        [&](const Monitor::Held& held) { return std::exchange((*mailbox)(held), {}); });
  };
  create("/a");
  create("/b");
  watches.add("/a", WatchMode::Persistent, {});
  fake.disconnect();
  for (const auto& event : events()) watches.note(event);
  watches.remove("/a", {});
  fake.reconnect();
  events();  // nobody looks at them: nothing is watched
  set("/b");
  watches.add("/b", WatchMode::Persistent, {});
  fake.disconnect();
  fake.reconnect();
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(NodeWatchesTest, AnotherLossDuringTheReadingLosesNothing) {
  for (const auto* const path : {"/a", "/a/b", "/a/c"}) create(path);
  watches.add("/a", WatchMode::Recursive, {});
  fake.disconnect();
  set("/a/b");
  fake.reconnect();
  fake.lose(1, FakeClient::When::BeforeItIsApplied, FakeClient::Loss::OfConnection);
  EXPECT_THAT(told(), IsEmpty());
  set("/a/c");
  fake.reconnect();
  EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a/b", "NodeDataChanged /a/c"));
}

TEST_F(NodeWatchesTest, AFailureThatLeavesTheConnectionLosesNothing) {
  for (const auto* const path : {"/a", "/a/b"}) create(path);
  watches.add("/a", WatchMode::Recursive, {});
  for (const int code : {code::connection_loss, code::operation_timeout, code::session_moved}) {
    fake.disconnect();
    set("/a/b");
    fake.reconnect();
    fake.fail_request(1, FakeClient::When::BeforeItIsApplied, code);
    EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a/b"));
    set("/a");
    EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a"));
  }
}

TEST_F(NodeWatchesTest, WhatARestoredServerHasIsNew) {
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  fake.disconnect();
  create("/a/b");
  fake.reconnect();
  server.monitor().with_lock([&](const Monitor::Held& held) {
    for (auto& event : (*mailbox)(held)) event.zxid = 1000;  // as had been seen before
  });
  EXPECT_THAT(told(), ElementsAre("NodeDeleted /a", "NodeCreated /a", "NodeCreated /a/b"));
  set("/a/b");
  EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a/b"));
  fake.disconnect();
  set("/a");
  fake.reconnect();
  EXPECT_THAT(told(), ElementsAre("NodeDataChanged /a"));
}

TEST_F(NodeWatchesTest, AServerThatHasNoneRefusesThem) {
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  fake.serve_persistent_watches(false);
  EXPECT_EQ(watches.add("/b", WatchMode::Persistent, {}), code::unimplemented);
  EXPECT_THAT(watches.modes(), ElementsAre(testing::Pair("/a", WatchMode::Recursive)));
}

TEST_F(NodeWatchesTest, AModeIsReplacedAndRemoved) {
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  watches.add("/a", WatchMode::Persistent, {});
  create("/a/b");
  EXPECT_THAT(told(), ElementsAre("NodeChildrenChanged /a"));
  EXPECT_FALSE(watches.remove("/a", WatchMode::Recursive));
  EXPECT_TRUE(watches.remove("/a", WatchMode::Persistent));
  set("/a");
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(NodeWatchesTest, AnotherSessionHasNoWatches) {
  watches.add("/a", WatchMode::Recursive, {});
  fake.expire();
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_TRUE(watches.modes().empty());
}

}  // namespace
}  // namespace zksh
