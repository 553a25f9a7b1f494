// WatchedTree: reports of changes with events, and of changes between events.
#include "client/watched_tree.h"

#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string text_of(const Event& event) {
  switch (event.type) {
    case Event::Type::Created:
      return "created " + event.path;
    case Event::Type::Deleted:
      return "deleted " + event.path;
    case Event::Type::DataChanged:
      return "changed " + event.path;
    case Event::Type::ChildrenChanged:
      return "children " + event.path;
    default:
      return "?";
  }
}

class WatchedTreeTest : public testing::Test {
 protected:
  void create(const std::string& path) { other.create({.path = path, .data = "x"}, {}); }
  void create_ephemeral(const std::string& path) {
    other.create({.path = path, .data = {}, .mode = CreateMode::Ephemeral}, {});
  }
  void create_unreadable(const std::string& path) {
    other.create({.path = path, .data = {}, .acl = {{perm::all & ~perm::read, "world", "anyone"}}},
                 {});
  }
  void set(const std::string& path) { other.set({.path = path, .data = "y"}, {}); }
  void remove(const std::string& path) { other.remove({.path = path}, {}); }

  void watch(const std::string& path, WatchMode mode = WatchMode::Recursive) {
    tree.add(path, mode);
    ASSERT_EQ(tree.catch_up({}), code::ok);
    tree.take_events();
  }
  void take_notes() {
    const auto events = fake.monitor().change(
        [&](const Monitor::Held& held) { return std::exchange((*mailbox)(held), {}); });
    for (const auto& event : events) tree.note(event);
  }
  std::vector<std::string> told() {
    std::vector<std::string> texts;
    for (const auto& event : tree.take_events()) texts.push_back(text_of(event));
    return texts;
  }
  /// What is told of all that has happened until now.
  std::vector<std::string> round() {
    do {
      take_notes();
      tree.resolve_doubts();
      tree.catch_up({});
    } while (tree.in_doubt());
    return told();
  }
  FakeTree server;
  Mailbox mailbox = std::make_shared<Guarded<std::deque<Event>>>();
  FakeClient fake{server, [this](const Monitor::Held& held, const Event& event) {
                    (*mailbox)(held).push_back(event);
                  }};
  FakeClient other{server};
  WatchedTree tree{fake, mailbox};
};

TEST_F(WatchedTreeTest, TellsOfEachStepBelowARecursiveWatch) {
  create("/a");
  watch("/a");
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("created /a/b"));
  create("/a/b/c");
  EXPECT_THAT(round(), ElementsAre("created /a/b/c"));
  set("/a/b/c");
  EXPECT_THAT(round(), ElementsAre("changed /a/b/c"));
  set("/a/b/c");
  EXPECT_THAT(round(), ElementsAre("changed /a/b/c"));
  remove("/a/b/c");
  EXPECT_THAT(round(), ElementsAre("deleted /a/b/c"));
  set("/a");
  EXPECT_THAT(round(), ElementsAre("changed /a"));
}

TEST_F(WatchedTreeTest, TellsOfTheListOfAPersistentWatchAndOfNothingBelow) {
  create("/a");
  watch("/a", WatchMode::Persistent);
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("children /a"));
  set("/a/b");
  create("/a/b/c");
  EXPECT_THAT(round(), IsEmpty());
  set("/a");
  EXPECT_THAT(round(), ElementsAre("changed /a"));
}

TEST_F(WatchedTreeTest, AWatchOnAMissingNodeOutlivesTheNode) {
  watch("/a");
  create("/a");
  EXPECT_THAT(round(), ElementsAre("created /a"));
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("created /a/b"));
  remove("/a/b");
  remove("/a");
  EXPECT_THAT(round(), ElementsAre("deleted /a/b", "deleted /a"));
  create("/a");
  EXPECT_THAT(round(), ElementsAre("created /a"));
}

TEST_F(WatchedTreeTest, CountsTheWritesThatOneEventStandsFor) {
  create("/a");
  watch("/a");
  set("/a");
  set("/a");
  set("/a");
  EXPECT_THAT(round(), ElementsAre("changed /a", "changed /a", "changed /a"));
  EXPECT_THAT(round(), IsEmpty());
}

TEST_F(WatchedTreeTest, CountsTheListsThatOneEventStandsFor) {
  create("/a");
  watch("/a", WatchMode::Persistent);
  create("/a/b");
  create("/a/c");
  EXPECT_THAT(round(), ElementsAre("children /a", "children /a"));
  remove("/a/b");
  remove("/a/c");
  remove("/a");
  EXPECT_THAT(round(), ElementsAre("children /a", "children /a", "deleted /a"));
}

