// GuardedClient: every write is one request with the guards' checks, and a lost lock refuses it.
#include "client/guarded_client.h"

#include "fake_client.h"
#include "tree/subtree_removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace zksh {
namespace {

using testing::HasSubstr;

class GuardedClientTest : public testing::Test {
 protected:
  GuardedClientTest() {
    for (const char* path : {"/lock", "/lock/one", "/lock/two", "/data"})
      other.create({.path = path, .data = "old"}, {});
  }
  /// The error of a call; a test failure if there is none.
  static ZkError failure_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const ZkError& error) {
      return error;
    }
    ADD_FAILURE() << "nothing failed";
    return {code::ok, {}};
  }
  std::string data() { return *other.get("/data", Watch::none(), {}).data; }
  bool there(const std::string& path) { return other.exists(path, Watch::none(), {}).has_value(); }
  std::size_t requests_of(const std::function<void()>& call) {
    const auto before = inner.requests();
    call();
    return inner.requests() - before;
  }
  void guard(const std::string& node, const std::string& lock) {
    tree.monitor().with_lock([&](const Monitor::Held& held) {
      guards(held).push_back({node, lock});
    });
  }
  void guard() { guard("/lock/one", "/lock"); }
  void unguard() {
    tree.monitor().with_lock([&](const Monitor::Held& held) { guards(held).clear(); });
  }

  FakeTree tree;
  FakeClient inner{tree};
  FakeClient other{tree};
  Guarded<GuardedClient::Guards> guards;
  GuardedClient client{inner, [this](const Monitor::Held& held) { return guards(held); }};
};

TEST_F(GuardedClientTest, WithoutGuardsAWriteIsItself) {
  const auto created = client.create({.path = "/data/n", .data = "x"}, {});
  EXPECT_EQ(created.path, "/data/n");
  EXPECT_NE(created.stat.czxid, 0);
  EXPECT_EQ(requests_of([&] { client.set({.path = "/data", .data = "new"}, {}); }), 1);
  EXPECT_EQ(requests_of([&] { client.set_acl("/data", open_acl(), -1, {}); }), 2);
  client.create({.path = "/data/c", .data = "x", .mode = CreateMode::Container}, {});
  EXPECT_TRUE(there("/data/c"));
}

TEST_F(GuardedClientTest, AGuardedWriteIsOneRequestWithTheAnswerOfTheWrite) {
  guard();
  guard("/lock/two", "/lock");
  const auto count = requests_of([&] {
    EXPECT_EQ(client.create({.path = "/data/n-", .data = "x", .sequential = true}, {}).path,
              "/data/n-0000000000");
    EXPECT_EQ(client.set({.path = "/data", .data = "new", .version = 0}, {}).version, 1);
    client.remove({.path = "/data/n-0000000000"}, {});
    const auto results = client.multi(
        {CreateOp{.path = "/data/m", .data = "x"}, SetOp{.path = "/data", .data = "newer"}}, {});
    ASSERT_EQ(results.size(), 2);
    EXPECT_EQ(results[0].path, "/data/m");
    EXPECT_EQ(results[1].stat.version, 2);
  });
  EXPECT_EQ(count, 4);
  EXPECT_EQ(data(), "newer");
  EXPECT_TRUE(there("/data/m") && !there("/data/n-0000000000"));
}

TEST_F(GuardedClientTest, NothingIsWrittenOnceTheLockIsLost) {
  guard();
  other.remove({.path = "/lock/one"}, {});
  const std::vector<std::function<void()>> writes = {
      [&] { client.create({.path = "/data/n", .data = "x"}, {}); },
      [&] { client.set({.path = "/data", .data = "new"}, {}); },
      [&] { client.remove({.path = "/data"}, {}); },
      [&] { client.multi({CreateOp{.path = "/data/n", .data = "x"}}, {}); }};
  for (const auto& write : writes) {
    EXPECT_EQ(requests_of([&] {
                const auto error = failure_of(write);
                EXPECT_EQ(error.code(), code::lock_lost);
                EXPECT_EQ(error.path(), "/lock");
                EXPECT_EQ(error.exit_status(), status::lock_lost);
                EXPECT_STREQ(error.what(),
                             "the lock /lock is lost; this write was refused and changed nothing");
              }),
              1);
  }
  EXPECT_EQ(data(), "old");
  EXPECT_FALSE(there("/data/n"));
}

TEST_F(GuardedClientTest, NamesTheLockThatIsLost) {
  guard();
  guard("/lock/two", "/second");
  other.remove({.path = "/lock/two"}, {});
  const auto write = [&] { client.set({.path = "/data", .data = "new"}, {}); };
  EXPECT_EQ(failure_of(write).path(), "/second");
  unguard();
  write();
  EXPECT_EQ(data(), "new");
}

