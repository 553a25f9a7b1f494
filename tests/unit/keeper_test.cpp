// Lock::keep: what extends the lease of a lock that is held. deadlines_model_test.cpp, the
// simulation and the fault runs play its life against ensembles.
#include "lock/keeper.h"

#include "fake_client.h"
#include "lock/manager.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

class KeeperTest : public testing::Test {
 protected:
  KeeperTest() { client.set_lease_end(start + 20s); }
  ~KeeperTest() override {
    client.deliver_all();
    locks.close(60s);
  }

  std::shared_ptr<Lock> held() {
    auto lock = locks.ask({.request = {.paths = {"/l"}}});
    EXPECT_TRUE(locks.await_held(*lock, Clock::now() + 60s, {}));
    return lock;
  }
  /// Whether the lock's lease comes to end then before it is lost.
  bool lasts_until(const Lock& lock, BootClock::time_point end) {
    return tree.monitor().wait_until({}, Clock::now() + 60s, [&](const Monitor::Held& held) {
      return lock.is_gone(held) || lock.status(held).lease.end == end;
    }) && lock.status().lease.end == end;
  }

  FakeTree tree;
  FakeClient client{tree};
  const BootClock::time_point start = BootClock::now();
  bool is_free = true;
  // From the moment at which it is held, the answers to its own checks are held back.
  LockManager locks{client,
                    {.say = [](const std::string& /*line*/) {},
                     .changed =
                         [this] {
                           if (std::exchange(is_free, false)) client.hold_back();
                         }}};
};

TEST_F(KeeperTest, TakesNoteOfTheAnswerToACheckThatWasSentBeforeTheLockWasHeld) {
  const auto lock = held();
  client.set_lease_end(start + 29s);
  EXPECT_TRUE(lasts_until(*lock, start + 29s));
  client.set_lease_end(start + 31s);  // another such check
  EXPECT_TRUE(lasts_until(*lock, start + 31s));
}

TEST_F(KeeperTest, AShorterLeaseCountsAtOnce) {
  const auto lock = held();
  client.set_lease_end(start + 15s);
  EXPECT_TRUE(lasts_until(*lock, start + 15s));
}

TEST(LockChecksTest, SharesACheckUnlessItWasLostWithTheConnection) {
  FakeTree tree;
  FakeClient client(tree);
  client.create({.path = "/l", .data = {}}, {});
  LockChecks checks(client);
  checks.add({"/l"});
  const auto first = checks.check(24h);
  EXPECT_EQ(code::ok, checks.settle(*first));
  EXPECT_EQ(first, checks.check(24h));

  client.fail_request(1, FakeClient::When::AfterItWasApplied);
  const auto lost = checks.check(0ms);
  EXPECT_EQ(code::connection_loss, checks.settle(*lost));
  const auto next = checks.check(24h);
  EXPECT_NE(lost, next);
  EXPECT_EQ(code::ok, checks.settle(*next));
}

TEST(LockChecksTest, NoticesTheEndOfNodesThatMayNotBeRead) {
  const Acl hidden{{.perms = perm::remove, .scheme = "world", .id = "anyone"}};
  FakeTree tree;
  FakeClient client(tree);
  client.create({.path = "/a", .data = {}}, {});
  for (const auto* path : {"/b", "/c"})
    client.create({.path = path, .data = {}, .acl = hidden}, {});
  LockChecks checks(client);
  checks.add({"/a", "/b", "/c"});
  const auto check = [&] { return checks.settle(*checks.check(0ms)); };
  for (int round = 0; round < 4; ++round) EXPECT_EQ(code::no_auth, check());
  client.remove({.path = "/c"}, {});
  check();
  check();
  EXPECT_TRUE(checks.is_gone("/c"));
  EXPECT_FALSE(checks.is_gone("/b"));
  EXPECT_EQ(code::no_auth, check());
  // Another node with that name, as that of --recipe exclusive may be.
  checks.add({"/c"});
  EXPECT_FALSE(checks.is_gone("/c"));
}

}  // namespace
}  // namespace zksh
