// TryingOrder: counting addresses as the C client does.
#include "trying_order.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <netdb.h>
#include <random>
#include <sys/socket.h>
#include <vector>

namespace zksh {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses look_up(const ServerAddress& server, int flags, int& failure) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  addrinfo* found = nullptr;
  failure = getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found);
  return {failure == 0 ? found : nullptr, &freeaddrinfo};
}

bool is_address(const ServerAddress& server) {
  int failure = 0;
  return look_up(server, AI_NUMERICHOST, failure) != nullptr;
}

/// As resolve_hosts in the C client (3.8.0) looks them up; those that do not resolve have none.
std::vector<ServerAddress> addresses_of(const ServerAddress& server) {
  if (is_address(server)) return {server};
  int failure = 0;
  auto found = look_up(server, AI_ADDRCONFIG, failure);
  if (failure == EAI_BADFLAGS || failure == EAI_ADDRFAMILY) found = look_up(server, 0, failure);
  std::vector<ServerAddress> all;
  for (const auto* one = found.get(); one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> host{};
    if (getnameinfo(one->ai_addr, one->ai_addrlen, host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0)
      all.push_back({.host = host.data(), .port = server.port});
  }
  return all;
}

}  // namespace

std::string trying_order(const ConnectString& servers) {
  auto list = servers;
  if (list.servers.size() == 1 && is_address(list.servers.front())) return list.for_c_client();
  std::ranges::shuffle(list.servers, std::random_device());
  std::vector<ServerAddress> addresses;
  for (const auto& server : list.servers)
    std::ranges::copy(addresses_of(server), std::back_inserter(addresses));
  if (!addresses.empty() && addresses.size() % 2 == 0) list.servers.push_back(addresses.front());
  return list.for_c_client();
}

}  // namespace zksh
