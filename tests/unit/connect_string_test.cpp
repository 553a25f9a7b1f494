// Connect strings: what users type, and what the C client gets.
#include "client/connect_string.h"

#include "base/error.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

std::string for_c(std::string_view text) { return parse_connect_string(text).for_c_client(); }

TEST(ConnectString, ThePortMayBeLeftOut) {
  EXPECT_EQ(for_c("zk1"), "zk1:2181");
  EXPECT_EQ(for_c("zk1,zk2:2182,zk3"), "zk1:2181,zk2:2182,zk3:2181");
}

TEST(ConnectString, TheMarkOfDiffMayStandBeforeIt) {
  EXPECT_EQ(for_c("zk://zk1,zk2:2182/app"), "zk1:2181,zk2:2182/app");
  EXPECT_THROW(parse_connect_string("zk:///app"), ValueError);
}

TEST(ConnectString, Ipv6LosesItsBrackets) {
  EXPECT_EQ(for_c("[::1]:2182"), "::1:2182");
  EXPECT_EQ(for_c("[::1]"), "::1:2181");
  EXPECT_EQ(for_c("::1"), "::1:2181");
  EXPECT_EQ(for_c("[fe80::1]:1,10.0.0.1:2"), "fe80::1:1,10.0.0.1:2");
}

TEST(ConnectString, TheChrootIsKept) {
  EXPECT_EQ(for_c("zk1:1/app/x"), "zk1:1/app/x");
  EXPECT_EQ(for_c("zk1:1,zk2/app"), "zk1:1,zk2:2181/app");
  EXPECT_EQ(for_c("zk1/"), "zk1:2181") << "the root is no chroot";
}

TEST(ConnectString, WhatIsWrongIsRefused) {
  for (const auto* text :
       {"",         ":1",   "zk1:",    "zk1:abc",   "zk1:0",   "zk1:65536", "zk1:99999",
        ",",        " ",    " , /x",   "zk1 :1:2",  "zk 1:x",  "zk1/x/",    "zk1//x",
        "zk1/../x", "[::1", "[zk1]:1", "[::1]2181", "zk1:1:2", "::01:2:"})
    EXPECT_THROW(parse_connect_string(text), UsageError) << text;
}

TEST(ConnectString, BlanksAndEmptyPlacesDoNotMatter) {
  for (const auto* text : {"zk1,zk2:2", "zk1,zk2:2,", ",zk1,zk2:2", "zk1,,zk2:2", " zk1 ,\tzk2:2 "})
    EXPECT_EQ(for_c(text), "zk1:2181,zk2:2") << text;
  EXPECT_EQ(for_c("zk1:1 ,/app"), "zk1:1/app");
}

TEST(ConnectString, NoNameEndsEarly) {
  // The C client would connect to zk1.
  EXPECT_THROW(parse_connect_string(std::string_view("zk1\0.example.org:1", 18)), ValueError);
}

TEST(ConnectString, AnAddressIsShownAsItIsTyped) {
  EXPECT_EQ(parse_connect_string("[::1]:7").servers.front().text(), "[::1]:7");
  EXPECT_EQ(parse_connect_string("zk1").servers.front().text(), "zk1:2181");
}

}  // namespace
}  // namespace zksh
