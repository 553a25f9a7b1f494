// TryingOrder: every server is tried, even in steps of two, as in the C client.
#include "client/host_addresses.h"

#include <gtest/gtest.h>

#include <set>

namespace zksh {
namespace {

std::string trying_order_of(const std::string& list) {
  return trying_order(parse_connect_string(list)).hosts;
}

std::vector<std::string> tried(const std::string& list) {
  std::vector<std::string> all;
  // The form of the C client is one that parse_connect_string understands, but for IPv6.
  for (const auto& server : parse_connect_string(trying_order_of(list)).servers)
    all.push_back(server.text());
  return all;
}

TEST(TryingOrder, EveryServerComesFirstOnceAndByTwosToo) {
  for (const std::string list :
       {"10.0.0.1", "10.0.0.1,10.0.0.2", "10.0.0.1:1,10.0.0.1:2,10.0.0.1:3",
        "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4"}) {
    std::set<std::string> given;
    for (const auto& server : parse_connect_string(list).servers) given.insert(server.text());
    const auto order = tried(list);
    EXPECT_EQ(std::set(order.begin(), order.begin() + static_cast<int>(given.size())), given)
        << list;
    std::set<std::string> by_twos;
    for (std::size_t i = 0; i < order.size(); ++i) by_twos.insert(order.at(2 * i % order.size()));
    EXPECT_EQ(by_twos, given) << list;
  }
}

TEST(TryingOrder, ItIsNotThatOfTheList) {
  std::set<std::string> first;
  for (int i = 0; i < 200 && first.size() < 3; ++i)
    first.insert(tried("10.0.0.1,10.0.0.2,10.0.0.3").front());
  EXPECT_EQ(first.size(), 3);
}

TEST(TryingOrder, TheChrootAndASingleServerStayAsTheyAre) {
  EXPECT_EQ(trying_order_of("[::1]:2182/app"), "::1:2182/app");
  EXPECT_EQ(trying_order(parse_connect_string("[::1]:2182/app")).addresses, "::1:2182");
}

TEST(TryingOrder, ANameThatDoesNotResolveIsLeftOut) {
  EXPECT_EQ(tried("no-such-host.invalid,10.0.0.1"), std::vector<std::string>{"10.0.0.1:2181"});
  EXPECT_EQ(trying_order_of("no-such-host.invalid/app"), "");
}

}  // namespace
}  // namespace zksh
