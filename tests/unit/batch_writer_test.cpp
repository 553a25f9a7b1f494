// BatchWriter: order, limits, and the writes around one that fails or is lost.
#include "tree/batch_writer.h"

#include "base/error.h"
#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class BatchWriterTest : public testing::Test {
 protected:
  void SetUp() override { other.create({.path = "/t", .data = "x"}, {}); }
  static Write create(const std::string& path) { return CreateOp{.path = path, .data = "x"}; }
  static Write remove(const std::string& path) { return RemoveOp{.path = path}; }

  /// "PATH CODE" of each, in the order of the reports; a star marks one sent before.
  std::vector<std::string> write(Client& by, const std::vector<Write>& writes,
                                 std::size_t count = 1000) {
    std::vector<std::string> told;
    BatchWriter writer(by, {.count = count},
                       [&](const Write& one, const Written& result) {
                         told.push_back(path_of(one) + " " + std::to_string(result.code) +
                                        (result.sent_before ? "*" : ""));
                       },
                       {});
    for (const auto& one : writes) writer.add(one);
    writer.finish();
    EXPECT_EQ(writer.in_flight(), 0);
    return told;
  }
  std::vector<std::string> children() {
    return other.children("/t", Watch::none(), {}).names.strings();
  }

  FakeTree server;
  FakeClient other{server};
  FakeClient client{server};
};

TEST_F(BatchWriterTest, SendsTransactionsOfTheirSize) {
  std::vector<Write> writes;
  writes.reserve(10);
  for (int i = 0; i < 10; ++i) writes.push_back(create("/t/" + std::to_string(i)));
  const auto before = client.requests();
  EXPECT_EQ(write(client, writes, 4).size(), 10);
  EXPECT_EQ(client.requests() - before, 3);
  EXPECT_EQ(children().size(), 10);
}

