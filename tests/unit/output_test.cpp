// OutputQueue: order, wake-ups, and the limit that blocks adding.
#include "command/output.h"

#include "base/error.h"
#include "base/fd.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/eventfd.h>
#include <thread>

namespace zksh {
namespace {

class OutputQueueTest : public testing::Test {
 protected:
  bool woken() const {
    eventfd_t count = 0;
    return eventfd_read(wake.get(), &count) == 0;
  }

  Monitor monitor;
  Fd wake{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  OutputQueue queue{monitor, wake.get()};
};

TEST_F(OutputQueueTest, KeepsTheOrderOfTheStreams) {
  queue.add(Stream::Out, "a", {});
  queue.add(Stream::Out, "b", {});
  queue.add(Stream::Err, "c", {});
  queue.add(Stream::Out, "d", {});
  const auto chunks = queue.take();
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].bytes, "ab");
  EXPECT_EQ(chunks[1].stream, Stream::Err);
  EXPECT_EQ(chunks[1].bytes, "c");
  EXPECT_EQ(chunks[2].bytes, "d");
  EXPECT_TRUE(queue.take().empty());
}

TEST_F(OutputQueueTest, WakesWhenSomethingComes) {
  EXPECT_FALSE(woken());
  queue.add(Stream::Out, "a", {});
  EXPECT_TRUE(woken());
}

TEST_F(OutputQueueTest, AnAdderWaitsForRoomAndAStopEndsTheWait) {
  queue.add(Stream::Out, std::string(OutputQueue::limit + 1, 'x'), {});
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(queue.add(Stream::Out, "y", source.get_token()), Cancelled);
  std::jthread adder([&] { queue.add(Stream::Out, "y", {}); });
  std::string all;
  while (all.size() < OutputQueue::limit + 2)
    for (const auto& chunk : queue.take()) all += chunk.bytes;
  EXPECT_EQ(all.back(), 'y');
}

TEST_F(OutputQueueTest, WhatWasTakenIsWrittenWhenTheWriterComesForMore) {
  const auto written = [&] {
    std::stop_source source;
    source.request_stop();
    return queue.await_accepted(source.get_token());
  };
  EXPECT_TRUE(written());
  queue.add(Stream::Out, "a", {});
  EXPECT_FALSE(written());
  queue.take();
  EXPECT_FALSE(written());
  queue.add(Stream::Err, "b", {});
  queue.take();
  EXPECT_FALSE(written());
  queue.take();
  EXPECT_TRUE(written());
}

/// It takes a notice away.
TEST_F(OutputQueueTest, WhoWritesToTheStreamsNextWaitsForTheWriterEvenIfAllIsWritten) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(queue.await_written(Clock::time_point::max(), source.get_token()), Cancelled);
  EXPECT_TRUE(woken());
  std::atomic<bool> waits = true;
  std::jthread next([&] {
    queue.await_written(Clock::time_point::max(), {});
    waits = false;
  });
  std::size_t empty = 0;
  while (waits)
    for (const auto& chunk : queue.take()) empty += chunk.bytes.empty() ? 1 : 0;
  EXPECT_GE(empty, 1U);
}

/// `edit /x | less`: the editor starts while less has the terminal.
TEST_F(OutputQueueTest, WhoWritesNextDoesNotWaitForAProgramThatDraws) {
  queue.hold_back([] { return true; });
  std::jthread taker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) queue.take();
  });
  queue.await_written(Clock::time_point::max(), {});
  taker.request_stop();
  taker.join();
  queue.add(Stream::Out, "a", {});
  EXPECT_TRUE(queue.take().empty());
}

TEST_F(OutputQueueTest, AWaitForTheWriterEndsAtItsDeadline) {
  queue.add(Stream::Out, "a", {});
  queue.await_written(Clock::now(), {});
  EXPECT_EQ(queue.take().front().bytes, "a");
}

TEST_F(OutputQueueTest, TheLastWordOfAStoppedJobStillComes) {
  std::stop_source source;
  source.request_stop();
  Output out(queue, {}, source.get_token());
  out.err_regardless("gone");
  EXPECT_EQ(queue.take().front().bytes, "gone");
}

}  // namespace
}  // namespace zksh
