// WaitGraph: which sessions are stuck, and in which circles.
#include "lock/wait_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace zksh {
namespace {

using testing::IsEmpty;

std::string numbered_guid(std::size_t number) {
  return fmt::format("{:08}-0000-4000-8000-000000000000", number);
}

/// A queue as it is read; each contender is a session's.
class Queue {
 public:
  explicit Queue(const std::string& path) { reading_.path = path; }

  Queue& writer(std::int64_t session) { return add("lock-", session); }
  Queue& reader(std::int64_t session) { return add("__READ__", session); }
  Queue& read_write(std::int64_t session) { return add("__WRIT__", session); }
  LockView view() const { return make_lock_view(reading_, {}, {}, 0); }
  std::string node(std::size_t index) const {
    return reading_.path + "/" + reading_.queue.names[index];
  }

 private:
  Queue& add(const std::string& tag, std::int64_t session) {
    const auto number = reading_.queue.names.size();
    const auto name = fmt::format("_c_{}-{}{:010}", numbered_guid(number), tag, number);
    reading_.queue.names.push_back(name);
    reading_.queue.entries[name].stat.ephemeral_owner = session;
    return *this;
  }
  QueueReading reading_;
};

/// Holders of leases, and those who queue up for one.
LockView semaphore(const std::string& path, std::int64_t limit,
                   const std::vector<std::int64_t>& holders,
                   const std::vector<std::int64_t>& queue) {
  QueueReading reading{.path = path};
  auto& leases = reading.leases.emplace();
  if (limit > 0) reading.limit = limit;
  for (const auto session : holders) {
    const auto number = leases.names.size();
    const auto name = fmt::format("_c_{}-lease-{:010}", numbered_guid(number), number);
    leases.names.push_back(name);
    leases.entries[name].stat.ephemeral_owner = session;
  }
  for (const auto session : queue) {
    const auto number = reading.queue.names.size();
    const auto name = fmt::format("_c_{}-lock-{:010}", numbered_guid(100 + number), number);
    reading.queue.names.push_back(name);
    reading.queue.entries[name].stat.ephemeral_owner = session;
  }
  return make_lock_view(reading, {}, {}, 0);
}

/// "1/x 2/y": the sessions, and where each waits; "~" where the next one only waits before it.
std::string text_of(const std::optional<Deadlock>& deadlock) {
  if (!deadlock) return "none";
  std::string text;
  for (const auto& link : deadlock->links)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", link.session, link.path,
                        link.held ? "" : "~");
  return text;
}

TEST(WaitGraph, TwoThatWaitForEachOther) {
  const std::vector<LockView> locks{Queue("/x").writer(1).writer(2).view(),
                                    Queue("/y").writer(2).writer(1).view()};
  const WaitGraph graph(locks);
  EXPECT_EQ(text_of(graph.deadlock(1, "/y")), "1/y 2/x");
  EXPECT_EQ(text_of(graph.deadlock(2, "/x")), "2/x 1/y");
  EXPECT_EQ(text_of(graph.deadlock(1, "/x")), "none") << "it holds that";
  EXPECT_EQ(text_of(graph.deadlock(3, "/x")), "none");
  ASSERT_EQ(graph.deadlocks("/x").size(), 1U);
  EXPECT_EQ(graph.deadlocks("/x"), graph.deadlocks("/y")) << "wherever it is looked at";
  EXPECT_THAT(graph.deadlocks("/z"), IsEmpty());
}

TEST(WaitGraph, AWaitAloneIsNone) {
  const WaitGraph graph({Queue("/x").writer(1).writer(2).writer(3).view()});
  for (const auto session : {1, 2, 3}) EXPECT_EQ(text_of(graph.deadlock(session, "/x")), "none");
}

TEST(WaitGraph, AChainThatEndsIsNone) {
  const WaitGraph graph(
      {Queue("/x").writer(1).writer(2).view(), Queue("/y").writer(3).writer(1).view()});
  EXPECT_EQ(text_of(graph.deadlock(2, "/x")), "none");
}

TEST(WaitGraph, Four) {
  const WaitGraph graph(
      {Queue("/w").writer(1).writer(4).view(), Queue("/x").writer(2).writer(1).view(),
       Queue("/y").writer(3).writer(2).view(), Queue("/z").writer(4).writer(3).view()});
  EXPECT_EQ(text_of(graph.deadlock(3, "/z")), "3/z 4/w 1/x 2/y");
  ASSERT_EQ(graph.deadlocks("/z").size(), 1U);
  EXPECT_EQ(text_of(graph.deadlocks("/z").front()), "1/x 2/y 3/z 4/w");
}

TEST(WaitGraph, TheShortestOfSeveral) {
  const WaitGraph graph({Queue("/x").writer(1).writer(2).writer(3).view(),
                         Queue("/y").writer(2).writer(3).writer(1).view()});
  EXPECT_EQ(text_of(graph.deadlock(1, "/y")), "1/y 2/x");
  EXPECT_EQ(text_of(graph.deadlock(3, "/x")), "3/x 1/y~");
}

TEST(WaitGraph, WhoIsBehindACircleIsInNone) {
  const WaitGraph graph(
      {Queue("/x").writer(1).writer(2).writer(3).view(), Queue("/y").writer(2).writer(1).view()});
  EXPECT_EQ(text_of(graph.deadlock(3, "/x")), "none");
  EXPECT_EQ(graph.deadlocks("/x").size(), 1U);
}

