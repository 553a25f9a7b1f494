// LockFlaws: the table of who excludes whom, and the resulting sentences.
#include "recipes/lock_flaws.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The nodes of a contender of each kind; `index` tells contenders apart.
std::vector<std::string> nodes(std::string_view kind, std::size_t index) {
  const char digit = "abcdef0123456789"[index % 16];
  const int sequence = static_cast<int>(index) * 10;
  std::string guid(36, digit);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) guid[dash] = '-';
  const std::string hex(32, digit);
  const auto number = [&](int add) { return fmt::format("{:010}", sequence + add); };
  const auto protected_node = [&](std::string_view tag, int add = 0) {
    return fmt::format("_c_{}-{}{}", guid, tag, number(add));
  };
  if (kind == "curator") return {protected_node("lock-")};
  if (kind == "curator-write") return {protected_node("__WRIT__")};
  if (kind == "curator-read") return {protected_node("__READ__")};
  if (kind == "kazoo") return {hex + "__lock__" + number(0)};
  if (kind == "kazoo-read") return {hex + "__rlock__" + number(0)};
  if (kind == "kazoo-renamed") return {hex + "-lock-" + number(0)};
  if (kind == "go") return {fmt::format("_c_{}-lock-{}", hex, number(0))};
  if (kind == "zoo_lock.c") return {fmt::format("x-010000000000000{}-{}", digit, number(0))};
  if (kind == "WriteLock") return {fmt::format("x-7205767985650074{}-{}", index, number(0))};
  if (kind == "lease") return {protected_node("lease-")};
  if (kind == "unknown") return {fmt::format("job{}-{}", digit, number(0))};
  if (kind == "all")
    return {protected_node("lock-"), protected_node("__WRIT__", 1), protected_node("__lock__", 2)};
  if (kind == "all-read")
    return {protected_node("lock-"), protected_node("__READ__", 1), protected_node("__lock__", 2)};
  ADD_FAILURE() << kind;
  return {};
}

/// A queue of contenders a, b, c, … of these kinds, in this order.
LockQueue queue_of(const std::vector<std::string_view>& kinds) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (auto& name : nodes(kinds[i], i)) names.push_back(std::move(name));
  return make_lock_queue(names);
}

char sight_letter(Sight sight) {
  switch (sight) {
    case Sight::Sees:
      return '.';
    case Sight::Blind:
      return 'X';
    case Sight::Fails:
      return 'E';
    case Sight::Unsure:
      break;
  }
  return '?';
}

TEST(LockFlaws, WhoSeesWhomIsAsMeasured) {
  // Each library was run against each other one, holding and coming later. A dot: the one that
  // comes waits, or need not; X: it gets in; E: one of its versions fails on the holder's name;
  // ?: one of its classes gets in.
  constexpr std::array later{"curator", "curator-write", "curator-read", "kazoo", "kazoo-read",
                             "go",      "zoo_lock.c",    "WriteLock"};
  const std::map<std::string, std::string> expected{
      //                cur c-w c-r kaz k-r go  c   java
      {"curator", ". X X X X . . ."},      {"curator-write", "X . . X X E X X"},
      {"curator-read", "X . . X . E X X"}, {"kazoo", "X X X . . E E X"},
      {"kazoo-read", "X X . ? . E E X"},   {"go", ". X X X X . . ."},
      {"zoo_lock.c", "X X X X X E . ."},   {"WriteLock", "X X X X X E . ."},
      {"all", ". . . . . E . ."},          {"all-read", ". . . . . E . ."},
  };
  for (const auto& [holder, row] : expected) {
    std::string found;
    for (const auto* kind : later) {
      const auto queue = queue_of({holder, kind});
      found += found.empty() ? "" : " ";
      found += sight_letter(lock_sight(queue.contenders[1], queue.contenders[0]));
    }
    EXPECT_EQ(found, row) << holder << " holds";
  }
}

TEST(LockFlaws, OfWhomNothingIsKnownNothingIsSaidForSure) {
  const auto queue = queue_of({"curator", "unknown"});
  EXPECT_EQ(lock_sight(queue.contenders[1], queue.contenders[0]), Sight::Unsure);
  EXPECT_EQ(lock_sight(queue.contenders[0], queue.contenders[1]), Sight::Blind);
}

TEST(LockFlaws, AKazooThatWasGivenCuratorsPatternSeesThem) {
  const auto queue = queue_of({"curator", "kazoo-renamed"});
  EXPECT_EQ(lock_sight(queue.contenders[1], queue.contenders[0]), Sight::Sees);
  EXPECT_EQ(lock_sight(queue.contenders[0], queue.contenders[1]), Sight::Sees);
}

/// What is reported to the first, which is zksh's.
std::vector<std::string> told_to_first(const std::vector<std::string_view>& kinds) {
  const auto queue = queue_of(kinds);
  return lock_flaws(queue, queue.contenders.front().key());
}

