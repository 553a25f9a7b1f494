// Rehearsal: reports what the servers would answer to a write, and writes nothing.
#include "client/rehearsal.h"

#include "client/forwarding_client.h"
#include "failures.h"
#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace zksh {
namespace {

using testing::ElementsAre;

class RehearsalTest : public testing::Test {
 protected:
  RehearsalTest() {
    for (const char* path : {"/app", "/app/a", "/app/b"})
      real.create({.path = path, .data = "v"}, {});
    real.create({.path = "/mine", .data = "", .mode = CreateMode::Ephemeral}, {});
  }
  int creation(const std::string& path) {
    return code_of([&] { rehearsal.create({.path = path, .data = "x"}, {}); });
  }
  int removal(const std::string& path, std::int32_t version = -1) {
    return code_of([&] { rehearsal.remove({.path = path, .version = version}, {}); });
  }
  int writing(const std::string& path, std::int32_t version = -1) {
    return code_of([&] { rehearsal.set({.path = path, .data = "12", .version = version}, {}); });
  }

  FakeTree tree;
  FakeClient real{tree};
  std::vector<std::string> notes;
  Rehearsal rehearsal{real, [this](const Monitor::Held& /*held*/, const WriteDescription& what) {
                        notes.push_back(what.verb + ' ' + what.path);
                      }};
};

TEST_F(RehearsalTest, WhatWouldWorkIsNotedAndNotDone) {
  EXPECT_EQ(creation("/app/new"), code::ok);
  EXPECT_EQ(writing("/app"), code::ok);
  EXPECT_EQ(removal("/app/a"), code::ok);
  EXPECT_THAT(notes, ElementsAre("create /app/new", "set /app", "delete /app/a"));
  EXPECT_FALSE(real.exists("/app/new", Watch::none(), {}));
  EXPECT_EQ(*real.get("/app", Watch::none(), {}).data, "v");
  EXPECT_TRUE(real.exists("/app/a", Watch::none(), {}));
}

TEST_F(RehearsalTest, AnotherSessionIsRehearsedToo) {
  const auto other = rehearsal.another();
  other->create({.path = "/app/new", .data = "x"}, {});
  EXPECT_EQ(code_of([&] { other->remove({.path = "/none"}, {}); }), code::no_node);
  EXPECT_THAT(notes, ElementsAre("create /app/new"));
  EXPECT_FALSE(real.exists("/app/new", Watch::none(), {}));
  EXPECT_TRUE(other->exists("/app/a", Watch::none(), {})) << "reads are sent";
}

TEST_F(RehearsalTest, WhatWouldFailFailsAndIsNotNoted) {
  EXPECT_EQ(creation("/app"), code::node_exists);
  EXPECT_EQ(creation("/none/x"), code::no_node);
  EXPECT_EQ(creation("/mine/x"), code::no_children_for_ephemerals);
  EXPECT_EQ(writing("/none"), code::no_node);
  EXPECT_EQ(writing("/app", 7), code::bad_version);
  EXPECT_EQ(removal("/app"), code::not_empty);
  EXPECT_EQ(removal("/app/a", 7), code::bad_version);
  EXPECT_EQ(removal("/none"), code::no_node);
  EXPECT_TRUE(notes.empty());
}

TEST_F(RehearsalTest, LaterWritesSeeWhatEarlierOnesWouldHaveDone) {
  EXPECT_EQ(creation("/new"), code::ok);
  EXPECT_EQ(creation("/new/below"), code::ok);
  EXPECT_EQ(creation("/new"), code::node_exists);
  EXPECT_EQ(removal("/app/a"), code::ok);
  EXPECT_EQ(removal("/app"), code::not_empty);
  EXPECT_EQ(removal("/app/b"), code::ok);
  EXPECT_EQ(removal("/app"), code::ok);
  EXPECT_EQ(writing("/app"), code::no_node);
  EXPECT_EQ(creation("/app"), code::ok);
}

TEST_F(RehearsalTest, LaterWritesSeeTheVersionsThatEarlierOnesWouldHaveMade) {
  EXPECT_EQ(writing("/app", 0), code::ok);
  EXPECT_EQ(writing("/app", 0), code::bad_version);
  EXPECT_EQ(rehearsal.set({.path = "/app", .data = "y", .version = 1}, {}).version, 2);
  EXPECT_EQ(creation("/new"), code::ok);
  EXPECT_EQ(writing("/new", 1), code::bad_version);
  EXPECT_EQ(removal("/new", 0), code::ok);
  const auto sealing = [&](std::int32_t version) {
    return rehearsal.await(rehearsal.start_set_acl("/app", open_acl(), version), {}).code;
  };
  EXPECT_EQ(sealing(0), code::ok);
  EXPECT_EQ(sealing(0), code::bad_version);
}

TEST_F(RehearsalTest, AWriteSeesTheEarlierOnesEvenIfItsAnswerIsLookedAtFirst) {
  const auto first = rehearsal.start_multi(
      {CreateOp{.path = "/t", .data = {}}, CreateOp{.path = "/t/a", .data = {}}});
  const auto second = rehearsal.start_create({.path = "/t/a/b", .data = {}});
  EXPECT_EQ(rehearsal.await(second, {}).code, code::ok);
  EXPECT_EQ(rehearsal.await(first, {}).code, code::ok);
  EXPECT_THAT(notes, ElementsAre("create /t", "create /t/a", "create /t/a/b"));
}

TEST_F(RehearsalTest, OfATransactionThatWouldFailNothingIsNotedOrSeen) {
  const auto outcome =
      rehearsal.try_multi({SetOp{.path = "/app", .data = "x"}, RemoveOp{.path = "/app/a"},
                           CheckOp{.path = "/none"}, CreateOp{.path = "/t", .data = {}}},
                          {});
  EXPECT_EQ(outcome.code, code::no_node);
  std::vector<int> codes;
  for (const auto& result : outcome.value) codes.push_back(result.code);
  EXPECT_THAT(codes, ElementsAre(code::ok, code::ok, code::no_node, code::runtime_inconsistency));
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(writing("/app", 0), code::ok);
  EXPECT_EQ(removal("/app/a"), code::ok);
  EXPECT_EQ(creation("/t/x"), code::no_node);
}

TEST_F(RehearsalTest, ATransactionIsNotedOperationByOperation) {
  const auto results =
      rehearsal.multi({CreateOp{.path = "/t", .data = {}}, RemoveOp{.path = "/app/a"}}, {});
  EXPECT_EQ(results.size(), 2U);
  EXPECT_THAT(notes, ElementsAre("create /t", "delete /app/a"));
}

TEST_F(RehearsalTest, AReadOnlyClientSendsNothingThatWrites) {
  ReadOnlyClient read_only(real);
  const auto before = real.requests();
  const auto status_of = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.exit_status();
    }
    return status::ok;
  };
  EXPECT_EQ(status_of([&] { read_only.start_create({.path = "/x", .data = {}}); }),
            status::read_only);
  EXPECT_EQ(status_of([&] { read_only.start_set({.path = "/app", .data = {}}); }),
            status::read_only);
  EXPECT_EQ(status_of([&] { read_only.start_remove({.path = "/app/a"}); }), status::read_only);
  EXPECT_EQ(status_of([&] { read_only.start_set_acl("/app", open_acl(), -1); }), status::read_only);
  EXPECT_EQ(status_of([&] { read_only.start_multi({RemoveOp{.path = "/app/a"}}); }),
            status::read_only);
  EXPECT_EQ(status_of([&] { read_only.start_reconfigure({}); }), status::read_only);
  const auto another = read_only.another();
  EXPECT_EQ(status_of([&] { another->start_remove({.path = "/app/a"}); }), status::read_only);
  EXPECT_EQ(real.requests(), before);
  EXPECT_EQ(*read_only.get("/app", Watch::none(), {}).data, "v");
}

}  // namespace
}  // namespace zksh