TEST_F(BatchWriterTest, AndNoneOfMoreBytesThanAServerTakes) {
  std::vector<Write> writes;
  writes.reserve(10);
  for (int i = 0; i < 10; ++i)
    writes.emplace_back(
        CreateOp{.path = "/t/" + std::to_string(i), .data = std::string(300'000, 'x')});
  const auto before = client.requests();
  write(client, writes);
  EXPECT_EQ(client.requests() - before, 10);
}

TEST_F(BatchWriterTest, OneThatFailsLeavesTheOthers) {
  other.create({.path = "/t/b", .data = "old"}, {});
  EXPECT_THAT(write(client, {create("/t/a"), create("/t/b"), create("/t/b/c"), create("/none/x"),
                             remove("/t/a"), create("/t/d")}),
              ElementsAre("/t/a 0", "/t/b -110", "/t/b/c 0", "/none/x -101", "/t/a 0", "/t/d 0"));
  EXPECT_THAT(children(), ElementsAre("b", "d"));
}

TEST_F(BatchWriterTest, SoDoManyThatFail) {
  std::vector<Write> writes;
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    const auto path = "/t/" + std::to_string(i);
    if (i % 2 == 0) other.create({.path = path, .data = ""}, {});
    writes.push_back(create(path));
    expected.push_back(path + (i % 2 == 0 ? " -110" : " 0"));
  }
  EXPECT_EQ(write(client, writes, 7), expected);
  EXPECT_EQ(children().size(), 20);
}

TEST_F(BatchWriterTest, OneBehindATransactionThatFailsIsTriedAgainAfterIt) {
  other.create({.path = "/t/p", .data = ""}, {});
  other.create({.path = "/t/p/x", .data = ""}, {});
  EXPECT_THAT(write(client, {remove("/t/p/gone"), remove("/t/p/x"), remove("/t/p")}, 2),
              ElementsAre("/t/p/gone -101", "/t/p/x 0", "/t/p 0"));
}

TEST_F(BatchWriterTest, OneBehindALostTransactionIsTriedAgainAfterIt) {
  client.lose(1, FakeClient::When::BeforeItIsApplied, FakeClient::Loss::OfAnswer);
  EXPECT_THAT(write(client, {create("/t/p"), create("/t/p/x"), create("/t/p/x/y")}, 2),
              ElementsAre("/t/p 0*", "/t/p/x 0*", "/t/p/x/y 0"));
}

TEST_F(BatchWriterTest, WhatNoTransactionTakesGoesAloneInItsPlace) {
  const Acl acl{{perm::read, "world", "anyone"}};
  EXPECT_THAT(write(client, {create("/t/a"), SetAclOp{.path = "/t/a", .acl = acl},
                             CreateOp{.path = "/t/c", .data = "", .mode = CreateMode::Container},
                             create("/t/a/b"), create("/t/c/d")}),
              ElementsAre("/t/a 0", "/t/a 0", "/t/c 0", "/t/a/b 0", "/t/c/d 0"));
  EXPECT_EQ(other.get_acl("/t/a", {}).acl, acl);
}

TEST_F(BatchWriterTest, EveryRequestMayBeLostBeforeOrAfterItIsApplied) {
  for (const auto when : {FakeClient::When::BeforeItIsApplied, FakeClient::When::AfterItWasApplied})
    for (const auto loss : {FakeClient::Loss::OfAnswer, FakeClient::Loss::OfSession})
      for (std::size_t number = 1; number <= 4; ++number) {
        FakeClient loser{server};
        loser.lose(number, when, loss);
        write(loser, {create("/t/a"), create("/t/a/b"), create("/t/c"), create("/t/d")}, 1);
        EXPECT_THAT(children(), ElementsAre("a", "c", "d")) << number;
        FakeClient other_loser{server};
        other_loser.lose(number, when, loss);
        const auto told = write(
            other_loser, {remove("/t/a/b"), remove("/t/a"), remove("/t/c"), remove("/t/d")}, 2);
        EXPECT_EQ(told.size(), 4);
        EXPECT_THAT(children(), IsEmpty()) << number;
      }
}

TEST_F(BatchWriterTest, WhatWasDoneBeforeTheLossIsToldAsSuch) {
  client.fail_request(1, FakeClient::When::AfterItWasApplied);
  EXPECT_THAT(write(client, {create("/t/a"), create("/t/b")}),
              ElementsAre("/t/a -110*", "/t/b -110*"));
}

TEST_F(BatchWriterTest, ASequentialNodeIsNotMadeTwice) {
  client.fail_request(1, FakeClient::When::AfterItWasApplied);
  EXPECT_THAT(
      write(client, {create("/t/a"), CreateOp{.path = "/t/s-", .data = "", .sequential = true}}),
      ElementsAre("/t/s- -4*", "/t/a -110*"));
  EXPECT_EQ(children().size(), 2);
}

TEST_F(BatchWriterTest, OneThatIsLostAgainAndAgainIsGivenUp) {
  for (std::size_t number = 1; number <= 12; ++number)
    client.fail_request(number, FakeClient::When::BeforeItIsApplied);
  EXPECT_THAT(write(client, {create("/t/a")}), ElementsAre("/t/a -4*"));
  EXPECT_THAT(children(), IsEmpty());
}

TEST_F(BatchWriterTest, WhatIsSentAloneAndFailsBehindALostOneIsTriedAgainAfterIt) {
  for (std::size_t number = 1; number <= 3; ++number)
    client.fail_request(number, FakeClient::When::BeforeItIsApplied);
  EXPECT_THAT(write(client, {create("/t/p"), create("/t/p/x"), create("/t/q")}),
              ElementsAre("/t/p 0*", "/t/p/x 0*", "/t/q 0*"));
}

TEST_F(BatchWriterTest, AfterLossesMoreAndMoreAreUnderWay) {
  constexpr std::size_t count = 20;
  std::vector<Write> writes;
  writes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) writes.push_back(create("/t/" + std::to_string(i)));
  // Two transactions, and each by itself.
  for (std::size_t number = 1; number <= 2 + count; ++number)
    client.fail_request(number, FakeClient::When::BeforeItIsApplied);
  auto expected = client.requests() + 2 + count;
  client.before_request(3 + count, [&] { client.hold_back(); });
  const auto until = Clock::now() + std::chrono::seconds(30);
  std::thread server([&] {
    for (const std::size_t together : {1U, 2U, 4U, 8U, 5U}) {
      expected += together;
      while (client.requests() < expected && Clock::now() < until) std::this_thread::yield();
      EXPECT_EQ(client.requests(), expected);
      for (std::size_t i = 0; i < together; ++i)
        while (!client.deliver() && Clock::now() < until) std::this_thread::yield();
    }
    client.deliver_all();
  });
  EXPECT_EQ(write(client, writes).size(), count);
  server.join();
  EXPECT_EQ(children().size(), count);
}

}  // namespace
}  // namespace zksh
