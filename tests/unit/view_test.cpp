// LockView: the queue combined with the nodes' data and the servers' account.
#include "lock/view.h"

#include "lock/text.h"
#include "lock_nodes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto zksh_data = "host=db1 pid=4711 user=ops cmd=\"nightly.sh\" via=zksh/0.1.0";

/// A lock that is read; contenders come in the order in which they are added.
struct ReadLock {
  QueueReading reading{.path = "/l"};
  ServersAccount account;
  int sequence = 0;

  ReadLock& add(char id, const std::string& tag, Data data = zksh_data, std::int64_t session = 0) {
    const bool kazoo = tag.ends_with("lock__");
    const auto name = kazoo ? fmt::format("{}{}{:010}", std::string(32, id), tag, sequence)
                            : fmt::format("_c_{}-{}{:010}", guid(id), tag, sequence);
    ++sequence;
    reading.queue.names.push_back(name);
    reading.queue.entries[name] = {.data = std::move(data),
                                   .stat = {.czxid = 100 + sequence,
                                            .ctime = std::int64_t{1000} * sequence,
                                            .ephemeral_owner = session == 0 ? sequence : session,
                                            .data_length = 5}};
    return *this;
  }
  std::string path(std::size_t number) const {
    return "/chroot/l/" + reading.queue.names[number - 1];
  }
  LockView view() const { return make_lock_view(reading, account, "/chroot", 99); }
};

std::string states(const LockView& view) {
  const std::map<SeatState, std::string> letters{{SeatState::Holds, "H"},
                                                 {SeatState::Waits, "w"},
                                                 {SeatState::Next, "n"},
                                                 {SeatState::MayHold, "?"}};
  std::string text;
  for (const auto& seat : view.seats) text += letters.at(seat.state);
  return text;
}

std::string links(const LockView& view) {
  std::string text;
  for (const auto& seat : view.seats) text += seat.watches ? std::to_string(*seat.watches) : "-";
  return text;
}

TEST(LockView, AQueue) {
  auto lock = ReadLock().add('a', "lock-").add('b', "lock-").add('c', "lock-");
  lock.reading.queue.stat = {.cversion = 3, .num_children = 3};
  const auto view = lock.view();
  EXPECT_EQ(view.kind, "exclusive");
  EXPECT_EQ(states(view), "Hww");
  EXPECT_EQ(links(view), "-12");
  EXPECT_THAT(view.seats[0].watched_by, ElementsAre(2));
  EXPECT_EQ(view.seats[1].number, 2U);
  EXPECT_EQ(view.seats[1].token, 102);
  EXPECT_EQ(view.seats[1].session, 2);
  EXPECT_EQ(view.seats[1].created, 2000);
  EXPECT_EQ(view.seats[1].made_by, Library::Zksh);
  EXPECT_EQ(view.counter, 3);
  EXPECT_FALSE(view.measured);
  EXPECT_THAT(view.flaws, IsEmpty());
}

TEST(LockView, ReadersAndWriters) {
  auto lock = ReadLock()
                  .add('a', "__READ__")
                  .add('b', "__READ__")
                  .add('c', "__WRIT__")
                  .add('d', "__READ__");
  const auto view = lock.view();
  EXPECT_EQ(view.kind, "read/write");
  EXPECT_EQ(states(view), "HHww");
  EXPECT_EQ(links(view), "--23");
  EXPECT_EQ(seat_mode(view.seats[0]), "read");
  EXPECT_EQ(seat_mode(view.seats[2]), "write");
}

TEST(LockView, KindsOfNobodyAndOfAllNames) {
  EXPECT_EQ(ReadLock().view().kind, "free");
  ReadLock lock;
  lock.add('a', "lock-").add('a', "__WRIT__").add('a', "__lock__");
  lock.reading.queue.names[2] = fmt::format("_c_{}-__lock__0000000002", guid('a'));
  const auto view = lock.view();
  EXPECT_EQ(view.kind, "exclusive");
  ASSERT_EQ(view.seats.size(), 1U);
  EXPECT_EQ(seat_mode(view.seats[0]), "excl");
}

