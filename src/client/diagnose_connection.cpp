// diagnose_connection: tries a connection to each server, and looks for a missing chroot.
#include "client/diagnose_connection.h"

#include "base/fd.h"
#include "base/monitor.h"
#include "base/text.h"
#include "base/words.h"
#include "client/client.h"
#include "client/host_addresses.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <poll.h>
#include <span>
#include <string_view>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// A server, and a connection in progress to each of its addresses.
struct Attempt {
  std::string server;
  std::string problem{};  ///< empty while there is none
  bool reached = false;
  std::vector<Fd> sockets{};

  bool settled() const { return reached || sockets.empty(); }
  /// Records why one address failed. That this machine has no route to it says least.
  void note(int error) {
    constexpr std::array unusable{EAFNOSUPPORT, EADDRNOTAVAIL, ENETUNREACH};
    if (problem.empty() || std::ranges::find(unusable, error) == unusable.end())
      problem = std::strerror(error);
  }
};

Attempt start_attempt(const ServerAddress& server) {
  auto found = look_up(server);
  Attempt attempt{.server = server.text(), .problem = std::move(found.problem)};
  for (const auto& address : found.all) {
    Fd fd(socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd && (connect(fd.get(), address.get(), address.size) == 0 || errno == EINPROGRESS))
      attempt.sockets.push_back(std::move(fd));
    else
      attempt.note(errno);
  }
  return attempt;
}

/// Records what has become of the sockets that are ready.
void look_at(Attempt& attempt, std::span<const pollfd> ready) {
  for (const auto& one : ready) {
    if (one.revents == 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(one.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) attempt.reached = true;
    if (error != 0) attempt.note(error);
    std::erase_if(attempt.sockets, [&](const Fd& fd) { return fd.get() == one.fd; });
  }
}

/// Tries all servers, until each has been reached or has failed, or time is up.
std::vector<Attempt> try_all(const ConnectString& servers) {
  std::vector<Attempt> all;
  for (const auto& server : servers.servers) all.push_back(start_attempt(server));
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  while (!std::ranges::all_of(all, &Attempt::settled)) {
    std::vector<pollfd> sockets;
    for (const auto& attempt : all)
      for (const auto& fd : attempt.sockets)
        sockets.push_back({.fd = fd.get(), .events = POLLOUT, .revents = 0});
    // Polls once more after the time limit: what came during a pause of this process counts.
    const auto left = std::max(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()),
                               std::chrono::milliseconds(0));
    if (poll(sockets.data(), sockets.size(), static_cast<int>(left.count())) <= 0) break;
    std::span<const pollfd> rest(sockets);
    for (auto& attempt : all) {
      const auto own = rest.first(attempt.sockets.size());
      rest = rest.subspan(own.size());
      look_at(attempt, own);
    }
  }
  return all;
}

/// Each problem with the servers that have it.
std::string listed(const std::vector<Attempt>& attempts) {
  std::vector<std::pair<std::string, std::string>> by_problem;
  for (const auto& attempt : attempts) {
    const auto& problem = attempt.problem;
    const auto same = std::ranges::find(
        by_problem, problem, [](const auto& entry) -> const auto& { return entry.first; });
    if (same == by_problem.end())
      by_problem.emplace_back(problem, attempt.server);
    else
      same->second += ", " + attempt.server;
  }
  std::string text;
  for (const auto& [problem, named] : by_problem)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", named, problem);
  return text;
}

}  // namespace

std::string diagnose_connection(const ConnectString& servers,
                                const std::map<std::string, std::string>& known) {
  auto attempts = try_all(servers);
  for (auto& attempt : attempts) {
    if (!attempt.reached && attempt.settled()) continue;
    const auto said = known.find(attempt.server);
    if (!attempt.reached)
      attempt.problem = "no answer";
    else if (said != known.end())
      attempt.problem = said->second;
    else
      attempt.problem =
          "reachable, but not serving (frozen, starting, without a quorum, a port for TLS, or not "
          "a ZooKeeper server)";
  }
  return listed(attempts);
}

std::string refusal_by_all(const ConnectString& servers) {
  const auto attempts = try_all(servers);
  const bool refused = std::ranges::all_of(
      attempts, [](const Attempt& attempt) { return attempt.settled() && !attempt.reached; });
  return refused ? listed(attempts) : "";
}

namespace {

/// The connect string that was meant, if its chroot follows each server instead of the last one:
/// "a,b/ch" for "a/ch,b/ch". nullopt if no server follows the first chroot, or chroots differ.
std::optional<std::string> with_one_chroot(const std::string& server) {
  if (server.find(',', server.find('/')) == std::string::npos) return std::nullopt;
  std::string servers;
  std::string_view chroot;
  for (const auto part : split(server, ',')) {
    const auto slash = part.find('/');
    if (!servers.empty()) servers += ',';
    servers += part.substr(0, slash);
    if (slash == std::string_view::npos) continue;
    if (!chroot.empty() && chroot != part.substr(slash)) return std::nullopt;
    chroot = part.substr(slash);
  }
  return servers + std::string(chroot);
}

}  // namespace

ZkError MissingChroot::explained(Client& client, const ZkError& error,
                                 const std::stop_token& stop) {
  const auto server = client.server();
  const auto slash = server.find('/');
  const auto chroot = slash == std::string::npos ? "" : server.substr(slash);
  if (error.code() != code::no_node || chroot.size() < 2 || server == present_) return error;
  const int found = client.await(client.start_exists("/", Watch::none()), stop).code;
  if (found == code::ok) present_ = server;
  if (found != code::no_node) return error;
  if (const auto meant = with_one_chroot(server))
    return {error, fmt::format(" (the chroot {} of the connect string does not exist; a chroot "
                               "stands once, after the last server: `zksh -s {}`)",
                               chroot, as_word(*meant))};
  return {error, fmt::format(" (the chroot {} of the connect string does not exist; `zksh -s {} "
                             "create -p {}` creates it)",
                             chroot, server.substr(0, slash), as_word(chroot))};
}

}  // namespace zksh
