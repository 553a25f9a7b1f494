// PastLocks: turns at locks of every kind, as the logs tell them.
#include "lock/past_locks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using End = PastTurn::End;

/// A history that is made up, a transaction each second.
class History {
 public:
  explicit History(bool any_name = false, const std::string& only = "")
      : locks_([only](std::string_view lock) { return only.empty() || lock == only; }, any_name,
               [this](const PastTurn& turn) { turns.push_back(turn); }) {}

  void create(std::int64_t session, const std::string& path) {
    apply(session, {.type = TxnType::Create, .path = path, .ephemeral = true});
  }
  void remove(std::int64_t session, const std::string& path) {
    apply(session, {.type = TxnType::Delete, .path = path});
  }
  /// In one multi.
  void exchange(std::int64_t session, const std::string& removed, const std::string& created) {
    ++zxid_;
    locks_.apply({.session = session,
                  .cxid = 5,
                  .zxid = zxid_,
                  .time = 1000 * zxid_,
                  .type = TxnType::Multi,
                  .operations = {{.type = TxnType::Delete, .path = removed},
                                 {.type = TxnType::Create, .path = created, .ephemeral = true}}},
                 {});
  }
  void close(std::int64_t session, bool expired, const std::vector<std::string>& paths) {
    ++zxid_;
    locks_.apply({.session = session,
                  .cxid = expired ? 0 : 5,
                  .zxid = zxid_,
                  .time = 1000 * zxid_,
                  .type = TxnType::CloseSession},
                 paths);
  }
  void present(std::int64_t session, const std::string& path, std::int64_t zxid) {
    locks_.add_present(path, session, zxid, 1000 * zxid);
  }
  void end() { locks_.report_open(); }

  std::vector<PastTurn> turns{};

 private:
  void apply(std::int64_t session, const TxnOperation& op) {
    ++zxid_;
    locks_.apply({.session = session,
                  .cxid = 5,
                  .zxid = zxid_,
                  .time = 1000 * zxid_,
                  .type = op.type,
                  .operations = {op}},
                 {});
  }
  PastLocks locks_;
  std::int64_t zxid_ = 0;
};

std::string node(int number) {
  return "/l/_c_0a1b2c3d-0000-4000-8000-00000000000" + std::to_string(number) + "-lock-000000000" +
         std::to_string(number);
}
std::string node(int number, const std::string& tag) {
  return "/l/_c_0a1b2c3d-0000-4000-8000-00000000000" + std::to_string(number) + "-" + tag +
         "000000000" + std::to_string(number);
}

TEST(PastLocks, HeldWaitedAndGaveUp) {
  History history;
  history.create(1, node(1));
  history.create(2, node(2));
  history.create(3, node(3));
  history.remove(2, node(2));
  history.remove(1, node(1));
  history.end();
  ASSERT_EQ(history.turns.size(), 3U);
  EXPECT_EQ(history.turns[0].session, 2);
  EXPECT_FALSE(history.turns[0].acquired);
  EXPECT_EQ(history.turns[1].acquired, 1000);
  EXPECT_EQ(history.turns[1].ended, 5000);
  EXPECT_EQ(history.turns[1].end, End::Released);
  EXPECT_EQ(history.turns[2].acquired, 5000);
  EXPECT_EQ(history.turns[2].end, End::Open);
  EXPECT_EQ(history.turns[2].token, 3);
}

TEST(PastLocks, HowItEnded) {
  History history;
  for (int i = 1; i <= 4; ++i) history.create(i, node(i));
  history.remove(9, node(1));
  history.close(2, true, {node(2)});
  history.close(3, false, {node(3)});
  history.remove(4, node(4));
  ASSERT_EQ(history.turns.size(), 4U);
  EXPECT_EQ(history.turns[0].end, End::Removed);
  EXPECT_EQ(history.turns[0].ended_by, 9);
  EXPECT_EQ(history.turns[1].end, End::Expired);
  EXPECT_EQ(history.turns[2].end, End::Closed);
  EXPECT_EQ(history.turns[3].end, End::Released);
  for (const auto& turn : history.turns) EXPECT_TRUE(turn.acquired);
}

