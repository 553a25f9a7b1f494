// ConnectString: parses the servers and the chroot that a user names; ServerNode: a node there.
#include "client/connect_string.h"

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "base/words.h"
#include "client/node_path.h"

#include <fmt/core.h>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace zksh {
namespace {

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &address) == 1;
}

int parse_port(std::string_view text, std::string_view whole) {
  const auto port = number_in<int>(text);
  if (!port || *port < 1 || *port > 65535)
    throw ValueError(
        fmt::format("\"{}\": the port \"{}\" is not a number from 1 to 65535", whole, text));
  return *port;
}

ServerAddress parse_server(std::string_view part, std::string_view whole) {
  ServerAddress server;
  if (!part.empty() && part.front() == '[') {
    const auto close = part.find(']');
    if (close == std::string_view::npos)
      throw ValueError(
          fmt::format("\"{}\": the address \"{}\" has no closing bracket", whole, part));
    server.host = part.substr(1, close - 1);
    const auto rest = part.substr(close + 1);
    if (!rest.empty() && rest.front() != ':')
      throw ValueError(fmt::format("\"{}\": expected :port instead of \"{}\"", whole, rest));
    if (!rest.empty()) server.port = parse_port(rest.substr(1), whole);
    if (!is_ipv6(server.host))
      throw ValueError(fmt::format("\"{}\": [{}] is not an IPv6 address", whole, server.host));
    return server;
  }
  // A bare IPv6 address has several colons; anything else has at most the port's.
  if (part.find(':') != part.rfind(':') && is_ipv6(std::string(part))) {
    server.host = part;
    return server;
  }
  const auto colon = part.rfind(':');
  server.host = part.substr(0, colon);
  if (colon != std::string_view::npos) server.port = parse_port(part.substr(colon + 1), whole);
  if (server.host.empty()) throw ValueError(fmt::format("\"{}\": a server name is empty", whole));
  constexpr std::string_view never_in_names(":\0", 2);
  if (server.host.find_first_of(never_in_names) != std::string::npos)
    throw ValueError(
        fmt::format("\"{}\": \"{}\" is neither a host name nor an address", whole, server.host));
  return server;
}

}  // namespace

std::string ServerAddress::text() const {
  return is_ipv6(host) ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string ConnectString::for_c_client() const {
  std::string text;
  for (const auto& server : servers)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", server.host, server.port);
  return text + chroot;
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "zk://";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

ConnectString parse_connect_string(std::string_view text) {
  text = without_mark(text);
  ConnectString result;
  const auto slash = text.find('/');
  if (slash != std::string_view::npos && slash + 1 < text.size()) {
    result.chroot = text.substr(slash);
    if (const auto flaw = path_flaw(result.chroot))
      throw ValueError(fmt::format("\"{}\": the chroot is not a valid path: {}", text, *flaw));
  }
  // As in zkCli, blanks around a server and empty elements are ignored.
  for (const auto part : split(text.substr(0, slash), ','))
    if (const auto server = trimmed(part); !server.empty())
      result.servers.push_back(parse_server(server, text));
  if (result.servers.empty()) throw ValueError(fmt::format("\"{}\": a server name is empty", text));
  return result;
}

std::optional<ServerNode> server_node(const std::string& word) {
  const auto rest = std::string(without_mark(word));
  const bool marked = rest.size() < word.size();
  const auto slash = rest.find('/');
  const auto hosts = rest.substr(0, slash);
  const bool port = hosts.find(':') != std::string::npos;
  if (hosts.empty() || (!marked && (!port || slash == std::string::npos))) return std::nullopt;
  return ServerNode{.hosts = hosts, .path = slash == std::string::npos ? "/" : rest.substr(slash)};
}

}  // namespace zksh
