// HostAddresses: resolves servers' names to their addresses, and puts these in the order of trying.
#include "client/host_addresses.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <random>
#include <utility>

namespace zksh {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Sets `failure` to getaddrinfo's result.
AddressList ask_resolver(const ServerAddress& server, int flags, int& failure) {
  addrinfo hints{};
  hints.ai_flags = flags | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  addrinfo* found = nullptr;
  failure = getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found);
  return {failure == 0 ? found : nullptr, &freeaddrinfo};
}

AddressList ask_as_the_c_client(const ServerAddress& server, int& failure) {
  auto found = ask_resolver(server, AI_NUMERICHOST, failure);
  if (!found) found = ask_resolver(server, AI_ADDRCONFIG, failure);
  if (failure == EAI_BADFLAGS || failure == EAI_ADDRFAMILY)
    found = ask_resolver(server, 0, failure);
  return found;
}

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

ServerAddress SocketAddress::server() const {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  getnameinfo(get(), size, host.data(), host.size(), port.data(), port.size(),
              NI_NUMERICHOST | NI_NUMERICSERV);
  return {.host = host.data(), .port = std::atoi(port.data())};
}

bool SocketAddress::operator==(const SocketAddress& other) const {
  return size == other.size && std::memcmp(&bytes, &other.bytes, size) == 0;
}

HostAddresses look_up(const ServerAddress& server, AddressFilter filter) {
  int failure = 0;
  const auto found = filter == AddressFilter::All ? ask_resolver(server, 0, failure)
                                                  : ask_as_the_c_client(server, failure);
  if (!found)
    return {.problem = fmt::format("the name cannot be resolved ({})", gai_strerror(failure))};
  HostAddresses addresses;
  for (const auto* one = found.get(); one != nullptr; one = one->ai_next) {
    SocketAddress address{.size = one->ai_addrlen};
    std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
    addresses.all.push_back(address);
  }
  return addresses;
}

bool is_address(const std::string& host) {
  int failure = 0;
  return ask_resolver({.host = host}, AI_NUMERICHOST, failure) != nullptr;
}

bool same_host(const std::string& one, const std::string& other) {
  if (one == other) return true;
  const auto first = look_up({.host = one}).all;
  const auto second = look_up({.host = other}).all;
  return std::ranges::find_first_of(first, second) != first.end();
}

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