TEST(PastLocks, ReadersHoldTogether) {
  History history;
  history.create(1, node(1, "__READ__"));
  history.create(2, node(2, "__READ__"));
  history.create(3, node(3, "__WRIT__"));
  history.create(4, node(4, "__READ__"));
  history.remove(3, node(3, "__WRIT__"));  // the writer gives up
  history.remove(1, node(1, "__READ__"));
  history.end();
  ASSERT_EQ(history.turns.size(), 4U);
  EXPECT_FALSE(history.turns[0].acquired);
  EXPECT_EQ(history.turns[1].acquired, 1000);
  EXPECT_EQ(history.turns[2].acquired, 2000);
  EXPECT_EQ(history.turns[3].acquired, 5000);
}

TEST(PastLocks, LeasesAreHeldAtOnce) {
  History history;
  history.create(1, node(1, "lease-"));
  history.create(2, node(2, "lease-"));
  history.end();
  ASSERT_EQ(history.turns.size(), 2U);
  EXPECT_TRUE(history.turns[1].lease);
  EXPECT_EQ(history.turns[1].acquired, 2000);
}

TEST(PastLocks, ASemaphoresLeaseHasTheWaitOfItsContender) {
  const auto contender = [](int number) {
    return "/s/locks/_c_0a1b2c3d-0000-4000-8000-0000000000aa-lock-000000000" +
           std::to_string(number);
  };
  const auto lease = [](int number) {
    return "/s/leases/_c_0a1b2c3d-0000-4000-8000-0000000000bb-lease-000000000" +
           std::to_string(number);
  };
  for (const auto* const only : {"", "/s", "/s/leases"}) {
    History history(*only != '\0', only);
    history.create(1, contender(1));
    history.create(1, lease(1));
    history.remove(1, contender(1));
    history.create(2, contender(2));  // at 4 s
    history.remove(1, lease(1));
    history.exchange(2, contender(2), lease(2));
    history.remove(2, lease(2));
    ASSERT_EQ(history.turns.size(), 2U) << only;
    EXPECT_EQ(history.turns[0].asked, 1000);
    EXPECT_EQ(history.turns[0].acquired, 2000);
    EXPECT_EQ(history.turns[1].asked, 4000);
    EXPECT_EQ(history.turns[1].acquired, 6000);
    EXPECT_TRUE(history.turns[1].lease);
    history.create(3, contender(3));
    history.remove(3, contender(3));
    history.create(4, contender(4));
    history.end();
    if (std::string_view(only) == "/s/leases") continue;
    ASSERT_EQ(history.turns.size(), 4U) << only;
    EXPECT_FALSE(history.turns[2].acquired);
    EXPECT_EQ(history.turns[3].end, End::Open);
    EXPECT_FALSE(history.turns[3].acquired);
  }
}

TEST(PastLocks, ALockThatIsCalledLocksIsOne) {
  History history(true, "/s");
  history.create(1, "/s/locks/lock-0000000001");
  history.end();
  EXPECT_TRUE(history.turns.empty());
  History below;
  below.create(1, "/s/locks/lock-0000000001");
  below.end();
  ASSERT_EQ(below.turns.size(), 1U);
  EXPECT_TRUE(below.turns[0].acquired);
}

TEST(PastLocks, WhoWasThereBefore) {
  History history;
  history.present(1, node(1), -5);
  history.create(2, node(2));
  history.remove(1, node(1));
  history.end();
  ASSERT_EQ(history.turns.size(), 2U);
  EXPECT_EQ(history.turns[0].asked, -5000);
  EXPECT_EQ(history.turns[1].acquired, 2000);
}

TEST(PastLocks, OtherEphemeralsAreNoLocksUnlessAskedFor) {
  History history;
  history.create(1, "/members/m-0000000001");
  history.end();
  EXPECT_TRUE(history.turns.empty());
  History any(true);
  any.create(1, "/members/m-0000000001");
  any.end();
  EXPECT_EQ(any.turns.size(), 1U);
}

}  // namespace
}  // namespace zksh
