// Membership: parsing configurations, and the effects of changes.
#include "ensemble/membership.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto three_members =
    "server.1=10.0.0.1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=10.0.0.2:2888:3888:participant;10.0.0.9:2182\n"
    "server.3=[::1]:2888:3888:observer;[::]:2183\n"
    "version=10000000f";

ChangedMembership changed(const Reconfiguration& change, std::string_view before = three_members) {
  return change_membership(parse_membership(before), change);
}

/// In the form of /zookeeper/config.
std::string membership_text(const Membership& membership) {
  std::string text;
  for (const auto& [id, member] : membership.members)
    text += fmt::format("server.{}={}\n", id, member.text);
  return text + fmt::format("version={:x}", membership.version);
}

TEST(Membership, ReadsAConfiguration) {
  const auto found = parse_membership(three_members);
  EXPECT_EQ(found.members.size(), 3U);
  EXPECT_EQ(found.voters(), 2U);
  EXPECT_EQ(found.quorum(), 2U);
  EXPECT_EQ(found.version, 0x10000000f);
  EXPECT_EQ(found.members.at(1).client->text(), "10.0.0.1:2181") << "every interface of its host";
  EXPECT_EQ(found.members.at(2).client->text(), "10.0.0.9:2182");
  EXPECT_EQ(found.members.at(3).client->text(), "[::1]:2183");
  EXPECT_EQ(membership_text(found), three_members);
}

TEST(Membership, ReadsTheFormsOfALine) {
  EXPECT_EQ(parse_member("a:1:2")->text, "a:1:2:participant");
  EXPECT_EQ(parse_member("a:1:2")->client, std::nullopt);
  EXPECT_EQ(parse_member("a:1:2;5")->client->text(), "a:5");
  EXPECT_EQ(parse_member("a:1:2|b:3:4:observer;5")->host, "a");
  for (const auto* wrong : {"", "a", "a:1", "a:1:x", ":1:2", "a:1:2;", "a:1:2;b:", "a:1:2;0",
                            "[::1:1:2", "a:1:2:", "a:1:99999", "a:1:2|", "\xff\x1b"})
    EXPECT_EQ(parse_member(wrong), std::nullopt) << wrong;
}

TEST(Membership, TakesAnythingForAConfiguration) {
  for (const auto* text : {"", "\n\n=", "server.=a:1:2", "server.x=a:1:2", "server.1=", "server.1",
                           "version=zz\nserver.99999999999999999999=a:1:2;3", "\xff\xfe\x1b]0;"})
    EXPECT_THAT(parse_membership(text).members, IsEmpty()) << text;
}

TEST(Membership, AServerLeavesAndAnotherJoins) {
  const auto after = changed({.joining = "server.4=d:1:2;3", .leaving = "3"}).after;
  EXPECT_EQ(after.members.size(), 3U);
  EXPECT_EQ(after.voters(), 3U);
  EXPECT_FALSE(after.members.contains(3));
  EXPECT_EQ(after.members.at(4).text, "d:1:2:participant;3");
}

TEST(Membership, AServerThatIsNoMemberLeavesNothing) {
  EXPECT_EQ(changed({.leaving = "9"}).code, code::ok) << "as the servers do";
}

TEST(Membership, TellsWhatBecomesOfEach) {
  using Kind = MemberChange::Kind;
  const Reconfiguration change{.joining = "server.2=d:1:2:observer;3,server.4=e:1:2;3",
                               .leaving = "3,9"};
  const auto before = parse_membership(three_members);
  const auto list = membership_changes(before, change_membership(before, change).after, change);
  std::vector<std::pair<std::int64_t, Kind>> kinds;
  kinds.reserve(list.size());
  for (const auto& each : list) kinds.emplace_back(each.id, each.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(std::pair{1, Kind::Stays}, std::pair{2, Kind::Changes},
                                          std::pair{3, Kind::Leaves}, std::pair{4, Kind::Joins},
                                          std::pair{9, Kind::Unknown}));
  EXPECT_EQ(list[1].text, "d:1:2:observer;3");
  EXPECT_EQ(list[1].before, "10.0.0.2:2888:3888:participant;10.0.0.9:2182");
}

TEST(Membership, AllMembersAreNamedAnew) {
  const auto after = changed({.members = "server.1=a:1:2;3,server.2=b:1:2;3\nversion=5"}).after;
  EXPECT_EQ(after.members.size(), 2U);
  EXPECT_EQ(after.members.at(2).text, "b:1:2:participant;3");
}

TEST(Membership, RefusesWhatTheServersRefuse) {
  EXPECT_EQ(changed({.leaving = "1", .version = 3}).code, code::bad_version);
  EXPECT_EQ(changed({.leaving = "1", .version = 0x10000000f}).code, code::ok);
  EXPECT_EQ(changed({.leaving = "junk"}).code, code::marshalling_error);
  EXPECT_EQ(changed({.joining = "junk"}).code, code::bad_arguments);
  EXPECT_EQ(changed({.joining = "server.4=d:1:2"}).code, code::bad_arguments) << "no client port";
  EXPECT_EQ(changed({.leaving = "1,2"}).code, code::bad_arguments) << "an observer is no voter";
  EXPECT_EQ(changed({.members = "server.1=x"}).code, code::bad_arguments);
  EXPECT_EQ(changed({.leaving = "1"}, "").code, code::reconfig_disabled);
  EXPECT_THAT(changed({.joining = "server.4=d:1:2;10.0.0.1:2181"}).why,
              HasSubstr("server.1 already uses 10.0.0.1:2181"));
}

}  // namespace
}  // namespace zksh
