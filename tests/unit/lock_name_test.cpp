// LockName: parsing the libraries' names, and generating zksh's.
#include "recipes/lock_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace zksh {
namespace {

using testing::ElementsAre;

constexpr auto uuid = "8fedd093-b4b1-4a5e-9d3a-0c9a0a8f3c11";
constexpr auto hex32 = "4268e3cb0e2f4c6a9a1b2c3d4e5f6071";

struct Expected {
  std::string name;
  ContenderTag tag;
  std::int32_t sequence;
  std::string key;  ///< empty: the whole name
  LockMode mode;
  Library made_by;
};

class ContenderNames : public testing::TestWithParam<Expected> {};

TEST_P(ContenderNames, AreTakenApart) {
  const auto& expected = GetParam();
  const auto parsed = parse_lock_name(expected.name);
  ASSERT_TRUE(parsed) << expected.name;
  EXPECT_EQ(parsed->text, expected.name);
  EXPECT_EQ(parsed->tag, expected.tag) << expected.name;
  EXPECT_EQ(parsed->sequence, expected.sequence) << expected.name;
  EXPECT_EQ(parsed->key(), expected.key.empty() ? expected.name : expected.key);
  EXPECT_EQ(parsed->mode(), expected.mode) << expected.name;
  EXPECT_EQ(parsed->made_by(), expected.made_by) << expected.name;
}

std::string curator(const std::string& rest) { return std::string("_c_") + uuid + "-" + rest; }
std::string kazoo(const std::string& rest) { return hex32 + rest; }
std::string go(const std::string& rest) { return std::string("_c_") + hex32 + "-" + rest; }

constexpr auto exclusive = LockMode::Exclusive;
constexpr auto shared = LockMode::Shared;

INSTANTIATE_TEST_SUITE_P(
    Libraries, ContenderNames,
    testing::Values(
        Expected{curator("lock-0000000004"), ContenderTag::Lock, 4, uuid, exclusive,
                 Library::Curator},
        Expected{curator("__READ__0000000012"), ContenderTag::Read, 12, uuid, shared,
                 Library::Curator},
        Expected{curator("__WRIT__0000000012"), ContenderTag::Write, 12, uuid, exclusive,
                 Library::Curator},
        Expected{curator("lease-0000000001"), ContenderTag::Lease, 1, uuid, exclusive,
                 Library::Curator},
        Expected{curator("__lock__0000000003"), ContenderTag::KazooLock, 3, uuid, exclusive,
                 Library::Kazoo},
        Expected{kazoo("__lock__0000000007"), ContenderTag::KazooLock, 7, hex32, exclusive,
                 Library::Kazoo},
        Expected{kazoo("__rlock__0000000007"), ContenderTag::KazooRead, 7, hex32, shared,
                 Library::Kazoo},
        Expected{kazoo("-lock-0000000007"), ContenderTag::Lock, 7, hex32, exclusive,
                 Library::Curator},
        Expected{go("lock-0000000009"), ContenderTag::Lock, 9, hex32, exclusive, Library::Go},
        Expected{"x-01000013edec1a67-0000000002", ContenderTag::Session, 2, "", exclusive,
                 Library::CLock},
        Expected{"x-72057679856500742-0000000002", ContenderTag::Session, 2, "", exclusive,
                 Library::JavaWriteLock},
        Expected{"x--72057679856500742-0000000002", ContenderTag::Session, 2, "", exclusive,
                 Library::JavaWriteLock},
        Expected{"read-0000000001", ContenderTag::DocRead, 1, "", shared, Library::Documentation},
        Expected{"write-0000000001", ContenderTag::DocWrite, 1, "", exclusive,
                 Library::Documentation},
        Expected{"job0000000001", ContenderTag::Unknown, 1, "", exclusive, Library::Unknown},
        Expected{"0000000001", ContenderTag::Unknown, 1, "", exclusive, Library::Unknown}));

INSTANTIATE_TEST_SUITE_P(
    TheCounterAtItsEnd, ContenderNames,
    testing::Values(
        Expected{curator("lock-2147483647"), ContenderTag::Lock, INT32_MAX, uuid, exclusive,
                 Library::Curator},
        Expected{curator("lock--2147483648"), ContenderTag::Lock, INT32_MIN, uuid, exclusive,
                 Library::Curator},
        // Java's %010d of a small negative number: the sign takes one of the ten places.
        Expected{curator("lock--000000005"), ContenderTag::Lock, -5, uuid, exclusive,
                 Library::Curator},
        Expected{kazoo("__lock__-000000005"), ContenderTag::KazooLock, -5, hex32, exclusive,
                 Library::Kazoo},
        Expected{kazoo("__lock__-2147483648"), ContenderTag::KazooLock, INT32_MIN, hex32, exclusive,
                 Library::Kazoo},
        Expected{"x-01000013edec1a67--000000005", ContenderTag::Session, -5, "", exclusive,
                 Library::CLock},
        Expected{"job-000000005", ContenderTag::Unknown, -5, "", exclusive, Library::Unknown}));

TEST(LockName, OthersAreNoContenders) {
  for (const auto* name : {"", "config", "lock-", "lock-123", "lock00000004", "0000000004x",
                           "lock-99999999999x", "-2147483649", "9999999999"})
    EXPECT_FALSE(parse_lock_name(name)) << name;
}

TEST(LockName, ANumberThatNoServerWritesIsNone) {
  EXPECT_FALSE(parse_lock_name("lock2147483648")) << "beyond 32 bits";
  EXPECT_FALSE(parse_lock_name("lock-2147483649")) << "whatever the dash is";
}

TEST(LockName, ADashOfTheTagIsNoSign) {
  EXPECT_EQ(parse_lock_name("lock-0000000005")->sequence, 5);
  EXPECT_EQ(parse_lock_name("lock--000000005")->sequence, -5);
}

TEST(LockName, PrefixIsWhatStandsBeforeTheTag) {
  EXPECT_EQ(parse_lock_name(curator("lock-0000000004"))->prefix(), std::string("_c_") + uuid + "-");
  EXPECT_EQ(parse_lock_name(kazoo("__lock__0000000004"))->prefix(), hex32);
  EXPECT_EQ(parse_lock_name("lock-0000000004")->prefix(), "");
}

TEST(LockName, AGuidAloneIsNoContenderWhateverItEndsIn) {
  EXPECT_FALSE(parse_lock_name("4268e3cb0e2f4c6a9a1b2c0000000007"));
  EXPECT_TRUE(parse_lock_name("4268e3cb0e2f4c6a9a1b2-0000000007"));
}

TEST(LockName, AGuidMustBeOne) {
  // Too short, capitals, a letter that is no digit: the whole name is the key.
  for (const std::string name :
       {"_c_8fedd093-lock-0000000004", "_c_8FEDD093-B4B1-4A5E-9D3A-0C9A0A8F3C11-lock-0000000004",
        "_c_8fedd093-b4b1-4a5e-9d3a-0c9a0a8f3g11-lock-0000000004",
        "4268e3cb0e2f4c6a9a1b2c3d4e5f607z__lock__0000000004"})
    EXPECT_EQ(parse_lock_name(name)->key(), name);
}

TEST(LockName, GuidsAreRandomUuids) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto guid = fresh_guid();
    EXPECT_THAT(guid, testing::MatchesRegex(
                          "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_TRUE(seen.insert(guid).second);
  }
}

TEST(LockName, TheGuidTellsWhoJoinsManyQueues) {
  for (const auto compat : {Compat::Curator, Compat::Kazoo, Compat::All})
    for (const bool many : {false, true})
      for (const auto& prefix :
           contender_prefixes(compat, LockMode::Exclusive, false, fresh_guid(many))) {
        const auto name = parse_lock_name(prefix + "0000000007");
        ASSERT_TRUE(name) << prefix;
        EXPECT_EQ(joins_many(*name), many) << prefix;
      }
  // Go's library takes any bytes; the others have no guid at all.
  for (const std::string foreign :
       {"_c_0123456789ab8def0123456789abcdef-lock-0000000007", "x-0123456789ab8def-0000000007",
        "lock-0000000008", "a-name-of-36-8haracters--------lock-0000000008"}) {
    const auto name = parse_lock_name(foreign);
    ASSERT_TRUE(name) << foreign;
    EXPECT_FALSE(joins_many(*name)) << foreign;
  }
}

TEST(LockName, PrefixesByCompatibility) {
  const auto prefixes = [](Compat compat, LockMode mode, bool read_write) {
    return contender_prefixes(compat, mode, read_write, uuid);
  };
  const std::string hex = "8fedd093b4b14a5e9d3a0c9a0a8f3c11";
  EXPECT_THAT(prefixes(Compat::Curator, exclusive, false), ElementsAre(curator("lock-")));
  EXPECT_THAT(prefixes(Compat::Curator, exclusive, true), ElementsAre(curator("__WRIT__")));
  EXPECT_THAT(prefixes(Compat::Curator, shared, true), ElementsAre(curator("__READ__")));
  EXPECT_THAT(prefixes(Compat::Curator, shared, false), ElementsAre(curator("__READ__")));
  EXPECT_THAT(prefixes(Compat::Kazoo, exclusive, false), ElementsAre(hex + "__lock__"));
  EXPECT_THAT(prefixes(Compat::Kazoo, shared, true), ElementsAre(hex + "__rlock__"));
  EXPECT_THAT(prefixes(Compat::All, exclusive, false),
              ElementsAre(curator("lock-"), curator("__WRIT__"), curator("__lock__")));
  EXPECT_THAT(prefixes(Compat::All, shared, true),
              ElementsAre(curator("lock-"), curator("__READ__"), curator("__lock__")));
}

TEST(LockName, WhatIsMadeIsRecognised) {
  for (const auto compat : {Compat::Curator, Compat::Kazoo, Compat::All}) {
    for (const auto mode : {exclusive, shared}) {
      std::set<std::string> keys;
      bool reads = false;
      for (const auto& prefix : contender_prefixes(compat, mode, true, fresh_guid())) {
        const auto parsed = parse_lock_name(prefix + "0000000041");
        ASSERT_TRUE(parsed) << prefix;
        EXPECT_NE(parsed->tag, ContenderTag::Unknown) << prefix;
        keys.emplace(parsed->key());
        reads = reads || parsed->mode() == shared;
      }
      EXPECT_EQ(keys.size(), 1U) << "nodes of one contender have one key";
      EXPECT_EQ(reads, mode == shared);
    }
  }
}

}  // namespace
}  // namespace zksh
