// LockReader: what it reads, and what it reads again after a change.
#include "lock/reader.h"

#include "client/forwarding_client.h"
#include "fake_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class LockReaderTest : public testing::Test {
 protected:
  std::string enter(const std::string& parent, const std::string& tag,
                    const std::string& data = "me") {
    return other
        .create({.path = fmt::format("{}/_c_{}-{}", parent, fresh_guid(), tag),
                 .data = data,
                 .mode = CreateMode::Ephemeral,
                 .sequential = true},
                {})
        .path;
  }
  void create(const std::string& path, const Data& data = "") {
    other.create({.path = path, .data = data}, {});
  }
  /// The contenders' data in the order of their numbers; "-" when there is no node.
  std::string read() {
    const auto reading = reader.read({});
    if (!reading) return "-";
    std::string text;
    for (const auto& contender : make_lock_queue(reading->queue.names).contenders)
      text += reading->queue.entries.at(contender.nodes.front().text).data.value_or("null");
    return text;
  }
  bool changed() { return reader.await_change({}, Clock::now()); }

  FakeTree tree;
  FakeClient fake{tree};
  FakeClient other{tree};
  LockReader reader{fake, "/l", true};
};

TEST_F(LockReaderTest, FollowsAQueue) {
  create("/l");
  const auto first = enter("/l", "lock-", "a");
  enter("/l", "lock-", "b");
  EXPECT_EQ(read(), "ab");
  EXPECT_FALSE(changed());
  enter("/l", "lock-", "c");
  EXPECT_TRUE(changed());
  EXPECT_EQ(read(), "abc");
  other.remove({.path = first}, {});
  EXPECT_TRUE(changed());
  EXPECT_EQ(read(), "bc");
  EXPECT_FALSE(changed()) << "every event has been taken";
}

TEST_F(LockReaderTest, ReadsAgainOnlyWhatHasChanged) {
  create("/l");
  for (int i = 0; i < 50; ++i) enter("/l", "lock-", ".");
  read();
  const auto one = enter("/l", "lock-", "x");
  auto before = fake.requests();
  read();
  EXPECT_EQ(fake.requests() - before, 2U) << "the list, and the new one";
  other.set({.path = one, .data = "y"}, {});
  before = fake.requests();
  EXPECT_EQ(read(), std::string(50, '.') + "y");
  EXPECT_EQ(fake.requests() - before, 1U);
}

TEST_F(LockReaderTest, ANodeThatVanishesBetweenListAndReadIsLeftOut) {
  create("/l");
  const auto first = enter("/l", "lock-", "a");
  enter("/l", "lock-", "b");
  fake.before_request(2, [&] { other.remove({.path = first}, {}); });
  EXPECT_EQ(read(), "b");
}

TEST_F(LockReaderTest, NodesOfOneContenderVanishTogether) {
  create("/l");
  const auto guid = fresh_guid();
  const auto node = [&](const std::string& tag) {
    return CreateOp{.path = fmt::format("/l/_c_{}-{}", guid, tag),
                    .data = "a",
                    .mode = CreateMode::Ephemeral,
                    .sequential = true};
  };
  const auto made = other.multi({node("lock-"), node("__WRIT__"), node("__lock__")}, {});
  enter("/l", "lock-", "b");
  EXPECT_EQ(read(), "ab");
  other.set({.path = made[0].path, .data = "c"}, {});
  fake.before_request(1, [&] {
    other.multi({RemoveOp{made[0].path}, RemoveOp{made[1].path}, RemoveOp{made[2].path}}, {});
  });
  EXPECT_EQ(read(), "b");
}

TEST_F(LockReaderTest, AMissingNodeIsWaitedFor) {
  EXPECT_EQ(read(), "-");
  EXPECT_FALSE(changed());
  create("/l");
  EXPECT_TRUE(changed());
  EXPECT_EQ(read(), "");
  enter("/l", "lock-", "a");
  EXPECT_TRUE(changed());
  EXPECT_EQ(read(), "a");
}