TEST(LockFlaws, AKazooContenderAndWhatToDo) {
  EXPECT_THAT(told_to_first({"curator", "kazoo"}),
              ElementsAre("kazoo contender bbbbbbbb…__lock__0000000010 cannot see this lock (use "
                          "--compat all, or give it extra_lock_patterns=[\"lock-\"])"));
  EXPECT_THAT(told_to_first({"curator-write", "kazoo"}),
              ElementsAre(HasSubstr("extra_lock_patterns=[\"__READ__\", \"__WRIT__\"]")));
  EXPECT_THAT(told_to_first({"curator-write", "kazoo-read"}),
              ElementsAre(HasSubstr("kazoo reader bbbbbbbb…__rlock__0000000010 cannot see this "
                                    "lock (use --compat all, or give it "
                                    "extra_lock_patterns=[\"__WRIT__\"])")));
}

TEST(LockFlaws, AReadWriteLockOfCurator) {
  EXPECT_THAT(
      told_to_first({"curator", "curator-write"}),
      ElementsAre("Curator writer _c_bbbbbbbb…-__WRIT__0000000010 cannot see this lock (use "
                  "--compat all, or use rwlock)"));
  EXPECT_THAT(
      told_to_first({"curator-write", "curator"}),
      ElementsAre("Curator contender _c_bbbbbbbb…-lock-0000000010 cannot see this lock (use "
                  "--compat all)"));
}

TEST(LockFlaws, ASentenceForEachKindAndNotForEachContender) {
  EXPECT_THAT(told_to_first({"curator", "kazoo", "kazoo", "kazoo"}), testing::SizeIs(1));
  EXPECT_THAT(told_to_first({"curator", "kazoo", "kazoo-read", "curator-write"}),
              testing::SizeIs(3));
}

TEST(LockFlaws, NothingIsWrongWhereAllSeeTheOwnNames) {
  EXPECT_THAT(told_to_first({"curator", "curator", "go", "zoo_lock.c"}), IsEmpty());
  EXPECT_THAT(told_to_first({"all", "curator", "curator-write", "curator-read", "kazoo",
                             "kazoo-read", "zoo_lock.c"}),
              IsEmpty());
  EXPECT_THAT(told_to_first({"curator-read", "kazoo-read"}), IsEmpty()) << "readers share";
}

TEST(LockFlaws, NamesThatOthersFailOn) {
  EXPECT_THAT(
      told_to_first({"all", "go"}),
      ElementsAre("go-zookeeper contender _c_bbbbbbbb…-lock-0000000010 fails, if it is one of "
                  "samuel/go-zookeeper, on the name of this lock"));
  EXPECT_THAT(told_to_first({"kazoo", "zoo_lock.c"}),
              ElementsAre("zoo_lock.c contender x-010000000000000b-0000000010 crashes on the name "
                          "of this lock"));
}

TEST(LockFlaws, AKazooLockPassesReadersButThoseWithTheNamesOfAll) {
  EXPECT_THAT(told_to_first({"all-read", "kazoo"}), IsEmpty());
  EXPECT_THAT(lock_flaws(queue_of({"kazoo-read", "kazoo"}), ""),
              testing::Contains(HasSubstr("unless it is a WriteLock")));
}

TEST(LockFlaws, SemaphoresOnTheSamePathAreToldOf) {
  auto queue = queue_of({"curator"});
  const std::string own(queue.contenders.front().key());
  queue.others = {"readme", "locks"};
  EXPECT_THAT(lock_flaws(queue, own), IsEmpty());
  queue.others = {"leases", "locks"};
  EXPECT_THAT(lock_flaws(queue, own), ElementsAre(HasSubstr("this is also a semaphore")));
  queue.others = {"0123456789abcdef0123456789abcdef"};
  EXPECT_THAT(
      lock_flaws(queue, own),
      ElementsAre("the kazoo semaphore holder 01234567… and this lock do not see each other"));
  EXPECT_THAT(semaphore_flaws(queue), testing::SizeIs(2)) << "the contender and the lease";
}

TEST(LockFlaws, AnOldKazooReaderWaitsForLaterWriters) {
  const auto deadlock = HasSubstr("a ReadLock of kazoo before 2.9 waits for that writer forever");
  const auto queue = queue_of({"kazoo-read", "all"});
  EXPECT_THAT(lock_flaws(queue, queue.contenders[1].key()), ElementsAre(deadlock));
  EXPECT_THAT(lock_flaws(queue, ""), ElementsAre(deadlock));
  EXPECT_THAT(lock_flaws(queue_of({"all", "kazoo-read"}), ""), IsEmpty()) << "the other way round";
  const auto plain = queue_of({"kazoo-read", "curator-write"});
  EXPECT_THAT(lock_flaws(plain, plain.contenders[1].key()),
              testing::Not(testing::Contains(deadlock)))
      << "it does not see that name";
}