TEST_F(WatchedTreeTest, FindsASubtreeThatWasMadeInOneGoInTheOrderOfItsMaking) {
  create("/a");
  watch("/a");
  create("/a/z");
  create("/a/z/1");
  create("/a/b");
  set("/a/z");
  create("/a/z/0");
  EXPECT_THAT(round(), ElementsAre("created /a/z", "created /a/z/1", "created /a/b", "changed /a/z",
                                   "created /a/z/0"));
}

TEST_F(WatchedTreeTest, ADeletedAndCreatedNodeGivesBothEvents) {
  create("/a");
  create("/a/b");
  watch("/a");
  remove("/a/b");
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("deleted /a/b", "created /a/b"));
  set("/a/b");
  EXPECT_THAT(round(), ElementsAre("changed /a/b"));
}

TEST_F(WatchedTreeTest, AListThatWasWantedBeforeANodesEndTellsOfItsSuccessorAfterThat) {
  create("/a");
  create("/a/b");
  watch("/a");
  create("/a/c");  // the list is wanted from now on
  remove("/a/b");
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("deleted /a/b", "created /a/c", "created /a/b"));
}

TEST_F(WatchedTreeTest, TheWatchedNodeItselfDeletedAndCreatedGivesBothEvents) {
  create("/a");
  watch("/a");
  set("/a");
  remove("/a");
  create("/a");
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("changed /a", "deleted /a", "created /a", "created /a/b"));
  set("/a");
  EXPECT_THAT(round(), ElementsAre("changed /a"));
}

// An ephemeral has no watch on its children, which could tell of its end when the other has fired.
TEST_F(WatchedTreeTest, AnEphemeralWrittenAndDeletedAtOnceGivesBothEvents) {
  create("/a");
  create_ephemeral("/a/e");
  watch("/a");
  set("/a/e");
  remove("/a/e");
  EXPECT_THAT(round(), ElementsAre("changed /a/e", "deleted /a/e"));
  create_ephemeral("/a/e");
  EXPECT_THAT(round(), ElementsAre("created /a/e"));
}

// A node is deleted and created again before each of the requests that follow an event.
TEST_F(WatchedTreeTest, NothingIsLostOrToldTwiceWhateverHappensBetweenTwoRequests) {
  std::size_t at = 1;
  for (bool reached = true; reached; ++at) {
    SCOPED_TRACE(at);
    const auto top = "/t" + std::to_string(at);
    create(top);
    create(top + "/b");
    watch(top);
    reached = false;
    fake.before_request(at, [&] {
      reached = true;
      remove(top + "/b");
      create(top + "/b");
    });
    create(top + "/c");
    set(top + "/b");
    auto events = round();
    for (auto& text : round()) events.push_back(text);
    if (!reached) break;
    EXPECT_THAT(events,
                testing::UnorderedElementsAre("created " + top + "/c", "changed " + top + "/b",
                                              "deleted " + top + "/b", "created " + top + "/b"));
    set(top + "/b");
    create(top + "/b/below");
    EXPECT_THAT(round(), ElementsAre("changed " + top + "/b", "created " + top + "/b/below"));
  }
  EXPECT_GT(at, 4U);
}

TEST_F(WatchedTreeTest, WhatIsThereAlreadyIsNoNews) {
  create("/a");
  create("/a/b");
  tree.add("/a", WatchMode::Recursive);
  tree.catch_up({});
  tree.take_events();
  EXPECT_THAT(round(), IsEmpty());
}

TEST_F(WatchedTreeTest, OverlappingWatchesTellOnce) {
  create("/a");
  create("/a/b");
  watch("/a");
  watch("/a/b", WatchMode::Persistent);
  create("/a/b/c");
  EXPECT_THAT(round(), ElementsAre("created /a/b/c", "children /a/b"));
  remove("/a/b/c");
  EXPECT_THAT(round(), ElementsAre("deleted /a/b/c", "children /a/b"));
}

TEST_F(WatchedTreeTest, AWiderWatchSeesBelowThoseThatWereThere) {
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) create(path);
  watch("/a/b", WatchMode::Persistent);
  watch("/a");
  set("/a/b/c");
  EXPECT_THAT(round(), ElementsAre("changed /a/b/c"));
  create("/a/b/d");
  EXPECT_THAT(round(), ElementsAre("created /a/b/d", "children /a/b"));
}

TEST_F(WatchedTreeTest, AnotherModeReplacesTheFirst) {
  create("/a");
  create("/a/b");
  watch("/a");
  watch("/a", WatchMode::Persistent);
  set("/a/b");
  create("/a/c");
  EXPECT_THAT(round(), ElementsAre("children /a"));
  watch("/a");
  set("/a/b");
  create("/a/d");
  EXPECT_THAT(round(), ElementsAre("changed /a/b", "created /a/d"));
}

