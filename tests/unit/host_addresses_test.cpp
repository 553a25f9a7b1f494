// HostAddresses: names that resolve without a network, and names that never do.
#include "client/host_addresses.h"

#include <gtest/gtest.h>

#include <vector>

namespace zksh {
namespace {

std::vector<std::string> hosts_of(const std::string& name, AddressFilter wanted) {
  std::vector<std::string> hosts;
  for (const auto& address : look_up({.host = name}, wanted).all)
    hosts.push_back(address.server().host);
  return hosts;
}

TEST(HostAddresses, AnAddressStandsForItself) {
  for (const auto wanted : {AddressFilter::All, AddressFilter::LikeTheCClient}) {
    EXPECT_EQ(hosts_of("10.0.0.1", wanted), std::vector<std::string>{"10.0.0.1"});
    EXPECT_EQ(hosts_of("fd00::1", wanted), std::vector<std::string>{"fd00::1"});
  }
  EXPECT_TRUE(is_address("10.0.0.1"));
  EXPECT_TRUE(is_address("fd00::1"));
  EXPECT_FALSE(is_address("localhost"));
}

TEST(HostAddresses, ANameThatDoesNotResolveHasAProblem) {
  for (const auto wanted : {AddressFilter::All, AddressFilter::LikeTheCClient}) {
    const auto found = look_up({.host = "no-such-host.invalid"}, wanted);
    EXPECT_TRUE(found.all.empty());
    EXPECT_TRUE(found.problem.starts_with("the name cannot be resolved (")) << found.problem;
  }
}

TEST(HostAddresses, AHostIsTheSameUnderAnotherName) {
  EXPECT_TRUE(same_host("localhost", "127.0.0.1"));
  EXPECT_TRUE(same_host("no-such-host.invalid", "no-such-host.invalid"));
  EXPECT_FALSE(same_host("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(same_host("10.0.0.1", "fd00::1"));
}

}  // namespace
}  // namespace zksh