TEST(LockView, WhoDoesNotSeeTheOneBeforeMayHoldToo) {
  auto lock = ReadLock().add('a', "lock-").add('b', "__lock__", "10.0.0.7").add('c', "lock-");
  const auto view = lock.view();
  EXPECT_EQ(states(view), "H?w");
  EXPECT_EQ(links(view), "--2") << "zksh waits for whoever is before it";
  EXPECT_EQ(view.seats[1].made_by, Library::Kazoo);
  EXPECT_THAT(view.flaws, ElementsAre(HasSubstr("kazoo contender bbbbbbbb…__lock__0000000001 "
                                                "cannot see zksh contender")));
}

TEST(LockView, WhatServersTellOfSessions) {
  auto lock = ReadLock().add('a', "lock-").add('b', "lock-");
  auto view = lock.view();
  EXPECT_EQ(view.seats[0].alive, std::nullopt);
  EXPECT_EQ(view.seats[0].connected, std::nullopt);
  lock.account.addresses = {{1, "10.0.0.1:5"}};
  lock.account.sessions = {1};
  view = lock.view();
  EXPECT_EQ(view.seats[0].address, "10.0.0.1:5");
  EXPECT_EQ(view.seats[0].connected, true);
  EXPECT_EQ(view.seats[1].connected, std::nullopt) << "another server may have it";
  EXPECT_EQ(view.seats[0].alive, true);
  EXPECT_EQ(view.seats[1].alive, false);
  EXPECT_THAT(view.flaws, ElementsAre(HasSubstr("#2 belongs to session 0x2, which has ended")));
  lock.account.all_addresses = true;
  EXPECT_EQ(lock.view().seats[1].connected, false);
}

TEST(LockView, MeasuredWatchers) {
  auto lock = ReadLock().add('a', "lock-").add('b', "lock-").add('c', "lock-").add('d', "lock-");
  lock.account.watchers = {{lock.path(1), {1, 2, 99}},  // its own, its waiter's, this look's
                           {lock.path(2), {3, 77}},     // 77 has no seat
                           {"/chroot/elsewhere", {4}}};
  const auto view = lock.view();
  EXPECT_TRUE(view.measured);
  EXPECT_EQ(links(view), "-12-");
  EXPECT_THAT(view.seats[0].watched_by, ElementsAre(2));
  EXPECT_EQ(view.seats[0].other_watchers, 0U);
  EXPECT_EQ(view.seats[1].other_watchers, 1U);
  EXPECT_EQ(view.seats[3].state, SeatState::Waits)
      << "the rule says so, although it watches nobody";
}

TEST(LockView, AHerdWatchesNobody) {
  auto lock = ReadLock().add('a', "lock-").add('b', "lock-").add('c', "lock-");
  lock.account.watchers.emplace();
  EXPECT_FALSE(lock.view().measured) << "who knows where they are connected?";
  EXPECT_EQ(links(lock.view()), "-12");
  EXPECT_THAT(lock.view().account.no_watchers, HasSubstr("(cons)"));
  lock.account.addresses = {{2, "10.0.0.2:5"}, {3, "10.0.0.3:5"}};
  const auto view = lock.view();
  EXPECT_TRUE(view.measured);
  EXPECT_EQ(links(view), "---");
  EXPECT_TRUE(view.seats[1].watches_no_node());
  EXPECT_EQ(view.seats[2].waits_for, 2U) << "as the recipe has it";
}

TEST(LockView, AWatchOnAServerThatWasNotAskedIsNotKnown) {
  auto lock = ReadLock().add('a', "lock-").add('b', "lock-").add('c', "lock-");
  lock.account.watchers.emplace();
  (*lock.account.watchers)[lock.path(1)] = {2};
  lock.account.addresses = {{2, "10.0.0.2:5"}};
  lock.account.all_addresses = true;
  const auto view = lock.view();
  EXPECT_EQ(links(view), "-1-");
  EXPECT_FALSE(view.seats[1].watch_unknown);
  EXPECT_TRUE(view.seats[2].watch_unknown);
  EXPECT_FALSE(view.seats[2].watches_no_node());
  EXPECT_EQ(view.seats[2].behind(), 2U);
  EXPECT_THAT(view.seats[1].watched_by, IsEmpty());
}