TEST(LockFlaws, BetweenOthers) {
  EXPECT_THAT(lock_flaws(queue_of({"curator", "kazoo"}), ""),
              ElementsAre("Curator contender _c_aaaaaaaa…-lock-0000000000 and kazoo contender "
                          "bbbbbbbb…__lock__0000000010 do not see each other"));
  EXPECT_THAT(lock_flaws(queue_of({"zoo_lock.c", "curator"}), ""),
              ElementsAre("Curator contender _c_bbbbbbbb…-lock-0000000010 cannot see zoo_lock.c "
                          "contender x-010000000000000a-0000000000"));
  EXPECT_THAT(lock_flaws(queue_of({"curator", "curator", "go", "WriteLock"}), ""),
              testing::Each(testing::Not(HasSubstr("go-zookeeper contender _c_cccccccc…-lock-"
                                                   "0000000020 cannot"))));
}

TEST(LockFlaws, ZkshSeesEverybody) {
  const auto queue = queue_of({"curator", "kazoo"});
  EXPECT_THAT(
      lock_flaws(queue, "", {std::string(queue.contenders[0].key())}),
      ElementsAre("kazoo contender bbbbbbbb…__lock__0000000010 cannot see zksh contender "
                  "_c_aaaaaaaa…-lock-0000000000 (give it extra_lock_patterns=[\"lock-\"])"));
  EXPECT_THAT(
      lock_flaws(queue, "",
                 {std::string(queue.contenders[0].key()), std::string(queue.contenders[1].key())}),
      IsEmpty());
}

TEST(LockFlaws, AWriteLockThatIsNotAlone) {
  EXPECT_THAT(lock_flaws(queue_of({"WriteLock"}), ""), IsEmpty());
  EXPECT_THAT(lock_flaws(queue_of({"WriteLock", "WriteLock"}), ""),
              ElementsAre(HasSubstr("waits forever if the one before it leaves at the wrong "
                                    "moment")));
}

TEST(LockFlaws, ChildrenThatAreNoContenders) {
  auto queue = queue_of({"go", "zoo_lock.c"});
  queue.others = {"with-dash", "config"};
  const auto flaws = lock_flaws(queue, "");
  EXPECT_THAT(flaws,
              testing::Contains("go-zookeeper contender _c_aaaaaaaa…-lock-0000000000 fails on "
                                "the name with-dash"));
  EXPECT_THAT(flaws, testing::Contains("zoo_lock.c contender x-010000000000000b-0000000010 crashes "
                                       "on the name config"));
  auto harmless = queue_of({"curator"});
  harmless.others = {"config"};
  EXPECT_THAT(lock_flaws(harmless, ""), IsEmpty());
}

TEST(LockFlaws, WhoActsAsIfNobodyWereBefore) {
  const auto queue = queue_of({"curator", "kazoo", "curator", "kazoo"});
  EXPECT_EQ(seen_predecessor(queue, 0, {}), std::nullopt);
  EXPECT_EQ(seen_predecessor(queue, 1, {}), std::nullopt) << "it sees no name before it";
  EXPECT_EQ(seen_predecessor(queue, 2, {}), 0U) << "it walks past kazoo's";
  EXPECT_EQ(seen_predecessor(queue, 2, {std::string(queue.contenders[2].key())}), 1U)
      << "zksh does not";
  EXPECT_EQ(seen_predecessor(queue, 3, {}), 1U);
}

TEST(LockFlaws, TheCounterNearItsEnd) {
  const auto queue = queue_of({"curator"});
  EXPECT_EQ(counter_flaw(queue, 1'999'999'999), std::nullopt);
  EXPECT_THAT(counter_flaw(queue, 2'000'000'000).value_or(""), HasSubstr("almost exhausted"));
  EXPECT_THAT(counter_flaw(queue, last_sequence).value_or(""), HasSubstr("is exhausted"));
  const auto beyond = make_lock_queue({"_c_aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa-lock-2147483647"});
  EXPECT_THAT(counter_flaw(beyond, 5).value_or(""), HasSubstr("is exhausted"))
      << "after deletions below another parent the counter tells nothing";
  const auto wrapped = make_lock_queue({"_c_aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa-lock--000000005"});
  EXPECT_THAT(counter_flaw(wrapped, 5).value_or(""), HasSubstr("is exhausted"));
}

TEST(LockFlaws, AThousandContendersAreNoWork) {
  const auto queue = queue_of(std::vector<std::string_view>(20, "kazoo"));
  LockQueue many;
  for (int i = 0; i < 50; ++i)
    many.contenders.insert(many.contenders.end(), queue.contenders.begin(), queue.contenders.end());
  EXPECT_THAT(lock_flaws(many, ""), IsEmpty());
}

}  // namespace
}  // namespace zksh
