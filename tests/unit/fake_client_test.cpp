// FakeClient: must answer as a server does, or tests that use it prove nothing.
#include "fake_client.h"

#include "failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace zksh {
namespace {

using testing::ElementsAre;

class FakeClientTest : public testing::Test {
 protected:
  std::vector<std::string> heard() {
    return tree.monitor().with_lock([&](const Monitor::Held& held) {
      std::vector<std::string> paths;
      for (const auto& event : std::exchange((*mailbox)(held), {})) paths.push_back(event.path);
      return paths;
    });
  }
  FakeTree tree;
  FakeClient client{tree};
  Mailbox mailbox = std::make_shared<Guarded<std::deque<Event>>>();
};

TEST_F(FakeClientTest, AnswersWithTheServersErrors) {
  client.create({.path = "/a", .data = {}}, {});
  client.create({.path = "/e", .data = {}, .mode = CreateMode::Ephemeral}, {});
  EXPECT_EQ(code_of([&] { client.create({.path = "/a", .data = {}}, {}); }), code::node_exists);
  EXPECT_EQ(code_of([&] { client.create({.path = "/n/x", .data = {}}, {}); }), code::no_node);
  EXPECT_EQ(code_of([&] { client.create({.path = "/e/x", .data = {}}, {}); }),
            code::no_children_for_ephemerals);
  EXPECT_EQ(code_of([&] { client.set({.path = "/a", .data = {}, .version = 1}, {}); }),
            code::bad_version);
  client.create({.path = "/a/b", .data = {}}, {});
  EXPECT_EQ(code_of([&] { client.remove({.path = "/a"}, {}); }), code::not_empty);
  EXPECT_EQ(code_of([&] { client.remove({.path = "/n"}, {}); }), code::no_node);
}

TEST_F(FakeClientTest, NumbersSequentialNodesByTheParentsChanges) {
  client.create({.path = "/a", .data = {}}, {});
  EXPECT_EQ(client.create({.path = "/a/n-", .data = {}, .sequential = true}, {}).path,
            "/a/n-0000000000");
  client.create({.path = "/a/x", .data = {}}, {});
  EXPECT_EQ(client.create({.path = "/a/n-", .data = {}, .sequential = true}, {}).path,
            "/a/n-0000000002");
}

TEST_F(FakeClientTest, AppliesAllOperationsOfATransactionOrNone) {
  client.create({.path = "/a", .data = {}}, {});
  EXPECT_EQ(code_of([&] {
              client.multi({CreateOp{.path = "/b", .data = {}}, RemoveOp{.path = "/n"}}, {});
            }),
            code::no_node);
  EXPECT_FALSE(client.exists("/b", Watch::none(), {}));
  client.multi({CreateOp{.path = "/b", .data = {}}, RemoveOp{.path = "/a"}}, {});
  EXPECT_TRUE(client.exists("/b", Watch::none(), {}));
}

TEST_F(FakeClientTest, FiresOneEventForAllWatchesOfAMailboxOnANode) {
  FakeClient other(tree);
  other.create({.path = "/a", .data = {}}, {});
  client.exists("/a", Watch::into(mailbox), {});
  client.get("/a", Watch::into(mailbox), {});
  client.children("/a", Watch::into(mailbox), {});
  client.exists("/b", Watch::into(mailbox), {});
  other.remove({.path = "/a"}, {});
  other.create({.path = "/a", .data = {}}, {});
  other.create({.path = "/b", .data = {}}, {});
  EXPECT_THAT(heard(), ElementsAre("/a", "/b"));
}

TEST_F(FakeClientTest, ForgetsWatches) {
  FakeClient other(tree);
  client.create({.path = "/a", .data = {}}, {});
  client.get("/a", Watch::into(mailbox), {});
  client.get("/a", Watch::printed(), {});
  client.forget_watches("/a", mailbox);
  EXPECT_EQ(client.await(client.start_remove_watches("/a", WatchKind::OfData, false), {}).code,
            code::ok);
  EXPECT_EQ(client.await(client.start_remove_watches("/a", WatchKind::OfData, false), {}).code,
            code::no_watcher);
  other.set({.path = "/a", .data = {}}, {});
  EXPECT_TRUE(heard().empty());
}

TEST_F(FakeClientTest, FailsARequestBeforeOrAfterItIsApplied) {
  client.fail_request(1, FakeClient::When::BeforeItIsApplied);
  client.fail_request(2, FakeClient::When::AfterItWasApplied);
  EXPECT_EQ(code_of([&] { client.create({.path = "/a", .data = {}}, {}); }), code::connection_loss);
  EXPECT_EQ(code_of([&] { client.create({.path = "/b", .data = {}}, {}); }), code::connection_loss);
  EXPECT_FALSE(client.exists("/a", Watch::none(), {}));
  EXPECT_TRUE(client.exists("/b", Watch::none(), {}));
}

TEST_F(FakeClientTest, EphemeralsGoWithTheSession) {
  FakeClient other(tree);
  client.exists("/e", Watch::into(mailbox), {});
  other.create({.path = "/e", .data = {}, .mode = CreateMode::Ephemeral}, {});
  EXPECT_THAT(heard(), ElementsAre("/e"));
  client.exists("/e", Watch::into(mailbox), {});
  other.expire();
  EXPECT_THAT(heard(), ElementsAre("/e"));
  EXPECT_FALSE(client.exists("/e", Watch::none(), {}));
  const auto dead = other.session_id();
  EXPECT_EQ(other.await(other.start_get("/", Watch::none()), {}).code, code::invalid_state);
  EXPECT_EQ(code_of([&] { other.get("/", Watch::none(), {}); }), code::ok);
  EXPECT_NE(other.session_id(), dead);
}

TEST_F(FakeClientTest, EphemeralsMayOutliveTheirSessionInTheEyesOfALateServer) {
  client.create({.path = "/e", .data = {}, .mode = CreateMode::Ephemeral}, {});
  client.lose(1, FakeClient::When::BeforeItIsApplied, FakeClient::Loss::OfSessionUnburied);
  EXPECT_EQ(client.await(client.start_get("/", Watch::none()), {}).code, code::session_expired);
  EXPECT_TRUE(client.exists("/e", Watch::none(), {}));
  client.bury();
  EXPECT_FALSE(client.exists("/e", Watch::none(), {}));
}

TEST_F(FakeClientTest, HoldsAnswersAndEventsBackInTheirOrder) {
  client.children("/", Watch::into(mailbox), {});
  client.hold_back();
  const auto made = client.start_create({.path = "/a", .data = {}});
  const auto answered = [&] {
    return client.monitor().with_lock([&](const Monitor::Held& held) { return !!(*made)(held); });
  };
  EXPECT_TRUE(client.deliver());
  EXPECT_THAT(heard(), ElementsAre("/"));
  EXPECT_FALSE(answered());
  client.disconnect();
  EXPECT_TRUE(answered());
  EXPECT_EQ(client.await(made, {}).code, code::connection_loss);
  client.deliver_all();
  client.reconnect();
  EXPECT_TRUE(client.exists("/a", Watch::none(), {}));
}

TEST_F(FakeClientTest, SticksAtTheEndOfTheSequence) {
  client.create({.path = "/a", .data = {}}, {});
  tree.monitor().change(
      [&](const Monitor::Held& held) { tree.set_counter(held, "/a", INT32_MAX - 1); });
  const auto number = [&](const std::string& prefix) {
    return client.create({.path = "/a/" + prefix, .data = {}, .sequential = true}, {}).path;
  };
  EXPECT_EQ(number("n-"), "/a/n-2147483646");
  EXPECT_EQ(number("n-"), "/a/n-2147483647");
  EXPECT_EQ(code_of([&] { number("n-"); }), code::node_exists);
  const CreateOp next{.path = "/a/m-", .data = {}, .sequential = true};
  const auto together = client.multi({next, next}, {});
  EXPECT_EQ(together[0].path, "/a/m-2147483647");
  EXPECT_EQ(together[1].path, "/a/m--2147483648");
  EXPECT_EQ(number("o-"), "/a/o-2147483647");
}

}  // namespace
}  // namespace zksh