TEST(LockView, TheViewersOwnWatchesTellNothingOfItsContenders) {
  auto lock = ReadLock()
                  .add('a', "lock-")
                  .add('b', "lock-", "by hand", 99)
                  .add('c', "lock-", zksh_data, 99);
  lock.account.watchers = {
      {lock.path(1), {99}}, {lock.path(2), {99}}, {lock.path(3), {99}}, {"/other", {1}}};
  lock.account.addresses = {{1, "10.0.0.1:5"}, {99, "10.0.0.9:5"}};
  EXPECT_FALSE(lock.view().measured);
  lock.add('d', "lock-");
  lock.account.addresses.emplace(4, "10.0.0.4:5");
  const auto view = lock.view();
  EXPECT_TRUE(view.measured);
  EXPECT_TRUE(view.seats[1].watch_unknown);
  EXPECT_EQ(view.seats[2].watches, 2U) << "zksh's own follow the recipe";
  EXPECT_TRUE(view.seats[3].watches_no_node());
}

TEST(LockView, AnotherWatchDoesNotHideTheOneItShouldHave) {
  auto lock = ReadLock().add('a', "__WRIT__").add('b', "__READ__").add('c', "__READ__");
  lock.account.watchers.emplace();
  (*lock.account.watchers)[lock.path(1)] = {2, 3};
  (*lock.account.watchers)[lock.path(2)] = {3};
  EXPECT_EQ(links(lock.view()), "-11");
}

TEST(LockView, AMeasuredWatchOfTheOneBeforeShowsThatItIsSeen) {
  auto lock = ReadLock().add('a', "lock-").add('b', "__lock__", "10.0.0.7");
  lock.account.watchers.emplace();
  (*lock.account.watchers)[lock.path(1)] = {2};
  EXPECT_EQ(states(lock.view()), "Hw") << "this kazoo was given the other names' pattern";
}

TEST(LockView, SeveralContendersOfOneSession) {
  auto lock = ReadLock().add('a', "lock-", "", 5).add('b', "lock-", "", 5).add('c', "lock-", "", 5);
  lock.account.watchers.emplace();
  (*lock.account.watchers)[lock.path(1)] = {5};
  (*lock.account.watchers)[lock.path(2)] = {5};
  EXPECT_EQ(links(lock.view()), "-12");
}

TEST(LockView, AskedToRelease) {
  auto lock = ReadLock().add('a', "lock-", "__REVOKE__").add('b', "lock-", "unlock");
  lock.reading.queue.entries[lock.reading.queue.names[1]].before = zksh_data;
  const auto view = lock.view();
  EXPECT_TRUE(view.seats[0].asked_to_release);
  EXPECT_EQ(view.seats[0].owner, std::nullopt) << "nobody knows any more";
  EXPECT_TRUE(view.seats[1].asked_to_release);
  EXPECT_EQ(view.seats[1].owner, zksh_data);
  EXPECT_EQ(view.seats[1].made_by, Library::Zksh);
}

TEST(LockView, ZkshsRequestsKeepTheOwner) {
  const auto request = release_request("__REVOKE__", "host=db2 pid=1", zksh_data);
  EXPECT_TRUE(is_release_request(request));
  EXPECT_EQ(owner_before_request(request), zksh_data);
  EXPECT_EQ(asker_in_line(request), "host=db2 pid=1");
  EXPECT_EQ(release_request("__REVOKE__", "host=db2 pid=1", request), request) << "asked again";
  EXPECT_EQ(owner_before_request(zksh_data), std::nullopt);
  const auto short_request = release_request("unlock", "me", "__REVOKE__ by you");
  EXPECT_EQ(short_request, "unlock by me");
  EXPECT_EQ(owner_before_request(short_request), std::nullopt);
  EXPECT_EQ(release_request("unlock", "me", std::string(5000, 'x')), "unlock by me");
  const auto view = ReadLock().add('a', "lock-", request).view();
  EXPECT_EQ(view.seats[0].owner, zksh_data);
  EXPECT_EQ(view.seats[0].made_by, Library::Zksh);
}

