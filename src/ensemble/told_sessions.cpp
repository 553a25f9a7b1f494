// ToldSessions: what the servers of an ensemble tell of sessions.
#include "ensemble/told_sessions.h"

#include "ensemble/answer_lines.h"
#include "ensemble/server_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace zksh {
namespace {

/// The value of "key=value" in "(queued=0,recved=7,…)"; empty when there is none.
std::string_view field(std::string_view line, std::string_view key) {
  for (std::size_t from = line.find('('); from != std::string_view::npos;
       from = line.find(',', from)) {
    const auto rest = line.substr(++from);
    if (!rest.starts_with(key) || rest.substr(key.size(), 1) != "=") continue;
    const auto value = rest.substr(key.size() + 1);
    return value.substr(0, value.find_first_of(",)"));
  }
  return {};
}

std::optional<std::int64_t> number_field(std::string_view line, std::string_view key) {
  const auto text = field(line, key);
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// Lines "0x…" or "0x…:", each with lines of paths below it that begin with a tab.
SessionPaths parse_session_paths(std::string_view text) {
  SessionPaths all;
  std::vector<std::string_view>* paths = nullptr;
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("\t/") && paths != nullptr) {
      paths->push_back(line.substr(1));
    } else if (const auto session = session_at(line)) {
      paths = &all[*session];
    } else {
      paths = nullptr;
    }
  });
  return all;
}

}  // namespace

std::vector<Connection> parse_connections(std::string_view answer) {
  std::vector<Connection> all;
  for_each_line(answer, [&](std::string_view line) {
    // " /10.0.0.7:51234[1](queued=0,…,sid=0x1000…,…)"; no sid: not a client
    const auto slash = line.find('/');
    const auto end = line.rfind('[', line.find("](queued="));
    const auto session = session_at(field(line, "sid"));
    if (slash == std::string_view::npos || end == std::string_view::npos || end < slash || !session)
      return;
    all.push_back({.session = *session,
                   .address = std::string(line.substr(slash + 1, end - slash - 1)),
                   .timeout = number_field(line, "to"),
                   .since = number_field(line, "est"),
                   .last_request = std::string(field(line, "lop"))});
  });
  return all;
}

SessionPaths parse_ephemerals(std::string_view answer) {
  const auto begin = answer.find("ephemeral nodes dump:");
  if (begin == std::string_view::npos) return {};
  answer.remove_prefix(begin);
  return parse_session_paths(answer.substr(0, answer.find("\nConnections dump:")));
}

SessionPaths parse_wchc(std::string_view answer) { return parse_session_paths(answer); }

std::string whole_path(const std::string& chroot, const std::string& path) {
  if (path == "/") return chroot.empty() ? path : chroot;
  return chroot + path;
}

ToldSessions::ToldSessions(const AskedServers& asked, std::vector<std::string> words,
                           std::chrono::milliseconds time, const std::stop_token& stop)
    : answers_(ask_members(asked, words, time, stop)) {
  for (const auto& member : answers_.members) {
    if (member.answers.empty()) {
      untold_.push_back(member.name() + ": its address for clients is not known");
      continue;
    }
    std::set<std::string> problems;
    std::vector<std::string> refused;
    const ServerAnswer* last_refusal = nullptr;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto& answer = member.answers[i];
      heard_ = heard_ || answer.problem.empty();
      if (is_refusal(answer.text)) {
        refused.push_back(words[i]);
        last_refusal = &answer;
      } else if (const auto problem = no_answer(words[i], answer)) {
        if (problems.insert(*problem).second)
          untold_.push_back(fmt::format("{}: {}", member.name(), *problem));
      } else {
        told_.insert(words[i]);
        take(member.name(), words[i], answer.text);
      }
    }
    if (last_refusal != nullptr)
      untold_.push_back(fmt::format("{}: {}", member.name(), refusal(refused, *last_refusal)));
  }
}

void ToldSessions::take(const std::string& server, const std::string& word,
                        const std::string& text) {
  if (word == "cons") {
    for (auto& connection : parse_connections(text)) {
      connection.server = server;
      auto& place = connections_[connection.session];
      if (place.server.empty() || place.since.value_or(0) < connection.since.value_or(0))
        place = std::move(connection);
    }
  } else if (word == "dump") {
    alive_.merge(parse_dump(text));
    sessions_told_ = sessions_told_ || text.starts_with("SessionTracker dump:");
    for (const auto& [session, paths] : parse_ephemerals(text))
      ephemerals_[session].insert(paths.begin(), paths.end());
  } else if (word == "wchc") {
    for (auto& [session, paths] : parse_wchc(text)) {
      std::ranges::sort(paths);
      watches_.push_back({.session = session, .server = server, .paths = std::move(paths)});
    }
  }
}

std::optional<bool> ToldSessions::alive(std::int64_t session) const {
  if (connections_.contains(session) || alive_.contains(session)) return true;
  if (!sessions_told_) return std::nullopt;
  return false;
}

std::string ToldSessions::address_of(std::int64_t session) const {
  const auto found = connections_.find(session);
  return found == connections_.end() ? "-" : found->second.address;
}

}  // namespace zksh
