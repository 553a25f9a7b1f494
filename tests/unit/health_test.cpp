// Health: the evaluation of answers, including those of broken servers.
#include "ensemble/health.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto configuration =
    "server.1=a:1:2:participant;2181\nserver.2=b:1:2:participant;2181\n"
    "server.3=c:1:2:participant;2181\nversion=1";

MemberAnswers answers(std::int64_t id, std::string srvr, std::string mntr) {
  return {.address = {.host = std::string(1, static_cast<char>('a' + id - 1)), .port = 2181},
          .id = id,
          .answers = {{.text = std::move(srvr)}, {.text = std::move(mntr)}}};
}

MemberHealth serving(std::int64_t id, const std::string& role, std::int64_t zxid = 0x100000005) {
  const auto srvr = fmt::format(
      "Zookeeper version: 3.8.0-abc, built on 2022-02-25 08:49 UTC\nLatency min/avg/max: 0/0.5/12\n"
      "Received: 1\nSent: 1\nConnections: 4\nOutstanding: 2\nZxid: 0x{:x}\nMode: {}\n"
      "Node count: 5\n",
      zxid, role);
  return read_health(
      answers(id, srvr, role == "leader" ? "zk_synced_followers\t2\n" : "zk_watch_count\t1\n"));
}

MemberHealth silent(std::int64_t id) {
  auto member = answers(id, "", "");
  for (auto& answer : member.answers) answer.problem = "Connection refused";
  return read_health(member);
}

Health judged(std::vector<MemberHealth> members, const HealthLimits& limits = {}) {
  return judge(std::move(members), parse_membership(configuration), limits);
}

TEST(Health, ReadsAServer) {
  const auto member = serving(1, "follower");
  EXPECT_TRUE(member.serves());
  EXPECT_EQ(member.version, "3.8.0");
  EXPECT_EQ(member.zxid, 0x100000005);
  EXPECT_EQ(member.mean_latency_us, 500);
  EXPECT_EQ(member.max_latency_us, 12000);
  EXPECT_EQ(member.outstanding, 2);
  EXPECT_EQ(member.watches, 1);
}

TEST(Health, TheLeadersStaleCountIsAContradiction) {
  const auto health = judged({serving(1, "leader"), serving(2, "follower"), silent(3)});
  EXPECT_EQ(health.verdict, Verdict::Degraded);
  EXPECT_EQ(health.summary,
            "2 of 3 members serve, a:2181 leads, and still counts 2 of 2 followers in sync; no "
            "session was tried");
}

// The answers of ZooKeeper 3.8 after `reconfig -remove 1`.
TEST(Health, AServerThatWasRemovedIsNotCounted) {
  const auto left = parse_membership(
      "server.2=b:1:2:participant;2181\nserver.3=c:1:2:participant;2181\nversion=2");
  auto leader = answers(3, "Mode: leader\nZxid: 0x100000005\n",
                        "zk_synced_followers\t2\nzk_synced_non_voting_followers\t1\n");
  auto health =
      judge({serving(1, "follower"), serving(2, "follower"), read_health(leader)}, left, {});
  EXPECT_EQ(health.verdict, Verdict::Healthy);
  EXPECT_EQ(health.summary,
            "2 of 2 members serve, c:2181 leads, 1 of 1 followers in sync; no session was tried");
  EXPECT_THAT(health.notes,
              ElementsAre("a:2181: not a member of the ensemble (any more), but it "
                          "still serves clients; stop it, or add it (help reconfig)"));
  EXPECT_FALSE(health.members[0].member);

  // It is no replacement for a member.
  health = judge({serving(1, "follower"), silent(2), read_health(leader)}, left, {});
  EXPECT_EQ(health.verdict, Verdict::NoQuorum);
  EXPECT_EQ(health.summary, "1 voting member serves, but 2 must");
}

TEST(Health, GarbageIsNoServer) {
  for (const auto* text :
       {"", "HTTP/1.1 400 Bad Request\r\n", "\xff\xfe\x1b]0;x\x07", "Mode: \x1b[2J\n",
        "Mode: emperor\n", "Mode", "Mode:", "Zxid: 0x\nMode:"}) {
    const auto member = read_health(answers(1, text, ""));
    EXPECT_FALSE(member.serves()) << text;
    EXPECT_EQ(member.role, "");
    EXPECT_EQ(member.problem, "its answer to srvr is not that of a ZooKeeper server") << text;
  }
}