TEST_F(GuardedClientTest, AnExpiredSessionIsALostLock) {
  guard();
  inner.fail_request(1, FakeClient::When::BeforeItIsApplied, code::session_expired);
  const auto error = failure_of([&] { client.set({.path = "/data", .data = "new"}, {}); });
  EXPECT_EQ(error.code(), code::lock_lost);
  EXPECT_EQ(error.path(), "/lock");
  EXPECT_EQ(data(), "old");
}

TEST_F(GuardedClientTest, AGuardThatMayNotBeReadSaysSo) {
  guard();
  other.set_acl("/lock/one", {{.perms = perm::write, .scheme = "world", .id = "anyone"}}, -1, {});
  const auto error = failure_of([&] { client.set({.path = "/data", .data = "new"}, {}); });
  EXPECT_EQ(error.code(), code::no_auth);
  EXPECT_EQ(error.path(), "/lock/one");
  EXPECT_EQ(data(), "old");
}

TEST_F(GuardedClientTest, AFailureOfTheWriteItselfIsItsOwn) {
  guard();
  auto error = failure_of([&] { client.set({.path = "/data", .data = "new", .version = 7}, {}); });
  EXPECT_EQ(error.code(), code::bad_version);
  EXPECT_EQ(error.path(), "/data");
  error = failure_of([&] { client.remove({.path = "/none"}, {}); });
  EXPECT_EQ(error.code(), code::no_node);
  EXPECT_EQ(error.path(), "/none");
  error = failure_of([&] {
    client.multi({CreateOp{.path = "/data/n", .data = "x"}, RemoveOp{.path = "/lock"}}, {});
  });
  EXPECT_EQ(error.code(), code::not_empty);
  EXPECT_EQ(error.path(), "/lock");
  error = failure_of([&] { client.create({.path = "/data", .data = "x"}, {}); });
  EXPECT_EQ(error.code(), code::node_exists);
  EXPECT_EQ(error.path(), "/data");
}

TEST_F(GuardedClientTest, ALostConnectionLeavesTheOutcomeUnknown) {
  guard();
  inner.fail_request(1, FakeClient::When::AfterItWasApplied);
  const auto error = failure_of([&] { client.set({.path = "/data", .data = "new"}, {}); });
  EXPECT_EQ(error.code(), code::connection_loss);
  EXPECT_EQ(error.path(), "/data");
  EXPECT_TRUE(error.outcome_unknown());
}

TEST_F(GuardedClientTest, WhatNoTransactionCanDoIsRefusedBeforeAnythingIsSent) {
  guard();
  const CreateOp container{.path = "/data/c", .data = "x", .mode = CreateMode::Container};
  const CreateOp timed{.path = "/data/t", .data = "x", .ttl = 1000};
  const std::vector<std::function<void()>> calls = {
      [&] { client.create(container, {}); }, [&] { client.create(timed, {}); },
      [&] {
        client.multi({SetOp{.path = "/data", .data = "new"}, container}, {});
      },
      [&] { client.set_acl("/data", open_acl(), -1, {}); }, [&] { client.reconfigure({}, {}); }};
  for (const auto& call : calls)
    EXPECT_EQ(requests_of([&] {
                try {
                  call();
                  ADD_FAILURE() << "it was done";
                } catch (const ValueError& error) {
                  EXPECT_THAT(error.what(),
                              HasSubstr("so the lock /lock (--guard) cannot protect it"));
                }
              }),
              0);
  EXPECT_EQ(data(), "old");
}

TEST_F(GuardedClientTest, ASubtreeIsRemovedNoFurtherThanTheLockIsHeld) {
  guard();
  for (const char* path : {"/data/a", "/data/b", "/data/c"})
    other.create({.path = path, .data = "x"}, {});
  // Four listings, a first transaction; before the second the lock is gone.
  inner.before_request(6, [&] { other.remove({.path = "/lock/one"}, {}); });
  Removal removal;
  remove_subtree(client, {.top = "/data", .batch = 1}, removal, {});
  EXPECT_EQ(removal.removed, 1);
  ASSERT_TRUE(removal.failure);
  EXPECT_EQ(removal.failure->code(), code::lock_lost);
  EXPECT_EQ(removal.failure->path(), "/lock");
  EXPECT_TRUE(there("/data/a") && there("/data"));
}

TEST(Answer, IsMadeWhenWhatItDependsOnIsThere) {
  Monitor monitor;
  const auto first = std::make_shared<Answer<int>>();
  int derivations = 0;
  const auto second = std::make_shared<Answer<int>>([&](const Monitor::Held& held) {
    ++derivations;
    const auto& outcome = (*first)(held);
    return outcome ? Answer<int>::Value({.value = outcome->value + 1}) : std::nullopt;
  });
  monitor.with_lock([&](const Monitor::Held& held) {
    EXPECT_FALSE((*second)(held));
    (*first)(held) = Outcome<int>{.value = 1};
    EXPECT_EQ((*second)(held)->value, 2);
    EXPECT_EQ((*second)(held)->value, 2);
    EXPECT_EQ(derivations, 2);  // once in vain
  });
}

}  // namespace
}  // namespace zksh
