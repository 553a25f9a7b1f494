// ServerCommand: shared by the commands that ask servers four-letter words.
#include "ensemble/server_command.h"

#include "base/time.h"
#include "client/client.h"
#include "config/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace zksh {

void declare_hosts(Options& options, std::vector<std::string>& hosts) {
  options.words("host", hosts,
                "host[:port]: the servers to ask; by default all members of the ensemble.");
}

ServersToAsk servers_to_ask(const Context& cx, const std::vector<std::string>& hosts) {
  const auto own = cx.client.server();
  ServersToAsk asked{
      .with_others = hosts.empty(),
      .admin_servers = AdminServers(cx.services.settings.value("admin-server"), own)};
  if (hosts.empty()) asked.servers = parse_connect_string(own).servers;
  for (const auto& host : hosts) {
    const auto parsed = parse_connect_string(host);
    if (!parsed.chroot.empty())
      throw ValueError(fmt::format("\"{}\": expected HOST[:PORT], without a path", host));
    asked.servers.insert(asked.servers.end(), parsed.servers.begin(), parsed.servers.end());
  }
  std::set<std::string> seen;
  std::erase_if(asked.servers,
                [&](const ServerAddress& server) { return !seen.insert(server.text()).second; });
  return asked;
}

int report_failures(Context& cx, const SessionSurvey& survey) {
  for (const auto& failure : survey.failures())
    cx.out.err_line("{}", cx.out.shown_in_error(failure));
  if (!survey.any_answered()) return status::no_connection;
  return survey.failures().empty() ? status::ok : status::failure;
}

void Patience::declare(Options& options) {
  options.text("-t,--timeout", given,
               fmt::format("Time limit for a server's answer: 500ms, 5s ({}).", short_time(usual)),
               "time");
}

std::chrono::milliseconds Patience::time_or(std::chrono::milliseconds otherwise) const {
  if (!given) return otherwise;
  const auto time = parse_duration(*given, "-t");
  if (time.count() == 0) throw ValueError("-t must be more than 0");
  return time;
}

}  // namespace zksh