TEST(Health, BrokenNumbersAreMissing) {
  const auto member = read_health(
      answers(1,
              "Zookeeper version: \x1b[31m3.8\nLatency min/avg/max: a/nan/99999999999999999999\n"
              "Connections: -\nOutstanding: 9x\nZxid: 0xfffffffffffffffff\nMode: leader\n",
              "zk_synced_followers\t\xff\nzk_watch_count"));
  EXPECT_TRUE(member.serves());
  EXPECT_EQ(member.version, "");
  EXPECT_EQ(member.zxid, std::nullopt);
  EXPECT_EQ(member.mean_latency_us, std::nullopt);
  EXPECT_EQ(member.max_latency_us, std::nullopt);
  EXPECT_EQ(member.connections, std::nullopt);
  EXPECT_EQ(member.outstanding, std::nullopt);
  EXPECT_EQ(member.synced_followers, std::nullopt);
}

TEST(Health, AllServe) {
  const auto health =
      judged({serving(1, "leader"), serving(2, "follower"), serving(3, "follower")});
  EXPECT_EQ(health.verdict, Verdict::Healthy);
  EXPECT_EQ(health.summary,
            "3 of 3 members serve, a:2181 leads, 2 of 2 followers in sync; no session was tried");
  EXPECT_THAT(health.problems, IsEmpty());
}

TEST(Health, OneIsSilent) {
  const auto health = judged({serving(1, "leader"), serving(2, "follower"), silent(3)});
  EXPECT_EQ(health.verdict, Verdict::Degraded);
  EXPECT_THAT(health.problems, ElementsAre("c:2181: Connection refused"));
}

TEST(Health, AFollowerIsNotInSync) {
  auto leader = serving(1, "leader");
  leader.synced_followers = 1;
  const auto health = judged({leader, serving(2, "follower"), serving(3, "follower")});
  EXPECT_EQ(health.verdict, Verdict::Degraded);
  EXPECT_THAT(health.problems, ElementsAre("1 of 2 followers is in sync with the leader"));
}

TEST(Health, ALeaderWhoseFollowersAreGoneHasNoQuorum) {
  const auto health = judged({serving(1, "leader"), silent(2), silent(3)});
  EXPECT_EQ(health.verdict, Verdict::NoQuorum);
  EXPECT_EQ(health.summary, "1 voting member serves, but 2 must");
}

TEST(Health, FollowersWithoutALeader) {
  const auto health = judged({silent(1), serving(2, "follower"), serving(3, "follower")});
  EXPECT_EQ(health.verdict, Verdict::NoQuorum);
  EXPECT_EQ(health.summary, "no leader answers");
}

TEST(Health, NobodyAnswers) {
  EXPECT_EQ(judge({silent(1)}, std::nullopt, {}).summary, "the server does not answer");
  EXPECT_EQ(judge({silent(1), silent(2)}, std::nullopt, {}).verdict, Verdict::NoQuorum);
  EXPECT_EQ(judge({}, std::nullopt, {}).verdict, Verdict::NoQuorum);
}

TEST(Health, AServerWithoutAQuorum) {
  auto starting =
      read_health(answers(1, "This ZooKeeper instance is not currently serving requests\n", ""));
  EXPECT_TRUE(starting.answers);
  const auto health = judged({starting, silent(2), silent(3)});
  EXPECT_EQ(health.verdict, Verdict::NoQuorum);
  EXPECT_EQ(health.summary, "0 voting members serve, but 2 must");
}

TEST(Health, OneThatStandsAlone) {
  const auto health = judge({serving(1, "standalone")}, std::nullopt, {});
  EXPECT_EQ(health.verdict, Verdict::Healthy);
  EXPECT_EQ(health.summary, "a standalone server, which is serving; no session was tried");
}

MemberHealth opening(MemberHealth member, bool opens) {
  member.session = opens;
  if (!opens) member.problem = "it opens no session";
  return member;
}

