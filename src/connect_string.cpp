// ConnectString: the servers and the chroot that a user names, checked and put in the C client's
// form.
#include "connect_string.h"

#include "error.h"
#include "node_path.h"

#include <fmt/core.h>

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &address) == 1;
}

int parse_port(std::string_view text, std::string_view whole) {
  int port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535)
    throw ValueError(
        fmt::format("\"{}\": the port \"{}\" is not a number from 1 to 65535", whole, text));
  return port;
}

ServerAddress parse_server(std::string_view text, std::string_view whole) {
  ServerAddress server;
  if (!text.empty() && text.front() == '[') {
    const auto close = text.find(']');
    if (close == std::string_view::npos)
      throw ValueError(
          fmt::format("\"{}\": the address \"{}\" lacks its closing bracket", whole, text));
    server.host = text.substr(1, close - 1);
    const auto rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':')
      throw ValueError(fmt::format("\"{}\": \"{}\" stands where :port was expected", whole, rest));
    if (!rest.empty()) server.port = parse_port(rest.substr(1), whole);
    if (!is_ipv6(server.host))
      throw ValueError(fmt::format("\"{}\": [{}] is not an IPv6 address", whole, server.host));
    return server;
  }
  // A bare IPv6 address has colons of its own; everything else has at most the port's.
  if (text.find(':') != text.rfind(':') && is_ipv6(std::string(text))) {
    server.host = text;
    return server;
  }
  const auto colon = text.rfind(':');
  server.host = text.substr(0, colon);
  if (colon != std::string_view::npos) server.port = parse_port(text.substr(colon + 1), whole);
  if (server.host.empty()) throw ValueError(fmt::format("\"{}\": a server's name is empty", whole));
  constexpr std::string_view never_in_names(":\0", 2);
  if (server.host.find_first_of(never_in_names) != std::string::npos)
    throw ValueError(fmt::format("\"{}\": \"{}\" is neither a server's name nor an address", whole,
                                 server.host));
  return server;
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// The addresses of a server, or what getaddrinfo says against it.
AddressList resolve(const ServerAddress& server, std::string& problem) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure =
      getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found);
  if (failure != 0) problem = fmt::format("the name does not resolve ({})", gai_strerror(failure));
  return {failure == 0 ? found : nullptr, &freeaddrinfo};
}

/// One connection attempt that has been started.
struct Attempt {
  std::string server;
  std::string problem;  // empty while it runs
  int fd = -1;
};

Attempt start_attempt(const ServerAddress& server) {
  Attempt attempt{.server = server.text(), .problem = {}};
  const auto addresses = resolve(server, attempt.problem);
  if (!addresses) return attempt;
  attempt.fd = socket(addresses->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (attempt.fd < 0 || connect(attempt.fd, addresses->ai_addr, addresses->ai_addrlen) == 0 ||
      errno == EINPROGRESS)
    return attempt;
  attempt.problem = std::strerror(errno);
  return attempt;
}

void finish_attempt(Attempt& attempt, bool answered) {
  if (attempt.fd < 0) return;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(attempt.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0)
    attempt.problem = std::strerror(error);
  else if (attempt.problem.empty())
    attempt.problem = answered ? "it accepts connections, but does not serve (frozen, starting, "
                                 "without a quorum, or no ZooKeeper)"
                               : "no answer";
  close(attempt.fd);
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

ConnectString parse_connect_string(std::string_view text) {
  ConnectString result;
  const auto slash = text.find('/');
  auto hosts = text.substr(0, slash);
  if (slash != std::string_view::npos && slash + 1 < text.size()) {
    result.chroot = text.substr(slash);
    if (const auto flaw = path_flaw(result.chroot))
      throw ValueError(fmt::format("\"{}\": the chroot is no path: {}", text, *flaw));
  }
  while (true) {
    const auto comma = hosts.find(',');
    result.servers.push_back(parse_server(hosts.substr(0, comma), text));
    if (comma == std::string_view::npos) return result;
    hosts.remove_prefix(comma + 1);
  }
}

bool same_host(const std::string& one, const std::string& other) {
  if (one == other) return true;
  std::string problem;
  const auto first = resolve({.host = one}, problem);
  const auto second = resolve({.host = other}, problem);
  for (const auto* a = first.get(); a != nullptr; a = a->ai_next)
    for (const auto* b = second.get(); b != nullptr; b = b->ai_next)
      if (a->ai_addrlen == b->ai_addrlen && std::memcmp(a->ai_addr, b->ai_addr, a->ai_addrlen) == 0)
        return true;
  return false;
}

std::string why_unreachable(const ConnectString& servers,
                            const std::map<std::string, std::string>& known) {
  std::vector<Attempt> attempts;
  for (const auto& server : servers.servers) attempts.push_back(start_attempt(server));
  std::vector<pollfd> waiting;
  waiting.reserve(attempts.size());
  for (const auto& attempt : attempts)
    waiting.push_back(
        {.fd = attempt.problem.empty() ? attempt.fd : -1, .events = POLLOUT, .revents = 0});
  poll(waiting.data(), waiting.size(), 500);
  std::string text;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const bool answered = (waiting[i].revents & POLLOUT) != 0;
    const auto said = known.find(attempts[i].server);
    if (answered && said != known.end()) attempts[i].problem = said->second;
    finish_attempt(attempts[i], answered);
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", attempts[i].server, attempts[i].problem);
  }
  return text;
}

}  // namespace zksh
