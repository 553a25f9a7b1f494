// ServerCommand: shared by the commands that ask servers four-letter words.
#include "ensemble/server_command.h"

#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "client/client.h"
#include "config/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

namespace zksh {
namespace {

constexpr std::array<FourLetterWord, 21> words{{
    {.word = "conf", .meaning = "its configuration", .has_fields = true},
    {.word = "cons", .meaning = "its client connections"},
    {.word = "crst", .meaning = "resets the connections' counters", .writes = true},
    {.word = "dirs", .meaning = "the size of its snapshots and logs", .has_fields = true},
    {.word = "dump", .meaning = "sessions and their ephemerals"},
    {.word = "envi", .meaning = "its environment", .has_fields = true},
    {.word = "gtmk", .meaning = "the trace mask"},
    {.word = "hash", .meaning = "digests of the tree at recent zxids"},
    {.word = "icfg", .meaning = "the configuration that it was started with"},
    {.word = "isro", .meaning = "ro if read-only, else rw"},
    {.word = "last_snapshot",
     .meaning = "its last snapshot (AdminServer alone)",
     .has_fields = true},
    {.word = "leader", .meaning = "who leads (AdminServer alone)", .has_fields = true},
    {.word = "mntr", .meaning = "its metrics", .has_fields = true},
    {.word = "ruok", .meaning = "imok if it is running"},
    {.word = "srst", .meaning = "resets the server's counters", .writes = true},
    {.word = "srvr", .meaning = "version, role, load and latency", .has_fields = true},
    {.word = "stat", .meaning = "srvr, with its connections"},
    {.word = "voting_view", .meaning = "the voters (AdminServer alone)", .has_fields = true},
    {.word = "wchc", .meaning = "watches by session"},
    {.word = "wchp", .meaning = "watches by path"},
    {.word = "wchs", .meaning = "the number of watches"},
}};

}  // namespace

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

std::span<const FourLetterWord> four_letter_words() { return words; }

Json answer_fields(std::string_view answer) {
  auto fields = Json::object();
  for (const auto line : lines_of(answer)) {
    const auto end = line.find_first_of("=:\t");
    if (end == std::string_view::npos || end == 0) continue;
    auto value = line.substr(end + 1);
    if (line[end] == ':') value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    if (line[end] == ':' && value.empty()) continue;  // a heading
    const auto number = number_in<std::int64_t>(value);
    fields.set(line.substr(0, end), number ? Json(*number) : Json(value));
  }
  return fields;
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
