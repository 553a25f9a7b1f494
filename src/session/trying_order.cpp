// TryingOrder: counts addresses as the C client does.
#include "session/trying_order.h"

#include "client/host_addresses.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// Names that do not resolve have no addresses.
std::vector<ServerAddress> addresses_of(const ServerAddress& server) {
  if (is_address(server.host)) return {server};
  std::vector<ServerAddress> all;
  for (const auto& address : look_up(server, AddressFilter::LikeTheCClient).all) {
    auto numeric = address.server();
    if (!numeric.host.empty()) all.push_back(std::move(numeric));
  }
  return all;
}

}  // namespace

TryingOrder trying_order(const ConnectString& servers) {
  TryingOrder order;
  auto list = servers;
  if (list.servers.size() > 1) std::ranges::shuffle(list.servers, std::random_device());
  std::vector<ServerAddress> addresses;
  for (const auto& server : list.servers)
    for (auto& address : addresses_of(server)) {
      order.names.emplace(address.text(), server.text());
      addresses.push_back(std::move(address));
    }
  if (addresses.empty()) return order;
  if (addresses.size() % 2 == 0) addresses.push_back(addresses.front());
  list.servers = std::move(addresses);
  order.hosts = list.for_c_client();
  list.chroot.clear();
  order.addresses = list.for_c_client();
  return order;
}

}  // namespace zksh
