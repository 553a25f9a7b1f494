// ACL text: expects what AclParser and getAcl of ZooKeeper 3.8.0 print.
#include "client/acl_text.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::string_literals;
using Lines = std::vector<std::string>;

TEST(ParseAcl, ReadsSchemeIdAndPermissions) {
  const auto parsed = parse_acl("world:anyone:cdrwa,ip:10.0.0.0/8:r,digest:u:p=:rw,auth::adwrc");
  EXPECT_EQ(parsed.complaints, Lines{});
  EXPECT_EQ(parsed.acl, (Acl{{.perms = 31, .scheme = "world", .id = "anyone"},
                             {.perms = 1, .scheme = "ip", .id = "10.0.0.0/8"},
                             {.perms = 3, .scheme = "digest", .id = "u:p="},
                             {.perms = 31, .scheme = "auth", .id = ""}}));
}

TEST(AclFlaw, IsWhatNobodyCanMeet) {
  const auto flawed = [](const std::string& text) {
    return acl_flaw(parse_acl(text).acl.at(0)).has_value();
  };
  for (const auto* met :
       {"world:anyone:r", "auth::cdrwa", "ip:10.0.0.0/8:r", "ip:::1:r", "ip:fe80::/64:r",
        "digest:ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=:r", "sasl:ann@REALM:r", "nosuch:x:r"})
    EXPECT_FALSE(flawed(met)) << met;
  for (const auto* never :
       {"world:anyone:", "digest:ann:secret:cdrwa", "digest:ann:r", "digest:ann:x:r",
        "digest:ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM:r", "ip:10.0.0.300:r", "ip:10.0.0.0/33:r",
        "ip:host:r", "ip::r", "ip:10.0.0.1/:r"})
    EXPECT_TRUE(flawed(never)) << never;
}

TEST(IsInNetwork, ComparesTheLeadingBits) {
  EXPECT_TRUE(is_in_network("10.1.2.3", "10.1.2.3"));
  EXPECT_TRUE(is_in_network("10.1.2.3", "10.0.0.0/8"));
  EXPECT_TRUE(is_in_network("10.1.2.3", "10.1.2.2/31"));
  EXPECT_FALSE(is_in_network("10.1.2.3", "10.1.2.1/31"));
  EXPECT_FALSE(is_in_network("11.1.2.3", "10.0.0.0/8"));
  EXPECT_TRUE(is_in_network("11.1.2.3", "10.0.0.0/0"));
  EXPECT_TRUE(is_in_network("fd00::1", "fd00::/64"));
  EXPECT_FALSE(is_in_network("10.1.2.3", "::/0")) << "of another family";
  EXPECT_FALSE(is_in_network("host", "10.0.0.0/8"));
}

TEST(AclFlaw, NamesTheUserButNoSecret) {
  const auto flaw = acl_flaw({.perms = perm::all, .scheme = "digest", .id = "ann:secret"});
  ASSERT_TRUE(flaw);
  EXPECT_NE(flaw->find("digest:ann:"), std::string::npos) << *flaw;
  EXPECT_EQ(flaw->find("secret"), std::string::npos) << *flaw;
}

TEST(ParseAcl, TheLastColonBeginsThePermissions) {
  EXPECT_EQ(parse_acl("ip:::1:r").acl, (Acl{{.perms = 1, .scheme = "ip", .id = "::1"}}));
  EXPECT_EQ(parse_acl("world:anyone:").acl, (Acl{{.perms = 0, .scheme = "world", .id = "anyone"}}));
  EXPECT_EQ(parse_acl("::").acl, (Acl{{.perms = 0, .scheme = "", .id = ""}}));
}

TEST(ParseAcl, SkipsWhatHasNotThreeParts) {
  const auto parsed = parse_acl("nonsense,a:b,world:anyone:r");
  EXPECT_EQ(parsed.complaints, (Lines{"nonsense does not have the form scheme:id:perm",
                                      "a:b does not have the form scheme:id:perm"}));
  EXPECT_EQ(parsed.acl, (Acl{{.perms = 1, .scheme = "world", .id = "anyone"}}));
}

TEST(ParseAcl, SkipsUnknownLettersOneByOne) {
  const auto parsed = parse_acl("world:anyone:rzzé,bad,world:x:R");
  EXPECT_EQ(parsed.complaints,
            (Lines{"Unknown perm type: z", "Unknown perm type: z", "Unknown perm type: é",
                   "bad does not have the form scheme:id:perm", "Unknown perm type: R"}));
  EXPECT_EQ(parsed.acl, (Acl{{.perms = 1, .scheme = "world", .id = "anyone"},
                             {.perms = 0, .scheme = "world", .id = "x"}}));
}

TEST(ParseAcl, DropsEmptyPartsAtTheEndOnly) {
  EXPECT_EQ(parse_acl("world:anyone:r,,,").complaints, Lines{});
  EXPECT_EQ(parse_acl(",,").complaints, Lines{});
  EXPECT_TRUE(parse_acl(",,").acl.empty());
  EXPECT_EQ(parse_acl("").complaints, (Lines{" does not have the form scheme:id:perm"}));
  EXPECT_EQ(parse_acl(",world:anyone:r").complaints,
            (Lines{" does not have the form scheme:id:perm"}));
}

TEST(AclLines, AreThoseOfGetAcl) {
  EXPECT_EQ(acl_lines(open_acl()), "'world,'anyone\n: cdrwa\n");
  EXPECT_EQ(acl_lines({{.perms = perm::read, .scheme = "digest", .id = "u:+owfoSBn/am19="},
                       {.perms = 0, .scheme = "ip", .id = "::1"}}),
            "'digest,'u:+owfoSBn/am19=\n: r\n"
            "'ip,'::1\n: \n");
  EXPECT_EQ(acl_lines({}), "");
}

TEST(AclLines, EscapeAsJuteDoes) {
  EXPECT_EQ(acl_lines({{.perms = perm::write, .scheme = "x", .id = "a,b}c%d\ne\rf\0'{"s}}),
            "'x,'a%2Cb%7Dc%25d%0Ae%0Df%00'{\n: w\n");
}

TEST(PermLetters, StandInOneOrder) {
  EXPECT_EQ(perm_letters(perm::create | perm::admin), "ca");
  EXPECT_EQ(perm_letters(perm::write | perm::read | perm::remove), "drw");
  EXPECT_EQ(perm_letters(0), "");
}

}  // namespace
}  // namespace zksh