TEST_F(LockReaderTest, ANodeThatGoesAndComesAgain) {
  create("/l");
  EXPECT_EQ(read(), "");
  other.remove({.path = "/l"}, {});
  EXPECT_TRUE(changed());
  EXPECT_EQ(read(), "-");
  create("/l");
  EXPECT_TRUE(changed());
  EXPECT_EQ(read(), "");
}

TEST_F(LockReaderTest, ANodeThatComesWhileItIsFoundMissing) {
  fake.before_request(2, [&] { create("/l"); });  // between the list and the watch for its creation
  EXPECT_EQ(read(), "");
}

TEST_F(LockReaderTest, TheDataBeforeTheRequestToReleaseStay) {
  create("/l");
  const auto node = enter("/l", "lock-", "a");
  read();
  other.set({.path = node, .data = "__REVOKE__"}, {});
  const auto reading = reader.read({});
  EXPECT_EQ(reading->queue.entries.begin()->second.data, "__REVOKE__");
  EXPECT_EQ(reading->queue.entries.begin()->second.before, "a");
}

TEST_F(LockReaderTest, UnreadableDataDoNotHideTheContender) {
  create("/l");
  other.create({.path = "/l/_c_8fedd093-b4b1-4a5e-9d3a-0c9a0a8f3c11-lock-",
                .data = "secret",
                .acl = {{perm::all & ~perm::read, "world", "anyone"}},
                .mode = CreateMode::Ephemeral,
                .sequential = true},
               {});
  const auto reading = reader.read({});
  ASSERT_THAT(reading->queue.entries, SizeIs(1));
  EXPECT_FALSE(reading->queue.entries.begin()->second.readable);
  EXPECT_EQ(reading->queue.entries.begin()->second.stat.ephemeral_owner, other.session_id());
}

TEST_F(LockReaderTest, AfterALostConnectionNothingWasMissed) {
  create("/l");
  enter("/l", "lock-", "a");
  read();
  fake.disconnect();
  enter("/l", "lock-", "b");
  fake.reconnect();
  EXPECT_TRUE(changed());
  EXPECT_EQ(read(), "ab");
}

TEST_F(LockReaderTest, AfterALostSessionEverythingIsReadAgain) {
  create("/l");
  const auto node = enter("/l", "lock-", "a");
  read();
  fake.expire();
  other.set({.path = node, .data = "b"}, {});
  EXPECT_TRUE(changed());
  fake.open("fake");  // which the session's await_connection does
  EXPECT_EQ(read(), "b");
  other.set({.path = node, .data = "c"}, {});
  EXPECT_TRUE(changed()) << "the watches are the new session's";
  EXPECT_EQ(read(), "c");
}

/// No server answers within the connect timeout, so many times.
class UnreachableClient final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;
  void await_connection(const std::string& path, const std::stop_token& stop) override {
    if (failures > 0) {
      --failures;
      throw ZkError(code::connection_loss, path);
    }
    ForwardingClient::await_connection(path, stop);
  }
  int failures = 1;
};

TEST_F(LockReaderTest, OnlyItsFirstConnectionMustBeMadeInTime) {
  create("/l");
  UnreachableClient client(fake);
  LockReader viewer(client, "/l", true);
  EXPECT_THROW(viewer.read({}), ZkError);
  EXPECT_TRUE(viewer.read({}));
  client.failures = 2;
  EXPECT_TRUE(viewer.read({}));
  EXPECT_EQ(client.failures, 0);
}

TEST_F(LockReaderTest, OneFailedRequestIsTriedAgain) {
  create("/l");
  enter("/l", "lock-", "a");
  enter("/l", "lock-", "b");
  for (std::size_t request = 1; request <= 3; ++request) {
    LockReader fresh(fake, "/l", true);
    fake.fail_request(request, FakeClient::When::BeforeItIsApplied);
    EXPECT_THAT(fresh.read({})->queue.names, SizeIs(2)) << request;
  }
  LockReader once(fake, "/l", false);
  fake.fail_request(2, FakeClient::When::BeforeItIsApplied);
  EXPECT_THROW(once.read({}), ZkError) << "who does not watch does not wait either";
}

