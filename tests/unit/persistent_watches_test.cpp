// PersistentWatches: events reported in order from its own thread, and ending at any moment.
#include "client/persistent_watches.h"

#include "failures.h"
#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <new>
#include <thread>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class PersistentWatchesTest : public testing::Test {
 protected:
  PersistentWatchesTest() { fake.serve_persistent_watches(); }

  void create(const std::string& path) { other.create({.path = path, .data = "x"}, {}); }
  void set(const std::string& path) { other.set({.path = path, .data = "y"}, {}); }

  std::vector<std::string> told() {
    watches.settle(30s, {});
    return server.monitor().with_lock(
        [&](const Monitor::Held& held) { return std::exchange(texts(held), {}); });
  }

  FakeTree server;
  Guarded<std::vector<std::string>> texts;
  PersistentWatches watches{
      server.monitor(),
      {.event = [this](const Monitor::Held& held,
                       const Event& event) { texts(held).push_back(event.path); },
       .warning = [this](const Monitor::Held& held,
                         const std::string& text) { texts(held).push_back(text); }}};
  FakeClient fake{server, [this](const Monitor::Held& held, const Event& event) {
                    if (!watches.hear(held, event) && event.type != Event::Type::Session)
                      texts(held).push_back("direct " + event.path);
                  }};
  FakeClient other{server};
};

TEST_F(PersistentWatchesTest, TellsOfChangesUntilTheWatchIsRemoved) {
  const auto attachment = watches.attach(fake);
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  create("/a/b");
  set("/a");
  EXPECT_THAT(told(), ElementsAre("/a/b", "/a"));
  EXPECT_TRUE(watches.remove("/a", std::nullopt, {}));
  EXPECT_FALSE(watches.remove("/a", std::nullopt, {}));
  set("/a");
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(PersistentWatchesTest, PrintedEventsPassThroughWhileThereAreWatches) {
  const auto attachment = watches.attach(fake);
  create("/a");
  create("/b");
  fake.get("/b", Watch::printed(), {});
  set("/b");
  EXPECT_THAT(told(), ElementsAre("direct /b"));
  watches.add("/a", WatchMode::Recursive, {});
  fake.get("/b", Watch::printed(), {});
  create("/a/c");
  set("/b");
  EXPECT_THAT(told(), ElementsAre("/a/c", "/b"));
  create("/a/d");
  EXPECT_THAT(told(), ElementsAre("/a/d"));
  watches.remove("/a", std::nullopt, {});
  fake.get("/b", Watch::printed(), {});
  set("/b");
  EXPECT_THAT(told(), ElementsAre("direct /b"));
}

TEST_F(PersistentWatchesTest, AWatchThatCannotBeSetIsAnErrorAndNotThere) {
  const auto attachment = watches.attach(fake);
  create("/a");
  fake.fail_request(2, FakeClient::When::BeforeItIsApplied, code::closing);
  EXPECT_EQ(code_of([&] { watches.add("/a", WatchMode::Recursive, {}); }), code::closing);
  EXPECT_FALSE(watches.remove("/a", std::nullopt, {}));
}

TEST_F(PersistentWatchesTest, AWatchIsSetOnTheNextConnectionIfThisOneIsLostMeanwhile) {
  const auto attachment = watches.attach(fake);
  for (const auto* const path : {"/a", "/a/b", "/c"}) create(path);
  watches.add("/c", WatchMode::Recursive, {});
  fake.lose(2, FakeClient::When::BeforeItIsApplied, FakeClient::Loss::OfConnection);
  std::jthread back([&](const std::stop_token& stop) {
    server.monitor().wait(stop, [&](const Monitor::Held& held) {
      return fake.state(held) == SessionState::Connecting;
    });
    set("/c");  // meanwhile
    fake.reconnect();
  });
  watches.add("/a", WatchMode::Recursive, {});
  EXPECT_THAT(told(), ElementsAre("/c"));
  set("/a/b");
  EXPECT_THAT(told(), ElementsAre("/a/b"));
}

TEST_F(PersistentWatchesTest, TheNextSessionHasNoWatches) {
  const auto attachment = watches.attach(fake);
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  fake.expire();
  fake.open("");
  EXPECT_FALSE(watches.remove("/a", std::nullopt, {}));
  watches.add("/a", WatchMode::Recursive, {});
  set("/a");
  EXPECT_THAT(told(), ElementsAre("/a"));
}

TEST_F(PersistentWatchesTest, NamesANodeThatMayNotBeRead) {
  const auto attachment = watches.attach(fake);
  create("/a");
  fake.fail_request(2, FakeClient::When::BeforeItIsApplied, code::no_auth);  // its Stat
  watches.add("/a", WatchMode::Recursive, {});
  EXPECT_THAT(told(), ElementsAre(testing::HasSubstr("no permission to read /a")));
}

TEST_F(PersistentWatchesTest, AnErrorEndsAllWatchesAndIsToldOnce) {
  std::vector<std::string> warnings;
  bool fails = true;
  PersistentWatches failing{
      server.monitor(),
      {.event =
           [&](const Monitor::Held&, const Event&) {
             if (fails) throw std::bad_alloc();
           },
       .warning = [&](const Monitor::Held&,
                      const std::string& text) { warnings.push_back(text); }}};
  FakeClient client{
      server, [&](const Monitor::Held& held, const Event& event) { failing.hear(held, event); }};
  client.serve_persistent_watches();
  const auto attachment = failing.attach(client);
  create("/a");
  failing.add("/a", WatchMode::Recursive, {});
  set("/a");
  failing.settle(30s, {});
  const auto said = [&] {
    return server.monitor().with_lock([&](const Monitor::Held&) { return warnings; });
  };
  EXPECT_THAT(said(), ElementsAre(testing::HasSubstr("all watches of addWatch are removed")));
  EXPECT_THAT(failing.all(), IsEmpty());
  fails = false;
  failing.add("/a", WatchMode::Recursive, {});
  EXPECT_EQ(failing.all().size(), 1);
  set("/a");
  failing.settle(30s, {});
  EXPECT_THAT(said(), testing::SizeIs(1));
}

TEST_F(PersistentWatchesTest, SettleDoesNotWaitForALostConnection) {
  const auto attachment = watches.attach(fake);
  create("/a");
  watches.add("/a", WatchMode::Recursive, {});
  fake.disconnect();
  EXPECT_THAT(told(), IsEmpty());
  set("/a");
  fake.reconnect();
  EXPECT_THAT(told(), ElementsAre("/a"));
}

TEST_F(PersistentWatchesTest, EndsWhileEventsPourIn) {
  create("/a");
  const std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      create("/a/b");
      set("/a");
      other.remove({.path = "/a/b"}, {});
    }
  });
  for (int i = 0; i < 50; ++i) {
    PersistentWatches short_lived(server.monitor(), {.event = [](const auto&, const Event&) {},
                                                     .warning = [](const auto&, const auto&) {}});
    FakeClient client(server, [&](const Monitor::Held& held, const Event& event) {
      short_lived.hear(held, event);
    });
    client.serve_persistent_watches();
    const auto attachment = short_lived.attach(client);
    short_lived.add("/a", i % 2 == 0 ? WatchMode::Recursive : WatchMode::Persistent, {});
  }
}

}  // namespace
}  // namespace zksh
