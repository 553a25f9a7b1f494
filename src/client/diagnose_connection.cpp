// diagnose_connection: tries a connection to each server.
#include "client/diagnose_connection.h"

#include "client/host_addresses.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// A connection attempt in progress.
struct Attempt {
  std::string server;
  std::string problem;  // empty while it runs
  int fd = -1;
};

Attempt start_attempt(const ServerAddress& server) {
  Attempt attempt{.server = server.text(), .problem = {}};
  const auto found = look_up(server);
  attempt.problem = found.problem;
  if (found.all.empty()) return attempt;
  const auto& address = found.all.front();
  attempt.fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (attempt.fd < 0 || connect(attempt.fd, address.get(), address.size) == 0 ||
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
    attempt.problem = answered ? "reachable, but not serving (frozen, starting, without a quorum, "
                                 "or not a ZooKeeper server)"
                               : "no answer";
  close(attempt.fd);
}

}  // namespace

std::string diagnose_connection(const ConnectString& servers,
                                const std::map<std::string, std::string>& known) {
  std::vector<Attempt> attempts;
  for (const auto& server : servers.servers) attempts.push_back(start_attempt(server));
  std::vector<pollfd> waiting;
  waiting.reserve(attempts.size());
  for (const auto& attempt : attempts)
    waiting.push_back(
        {.fd = attempt.problem.empty() ? attempt.fd : -1, .events = POLLOUT, .revents = 0});
  poll(waiting.data(), waiting.size(), 500);
  std::vector<std::pair<std::string, std::string>>
      by_problem;  // problem, and the servers that have it
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const bool answered = (waiting[i].revents & POLLOUT) != 0;
    const auto said = known.find(attempts[i].server);
    if (answered && said != known.end()) attempts[i].problem = said->second;
    finish_attempt(attempts[i], answered);
    const auto same = std::ranges::find(by_problem, attempts[i].problem,
                                        &std::pair<std::string, std::string>::first);
    if (same == by_problem.end())
      by_problem.emplace_back(attempts[i].problem, attempts[i].server);
    else
      same->second += ", " + attempts[i].server;
  }
  std::string text;
  for (const auto& [problem, named] : by_problem)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", named, problem);
  return text;
}

}  // namespace zksh