TEST(LockView, ASemaphore) {
  auto lock = ReadLock().add('c', "lock-").add('d', "lock-");
  auto& leases = lock.reading.leases.emplace();
  for (const char id : {'a', 'b'}) {
    const auto name = fmt::format("_c_{}-lease-{:010}", guid(id), id - 'a');
    leases.names.push_back(name);
    leases.entries[name] = {.data = zksh_data, .stat = {.ephemeral_owner = 7}};
  }
  lock.reading.limit = 2;
  const auto view = lock.view();
  EXPECT_EQ(view.kind, "semaphore");
  EXPECT_EQ(view.limit, 2);
  EXPECT_EQ(states(view), "HHnw");
  EXPECT_EQ(links(view), "---3");
  EXPECT_EQ(seat_mode(view.seats[0]), "lease");
  EXPECT_THAT(view.flaws, IsEmpty());
  lock.reading.limit = 1;
  EXPECT_THAT(lock.view().flaws, ElementsAre(HasSubstr("2 hold a lease although there are 1")));
}

TEST(LockView, AtTheEndOfTheCounterTheOldestHolds) {
  auto lock = ReadLock().add('a', "lock-").add('b', "lock-");
  for (auto& name : lock.reading.queue.names) {
    auto entry = lock.reading.queue.entries.extract(name);
    name.replace(name.size() - 10, 10, "2147483647");
    entry.key() = name;
    lock.reading.queue.entries.insert(std::move(entry));
  }
  std::swap(lock.reading.queue.entries[lock.reading.queue.names[0]],
            lock.reading.queue.entries[lock.reading.queue.names[1]]);
  const auto view = lock.view();
  EXPECT_EQ(view.seats[0].contender.key(), guid('b'));
  EXPECT_EQ(view.seats[0].token, 101);
  EXPECT_THAT(view.flaws, ElementsAre(HasSubstr("counter is exhausted")));
}

TEST(LockOwner, Short) {
  EXPECT_EQ(short_owner(zksh_data), "ops@db1 4711 nightly.sh");
  EXPECT_EQ(short_owner("host=h pid=1 user=u cmd=\"a b via=x\" via=zksh/1"), "u@h 1 a b via=x");
  EXPECT_EQ(short_owner("backup of db7 via=zksh/0.1.0"), "backup of db7");
  EXPECT_EQ(short_owner("via=zksh/0.1.0"), "");
  EXPECT_EQ(short_owner("10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(short_owner("host=db1 pid=1"), "host=db1 pid=1");
  EXPECT_EQ(short_owner(""), "");
  EXPECT_EQ(short_owner(std::nullopt), "-");
}

TEST(LockOwner, OfZksh) {
  EXPECT_TRUE(is_zksh_owner(zksh_data));
  EXPECT_TRUE(is_zksh_owner("via=zksh/1"));
  EXPECT_FALSE(is_zksh_owner("via=zksh/1 and more"));
  EXPECT_FALSE(is_zksh_owner("xvia=zksh/1"));
  EXPECT_FALSE(is_zksh_owner(std::nullopt));
}

TEST(LockOwner, LongOnesAreCutBetweenCharacters) {
  EXPECT_EQ(owner_beginning(std::string(4096, 'x'))->size(), 4096U);
  EXPECT_EQ(owner_beginning(std::string(1 << 20, 'x'))->size(), 4096U);
  EXPECT_EQ(owner_beginning(std::string(4095, 'x') + "é")->size(), 4095U);
  EXPECT_EQ(owner_beginning(std::string(4094, 'x') + "éx")->size(), 4096U);
  EXPECT_EQ(owner_beginning(std::string(4094, 'x') + "𝄞")->size(), 4094U);
  EXPECT_EQ(owner_beginning(std::nullopt), std::nullopt);
}

TEST(SemaphoreLimit, IsAWholeNumber) {
  EXPECT_EQ(semaphore_limit("3"), 3);
  for (const auto& data : {Data(), Data(""), Data("3x"), Data("10.0.0.1"), Data(" 3")})
    EXPECT_EQ(semaphore_limit(data), std::nullopt);
}

}  // namespace
}  // namespace zksh
