// diagnose_connection: tries a connection to each server.
#include "client/diagnose_connection.h"

#include "base/fd.h"
#include "client/host_addresses.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// A connection attempt in progress.
struct Attempt {
  std::string server;
  std::string problem{};  ///< empty while it runs
  Fd socket{};
};

Attempt start_attempt(const ServerAddress& server) {
  Attempt attempt{.server = server.text()};
  const auto found = look_up(server);
  attempt.problem = found.problem;
  if (found.all.empty()) return attempt;
  const auto& address = found.all.front();
  attempt.socket = Fd(socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!attempt.socket ||
      (connect(attempt.socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS))
    attempt.problem = std::strerror(errno);
  return attempt;
}

/// Why a socket could not connect; empty if it did, or still may.
std::string error_of(const Fd& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? "" : std::strerror(error);
}

/// The problem of an attempt that was given its time.
std::string outcome_of(const Attempt& attempt, bool answered) {
  if (!attempt.socket) return attempt.problem;
  if (auto error = error_of(attempt.socket); !error.empty()) return error;
  if (!attempt.problem.empty()) return attempt.problem;
  return answered
             ? "reachable, but not serving (frozen, starting, without a quorum, a port for TLS, "
               "or not a ZooKeeper server)"
             : "no answer";
}

/// Attempts that were given their time.
struct Attempts {
  std::vector<Attempt> all{};
  std::vector<bool> answered{};  ///< of each
};

Attempts try_all(const ConnectString& servers) {
  Attempts attempts;
  for (const auto& server : servers.servers) attempts.all.push_back(start_attempt(server));
  std::vector<pollfd> waiting;
  waiting.reserve(attempts.all.size());
  for (const auto& attempt : attempts.all)
    waiting.push_back({.fd = attempt.problem.empty() ? attempt.socket.get() : -1,
                       .events = POLLOUT,
                       .revents = 0});
  poll(waiting.data(), waiting.size(), 500);
  for (const auto& one : waiting) attempts.answered.push_back((one.revents & POLLOUT) != 0);
  return attempts;
}

/// Each problem with the servers that have it.
std::string listed(const std::vector<Attempt>& attempts) {
  std::vector<std::pair<std::string, std::string>> by_problem;
  for (const auto& [server, problem, socket] : attempts) {
    const auto same = std::ranges::find(
        by_problem, problem, [](const auto& entry) -> const auto& { return entry.first; });
    if (same == by_problem.end())
      by_problem.emplace_back(problem, server);
    else
      same->second += ", " + server;
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
  for (std::size_t i = 0; i < attempts.all.size(); ++i) {
    auto& attempt = attempts.all[i];
    const bool answered = attempts.answered[i];
    if (const auto said = known.find(attempt.server); answered && said != known.end())
      attempt.problem = said->second;
    attempt.problem = outcome_of(attempt, answered);
  }
  return listed(attempts.all);
}

std::string refusal_by_all(const ConnectString& servers) {
  auto attempts = try_all(servers);
  for (auto& attempt : attempts.all) {
    if (attempt.problem.empty() && attempt.socket) attempt.problem = error_of(attempt.socket);
    if (attempt.problem.empty()) return {};
  }
  return listed(attempts.all);
}

}  // namespace zksh
