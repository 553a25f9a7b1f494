// HostAddresses: resolves a server's name to its addresses.
#include "client/host_addresses.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>

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

}  // namespace zksh