TEST(Health, SaysWhetherSessionsWereOpened) {
  const auto summary = [](std::vector<MemberHealth> members) {
    const auto health = judged(std::move(members));
    EXPECT_EQ(health.verdict, Verdict::Healthy);
    return health.summary;
  };
  const auto leader = serving(1, "leader");
  const auto other = serving(2, "follower");
  const auto third = serving(3, "follower");
  EXPECT_THAT(summary({opening(leader, true), opening(other, true), opening(third, true)}),
              HasSubstr("; each opens sessions"));
  EXPECT_THAT(summary({opening(leader, true), opening(other, true), third}),
              HasSubstr("; sessions were tried at 2 of these"));
  EXPECT_EQ(judge({opening(serving(1, "standalone"), true)}, std::nullopt, {}).summary,
            "a standalone server, which is serving; it opens sessions");
}

TEST(Health, AServerThatOpensNoSessionDoesNotServe) {
  const auto one =
      judged({opening(serving(1, "leader"), true), opening(serving(2, "follower"), true),
              opening(serving(3, "follower"), false)});
  EXPECT_EQ(one.verdict, Verdict::Degraded);
  EXPECT_THAT(one.problems, ElementsAre("c:2181: it opens no session"));
  const auto all =
      judged({opening(serving(1, "leader"), false), opening(serving(2, "follower"), false),
              opening(serving(3, "follower"), false)});
  EXPECT_EQ(all.verdict, Verdict::NoQuorum);
  const auto alone = judge({opening(serving(1, "standalone"), false)}, std::nullopt, {});
  EXPECT_EQ(alone.verdict, Verdict::NoQuorum);
  EXPECT_EQ(alone.summary, "a standalone server, which opens no session");
}

TEST(Health, OnlyFollowersWereAsked) {
  const auto health = judge({serving(2, "follower"), serving(3, "follower")}, std::nullopt, {});
  EXPECT_EQ(health.verdict, Verdict::Healthy);
  EXPECT_THAT(health.summary, HasSubstr("the leader was not asked"));
}

TEST(Health, TwoThatLead) {
  const auto health = judged({serving(1, "leader"), serving(2, "leader"), serving(3, "follower")});
  EXPECT_EQ(health.verdict, Verdict::Degraded);
  EXPECT_THAT(health.problems, ElementsAre(HasSubstr("a:2181 and b:2181 both claim to lead")));
}

TEST(Health, LagsWithinAnEpoch) {
  const auto behind = [](std::int64_t leader, std::int64_t follower) {
    return judged({serving(1, "leader", leader), serving(2, "follower", follower)})
        .members[1]
        .behind;
  };
  EXPECT_EQ(behind(0x100000009, 0x100000002), 7);
  EXPECT_EQ(behind(0x100000002, 0x100000009), 0) << "asked a moment later";
  EXPECT_EQ(behind(0x200000000, 0x100000009), 0) << "nothing was written since the election";
  EXPECT_EQ(behind(0x200000003, 0x100000009), std::nullopt);
}

TEST(Health, Limits) {
  const auto all = [](const HealthLimits& limits) {
    return judged(
               {serving(1, "leader"), serving(2, "follower", 0x100000001), serving(3, "follower")},
               limits)
        .verdict;
  };
  EXPECT_EQ(all({.behind = 3}), Verdict::Degraded);
  EXPECT_EQ(all({.behind = 4}), Verdict::Healthy);
  EXPECT_EQ(all({.outstanding = 1}), Verdict::Degraded);
  EXPECT_EQ(all({.outstanding = 2}), Verdict::Healthy);
  EXPECT_EQ(all({.latency = std::chrono::milliseconds(1)}), Verdict::Healthy);
}

TEST(Health, WordsThatAreNotAllowed) {
  const auto refusal = [](const char* word) {
    return fmt::format("{} is not executed because it is not in the whitelist.\n", word);
  };
  const auto without_mntr = read_health(answers(1, "Mode: leader\n", refusal("mntr")));
  EXPECT_TRUE(without_mntr.serves());
  EXPECT_THAT(without_mntr.note, HasSubstr("add mntr to that line"));
  const auto mute = read_health(answers(1, refusal("srvr"), refusal("mntr")));
  EXPECT_FALSE(mute.serves());
  EXPECT_THAT(mute.problem, HasSubstr("allows neither srvr nor mntr"));
}

}  // namespace
}  // namespace zksh