TEST(WaitGraph, SeveralContendersOfASessionAreOne) {
  const WaitGraph graph({Queue("/x").writer(1).writer(1).view(), Queue("/y").writer(1).view()});
  EXPECT_EQ(text_of(graph.deadlock(1, "/x")), "none") << "another thread of it holds /x";
}

TEST(WaitGraph, ReadersDoNotWaitForReaders) {
  EXPECT_EQ(text_of(WaitGraph({Queue("/x").reader(1).reader(2).view(),
                               Queue("/y").writer(2).writer(1).view()})
                        .deadlock(1, "/y")),
            "none");
  // A writer waits for all of the readers, not only for the last.
  EXPECT_EQ(text_of(WaitGraph({Queue("/x").reader(1).reader(3).read_write(2).view(),
                               Queue("/y").writer(2).writer(1).view()})
                        .deadlock(1, "/y")),
            "1/y 2/x");
  // A reader waits for the writer before it, also for one that waits.
  EXPECT_EQ(text_of(WaitGraph({Queue("/x").reader(3).read_write(1).reader(2).view(),
                               Queue("/y").writer(2).writer(1).view()})
                        .deadlock(2, "/x")),
            "2/x~ 1/y");
}

TEST(WaitGraph, ASemaphoreWithRoomIsNone) {
  const auto lock = Queue("/x").writer(1).writer(2).view();
  EXPECT_EQ(text_of(WaitGraph({lock, semaphore("/s", 2, {2}, {1})}).deadlock(1, "/s")), "none");
  EXPECT_EQ(text_of(WaitGraph({lock, semaphore("/s", 1, {2}, {1})}).deadlock(1, "/s")), "1/s 2/x");
  EXPECT_EQ(text_of(WaitGraph({lock, semaphore("/s", 0, {2}, {1})}).deadlock(1, "/s")), "none")
      << "nothing tells how many leases there are";
}

TEST(WaitGraph, ALeaseThatMayBeGivenBackIsEnough) {
  const auto lock = Queue("/x").writer(1).writer(2).view();
  EXPECT_EQ(text_of(WaitGraph({lock, semaphore("/s", 2, {2, 3}, {1})}).deadlock(1, "/s")), "none");
  EXPECT_EQ(text_of(WaitGraph({Queue("/x").writer(1).writer(2).writer(3).view(),
                               semaphore("/s", 2, {2, 3}, {1})})
                        .deadlock(1, "/s")),
            "1/s 2/x");
  // One of the leases is its own: it would give that back no sooner.
  EXPECT_EQ(text_of(WaitGraph({lock, semaphore("/s", 2, {1, 2}, {1})}).deadlock(1, "/s")),
            "1/s 2/x");
}

TEST(WaitGraph, WhoQueuesUpForALeaseWaitsForWhoIsBefore) {
  const WaitGraph graph({Queue("/x").writer(3).writer(2).view(),
                         Queue("/y").writer(1).writer(2).view(), semaphore("/s", 1, {2}, {1, 3})});
  EXPECT_EQ(text_of(graph.deadlock(1, "/s")), "1/s 2/y");
  EXPECT_EQ(text_of(graph.deadlock(3, "/s")), "3/s~ 1/s 2/x");
}

TEST(WaitGraph, WhatPassesByItselfIsNotWaitedForInVain) {
  const auto x = Queue("/x").writer(1).writer(2);
  const std::vector<LockView> locks{x.view(), Queue("/y").writer(2).writer(1).view()};
  EXPECT_EQ(text_of(WaitGraph(locks, {x.node(0)}).deadlock(1, "/y")), "none");
  EXPECT_EQ(text_of(WaitGraph(locks, {"/elsewhere"}).deadlock(1, "/y")), "1/y 2/x");
}

TEST(WaitGraph, NodesOfNoSessionAreNobodys) {
  const WaitGraph graph(
      {Queue("/x").writer(0).writer(2).view(), Queue("/y").writer(2).writer(0).view()});
  EXPECT_THAT(graph.deadlocks("/x"), IsEmpty());
}

TEST(Deadlock, Texts) {
  const Deadlock two{
      {{.session = 1, .path = "/y", .held = true}, {.session = 2, .path = "/x", .held = true}}};
  EXPECT_EQ(own_deadlock_text(two), "deadlock: its holder waits for /x, which this shell holds");
  EXPECT_EQ(deadlock_text(two), "deadlock: 0x1 waits at /y for 0x2, which waits at /x for 0x1");
  const Deadlock three{{{.session = 1, .path = "/y", .held = false},
                        {.session = 2, .path = "/a b", .held = false},
                        {.session = 3, .path = "/x", .held = false}}};
  EXPECT_EQ(
      own_deadlock_text(three),
      "deadlock: a contender ahead of it waits for \"/a b\", where a contender ahead of it waits "
      "for /x, where this shell is ahead of it");
  EXPECT_EQ(
      deadlock_json(two).text(),
      R"([{"session":"0x1","path":"/y","held":true},{"session":"0x2","path":"/x","held":true}])");
}

}  // namespace
}  // namespace zksh