TEST_F(WatchedTreeTest, RemovingOneWatchLeavesTheOthers) {
  create("/a");
  create("/a/b");
  watch("/a");
  watch("/a/b");
  EXPECT_FALSE(tree.remove("/a", WatchMode::Persistent));
  EXPECT_TRUE(tree.remove("/a", std::nullopt));
  EXPECT_FALSE(tree.remove("/a", std::nullopt));
  set("/a");
  set("/a/b");
  create("/a/c");
  EXPECT_THAT(round(), ElementsAre("changed /a/b"));
  EXPECT_TRUE(tree.remove("/a/b", WatchMode::Recursive));
  EXPECT_TRUE(tree.empty());
}

TEST_F(WatchedTreeTest, AChangeThatAPrintedWatchSeesTooIsToldOnce) {
  create("/a");
  fake.get("/a", Watch::printed(), {});
  watch("/a");
  fake.children("/a", Watch::printed(), {});
  fake.exists("/a/b", Watch::printed(), {});
  set("/a");
  EXPECT_THAT(round(), ElementsAre("changed /a"));
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("created /a/b", "children /a"));
  fake.get("/a/b", Watch::printed(), {});
  remove("/a/b");
  EXPECT_THAT(round(), ElementsAre("deleted /a/b"));
}

TEST_F(WatchedTreeTest, AfterALostConnectionTellsWhatWasMissed) {
  create("/a");
  create("/a/b");
  create("/a/b/deep");
  create("/a/c");
  watch("/a");
  fake.disconnect();
  EXPECT_THAT(round(), IsEmpty());
  remove("/a/b/deep");
  remove("/a/b");
  set("/a/c");
  create("/a/d");
  set("/a/d");
  fake.reconnect();
  EXPECT_THAT(round(), ElementsAre("deleted /a/b/deep", "deleted /a/b", "changed /a/c",
                                   "created /a/d", "changed /a/d"));
  EXPECT_THAT(round(), IsEmpty());
  set("/a/d");
  EXPECT_THAT(round(), ElementsAre("changed /a/d"));
}

// Whichever request is the one that the connection is lost with.
TEST_F(WatchedTreeTest, AConnectionLostAtAnyRequestLosesNoEvent) {
  std::size_t at = 1;
  for (bool reached = true; reached; ++at) {
    SCOPED_TRACE(at);
    const auto top = "/t" + std::to_string(at);
    create(top);
    watch(top);
    reached = false;
    fake.before_request(at, [&] {
      reached = true;
      fake.disconnect();
    });
    create(top + "/b");
    create(top + "/b/c");
    set(top + "/b");
    auto events = round();
    if (!reached) break;
    fake.reconnect();
    for (auto& text : round()) events.push_back(text);
    EXPECT_THAT(events,
                testing::UnorderedElementsAre("created " + top + "/b", "created " + top + "/b/c",
                                              "changed " + top + "/b"));
  }
  EXPECT_GT(at, 4U);
}

TEST_F(WatchedTreeTest, AllWatchesEndWithTheSession) {
  create("/a");
  watch("/a");
  fake.expire();
  take_notes();
  EXPECT_TRUE(tree.empty());
}

TEST_F(WatchedTreeTest, ANodeThatMayNotBeListedIsNamedAndNotToldOf) {
  create("/a");
  create_unreadable("/a/shut");
  watch("/a");
  EXPECT_THAT(tree.take_unlistable(), ElementsAre("/a/shut"));
  create_unreadable("/a/shut2");
  create("/a/open");
  EXPECT_THAT(round(), ElementsAre("created /a/open"));
  EXPECT_THAT(tree.take_unlistable(), ElementsAre("/a/shut2"));
}

// Servers withhold the events of a node that became unreadable.
TEST_F(WatchedTreeTest, ANodeWhoseEndIsWithheldIsNoticedInItsParentsList) {
  create("/a");
  create("/a/b");
  watch("/a");
  remove("/a/b");
  fake.monitor().change([&](const Monitor::Held& held) {
    std::erase_if((*mailbox)(held), [](const Event& event) { return event.path == "/a/b"; });
  });
  EXPECT_THAT(round(), ElementsAre("deleted /a/b"));
  create("/a/b");
  EXPECT_THAT(round(), ElementsAre("created /a/b"));
}

TEST_F(WatchedTreeTest, ReportsAConnectionThatFailsWhileAWatchIsAdded) {
  create("/a");
  fake.fail_request(1, FakeClient::When::BeforeItIsApplied);
  tree.add("/a", WatchMode::Recursive);
  EXPECT_EQ(tree.catch_up({}), code::connection_loss);
}

TEST_F(WatchedTreeTest, EphemeralsAreNotListed) {
  create("/a");
  create_ephemeral("/a/e");
  const auto before = fake.requests();
  watch("/a");
  EXPECT_EQ(fake.requests() - before, 3U);  // two Stats, one list
}

}  // namespace
}  // namespace zksh