TEST_F(LockReaderTest, WhatWasReadBeforeALossIsKept) {
  create("/l");
  for (const auto* data : {"a", "b", "c"}) enter("/l", "lock-", data);
  // The list, then each contender: the last ones are lost when the first ones are known.
  for (std::size_t request = 1; request <= 4; ++request) {
    LockReader fresh(fake, "/l", true);
    fake.fail_request(request, FakeClient::When::BeforeItIsApplied);
    const auto reading = fresh.read({});
    ASSERT_THAT(reading->queue.entries, SizeIs(3)) << request;
    for (const auto& [name, entry] : reading->queue.entries) {
      EXPECT_NE(entry.stat.czxid, 0) << request << " " << name;
      EXPECT_TRUE(entry.data) << request << " " << name;
    }
  }
}

TEST_F(LockReaderTest, WithoutWatchesAMissingNodeIsAnError) {
  LockReader once(fake, "/nope", false);
  EXPECT_THROW(once.read({}), ZkError);
}

TEST_F(LockReaderTest, ASemaphore) {
  for (const auto* path : {"/l", "/l/locks"}) create(path);
  enter("/l/locks", "lock-", "a");
  read();
  create("/l/leases");
  other.set({.path = "/l", .data = "2"}, {});
  EXPECT_TRUE(changed());
  auto reading = reader.read({});
  ASSERT_TRUE(reading->leases);
  EXPECT_EQ(reading->limit, 2);
  EXPECT_THAT(reading->queue.names, SizeIs(1));
  EXPECT_THAT(reading->leases->names, IsEmpty());
  const auto lease = enter("/l/leases", "lease-", "b");
  EXPECT_TRUE(changed());
  reading = reader.read({});
  EXPECT_THAT(reading->leases->names, SizeIs(1));
  EXPECT_EQ(reading->leases->entries.begin()->second.data, "b");
  other.set({.path = "/l", .data = "5"}, {});
  EXPECT_TRUE(changed());
  EXPECT_EQ(reader.read({})->limit, 5);
  other.remove({.path = lease}, {});
  EXPECT_TRUE(changed());
  EXPECT_THAT(reader.read({})->leases->names, IsEmpty());
}

TEST_F(LockReaderTest, ASemaphoreWhoseEmptyQueueTheServerHasRemoved) {
  for (const auto* path : {"/l", "/l/leases"}) create(path);
  enter("/l/leases", "lease-", "b");
  auto reading = reader.read({});
  ASSERT_TRUE(reading->leases);
  EXPECT_THAT(reading->leases->names, SizeIs(1));
  EXPECT_THAT(reading->queue.names, IsEmpty());
  create("/l/locks");
  enter("/l/locks", "lock-", "a");
  EXPECT_TRUE(changed());
  reading = reader.read({});
  ASSERT_TRUE(reading->leases);
  EXPECT_THAT(reading->queue.names, SizeIs(1));
}

TEST_F(LockReaderTest, CountsItsOwnWatchEvents) {
  create("/l");
  const auto first = enter("/l", "lock-", "a");
  read();
  EXPECT_EQ(reader.watches(), 1U);
  other.remove({.path = first}, {});
  EXPECT_EQ(reader.events().deleted, 1) << "also those that are not taken yet";
  EXPECT_EQ(reader.events().children, 1);
  read();
  EXPECT_EQ(reader.events().deleted, 1);
  EXPECT_EQ(reader.watches(), 0U);
}

TEST_F(LockReaderTest, AStopEndsTheWait) {
  create("/l");
  read();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(reader.await_change(stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace zksh
