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

/// The problem of an attempt that was given its time.
std::string outcome_of(const Attempt& attempt, bool answered) {
  if (!attempt.socket) return attempt.problem;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return std::strerror(error);
  if (!attempt.problem.empty()) return attempt.problem;
  return answered ? "reachable, but not serving (frozen, starting, without a quorum, or not a "
                    "ZooKeeper server)"
                  : "no answer";
}

}  // namespace

std::string diagnose_connection(const ConnectString& servers,
                                const std::map<std::string, std::string>& known) {
  std::vector<Attempt> attempts;
  for (const auto& server : servers.servers) attempts.push_back(start_attempt(server));
  std::vector<pollfd> waiting;
  waiting.reserve(attempts.size());
  for (const auto& attempt : attempts)
    waiting.push_back({.fd = attempt.problem.empty() ? attempt.socket.get() : -1,
                       .events = POLLOUT,
                       .revents = 0});
  poll(waiting.data(), waiting.size(), 500);
  // Each problem, and the servers that have it.
  std::vector<std::pair<std::string, std::string>> by_problem;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    auto& [server, problem, socket] = attempts[i];
    const bool answered = (waiting[i].revents & POLLOUT) != 0;
    if (const auto said = known.find(server); answered && said != known.end())
      problem = said->second;
    problem = outcome_of(attempts[i], answered);
    const auto same = std::ranges::find_if(
        by_problem, [&](const auto& entry) { return entry.first == attempts[i].problem; });
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

}  // namespace zksh
