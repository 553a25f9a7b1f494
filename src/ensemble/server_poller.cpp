// ServerPoller: asks servers about sessions, watches and watch events, once or repeatedly.
#include "ensemble/server_poller.h"

#include "base/mapped.h"
#include "base/number.h"
#include "base/text.h"
#include "base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// The session id "0x100…" at the beginning of a text; nullopt if there is none.
std::optional<std::int64_t> session_at(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  return id_in(text.substr(0, text.find_first_not_of("0123456789abcdefABCDEF")));
}

/// The value of "key=value" in "(queued=0,recved=7,…)"; empty if there is none.
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

using namespace std::chrono_literals;

/// Besides the round trips: for the connection, TLS and the answer of a server that collects
/// garbage or shares its machine.
constexpr auto patience = 1s;
constexpr int round_trips = 4;
constexpr auto pause_after_silence = 5s;

}  // namespace

std::vector<Connection> parse_connections(std::string_view answer) {
  std::vector<Connection> all;
  for (const auto line : lines_of(answer)) {
    // " /10.0.0.7:51234[1](queued=0,…,sid=0x1000…,…)"; no sid: not a client
    const auto slash = line.find('/');
    const auto end = line.rfind('[', line.find("](queued="));
    const auto session = session_at(field(line, "sid"));
    if (slash == std::string_view::npos || end == std::string_view::npos || end < slash || !session)
      continue;
    all.push_back({.session = *session,
                   .address = std::string(line.substr(slash + 1, end - slash - 1)),
                   .timeout = number_in<std::int64_t>(field(line, "to")),
                   .since = number_in<std::int64_t>(field(line, "est")),
                   .last_request = std::string(field(line, "lop")),
                   .received = number_in<std::int64_t>(field(line, "recved"))});
  }
  return all;
}

SessionPaths parse_ephemerals(std::string_view answer) {
  const auto begin = answer.find("ephemeral nodes dump:");
  if (begin == std::string_view::npos) return {};
  answer.remove_prefix(begin);
  // Its lines have the form of wchc's, with a colon after each session.
  return parse_wchc(answer.substr(0, answer.find("\nConnections dump:")));
}

SessionPaths parse_wchc(std::string_view answer) {
  SessionPaths all;
  std::vector<std::string_view>* paths = nullptr;
  for (const auto line : lines_of(answer)) {
    if (line.starts_with("\t/") && paths != nullptr) {
      paths->push_back(line.substr(1));
    } else if (const auto session = session_at(line)) {
      paths = &all[*session];
    } else {
      paths = nullptr;
    }
  }
  return all;
}

SessionSurvey::SessionSurvey(const ServersToAsk& asked, std::vector<std::string> words,
                             std::chrono::milliseconds time, const std::stop_token& stop)
    : answers_(ask_members(asked, words, time, stop)) {
  for (const auto& member : answers_.members) {
    if (member.answers.empty()) {
      failures_.push_back(member.name() + ": its client address is not known");
      continue;
    }
    std::set<std::string> problems;
    std::vector<std::string> refused;
    const ServerAnswer* last_refusal = nullptr;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto& answer = member.answers[i];
      any_answered_ = any_answered_ || answer.problem.empty();
      if (is_refusal(answer.text)) {
        refused.push_back(words[i]);
        last_refusal = &answer;
      } else if (const auto problem = no_answer(words[i], answer)) {
        if (problems.insert(*problem).second)
          failures_.push_back(fmt::format("{}: {}", member.name(), *problem));
      } else {
        answered_words_.insert(words[i]);
        add_answer(member.name(), words[i], answer.text);
      }
    }
    if (last_refusal != nullptr)
      failures_.push_back(fmt::format("{}: {}", member.name(), refusal(refused, *last_refusal)));
  }
}

void SessionSurvey::add_answer(const std::string& server, const std::string& word,
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
    sessions_known_ = sessions_known_ || text.starts_with("SessionTracker dump:");
    for (const auto& [session, paths] : parse_ephemerals(text))
      ephemerals_[session].insert(paths.begin(), paths.end());
  } else if (word == "wchc") {
    for (auto& [session, paths] : parse_wchc(text)) {
      std::ranges::sort(paths);
      watches_.push_back({.session = session, .server = server, .paths = std::move(paths)});
    }
  }
}

std::optional<bool> SessionSurvey::alive(std::int64_t session) const {
  if (connections_.contains(session) || alive_.contains(session)) return true;
  if (!sessions_known_) return std::nullopt;
  return false;
}

std::string SessionSurvey::address_of(std::int64_t session) const {
  const auto found = connections_.find(session);
  return found == connections_.end() ? "-" : found->second.address;
}

std::set<std::int64_t> parse_dump(std::string_view answer) {
  std::set<std::int64_t> sessions;
  // The rest lists the owners of ephemerals, live or not.
  for (const auto line : lines_of(answer.substr(0, answer.find("ephemeral nodes dump:")))) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) continue;
    if (const auto session = session_at(line.substr(start))) sessions.insert(*session);
  }
  return sessions;
}

std::map<std::int64_t, std::string> parse_expiries(std::string_view answer) {
  constexpr std::string_view key = " expire at ";
  constexpr std::size_t parts_of_date = 6;  // "Sat Nov 21 12:17:38 UTC 2026:"
  std::map<std::int64_t, std::string> expiries;
  std::string time;
  for (const auto line : lines_of(answer.substr(0, answer.find("ephemeral nodes dump:")))) {
    if (const auto at = line.find(key); at != std::string_view::npos) {
      const auto date = split(line.substr(at + key.size()), ' ');
      time = date.size() == parts_of_date ? fmt::format("{} {}", date[3], date[4]) : "";
    } else if (line.starts_with('\t') && !time.empty()) {
      if (const auto session = session_at(line.substr(1))) expiries[*session] = time;
    }
  }
  return expiries;
}

std::map<std::string, std::set<std::int64_t>> parse_wchp(std::string_view answer) {
  std::map<std::string, std::set<std::int64_t>> watchers;
  std::string path;
  for (const auto line : lines_of(answer)) {
    if (line.starts_with('/')) {
      path = line;
    } else if (line.starts_with('\t') && !path.empty()) {
      if (const auto session = session_at(line.substr(1))) watchers[path].insert(*session);
    }
  }
  return watchers;
}

ServerPoller::ServerPoller(const std::string& server, std::string_view admin_servers,
                           std::stop_token stop)
    : admin_servers_(admin_servers, server), stop_(std::move(stop)) {
  auto parsed = parse_connect_string(server);
  chroot_ = std::move(parsed.chroot);
  std::set<std::string> seen;
  servers_.reserve(parsed.servers.size());
  for (auto& address : parsed.servers)
    if (seen.insert(address.text()).second) servers_.push_back({.address = std::move(address)});
}

ServersAccount ServerPoller::ask(const ServerTopics& topics,
                                 std::optional<std::chrono::nanoseconds> round_trip) {
  patience_ = patience + round_trips * round_trip.value_or(0ns);
  std::vector<std::string> words;
  if (topics.sessions) words = {"cons", "dump"};
  if (topics.watches) words.emplace_back("wchs");
  if (topics.watchers) words.emplace_back("wchp");
  if (topics.events) words.emplace_back("mntr");
  ServersAccount account;
  servers_with_sessions_ = 0;
  ask_all(words, account);
  account.all_addresses = topics.sessions && servers_with_sessions_ == servers_.size();
  if (topics.events && events_known_) account.events = events_;
  return account;
}

void ServerPoller::add_watchers(ServersAccount& account, std::int64_t most) {
  if (account.servers == servers_.size() && account.watches <= most) ask_all({"wchp"}, account);
}

void ServerPoller::ask_all(const std::vector<std::string>& words, ServersAccount& account) {
  const auto now = Clock::now();
  std::vector<ServerQuestion> questions;
  std::vector<Server*> asked;
  for (auto& server : servers_) {
    for (const auto& word : words) {
      if (server.silent_until > now || server.refused.contains(word)) {
        note_missing(server, word, account);
        if (server.silent_until > now) account.silent.insert(server.address.text());
        continue;
      }
      questions.push_back({.server = server.address, .word = word});
      asked.push_back(&server);
    }
  }
  const auto answers =
      ask_words(questions, admin_servers_, {.deadline = now + patience_, .stop = stop_});
  for (std::size_t i = 0; i < answers.size(); ++i)
    read_answer(*asked[i], questions[i].word, answers[i], account);
  if (!account.no_watchers.empty()) account.watchers.reset();
}

void ServerPoller::read_answer(Server& server, const std::string& word, const ServerAnswer& reply,
                               ServersAccount& account) {
  const auto& answer = reply.text;
  if (answer.empty() || is_not_serving(answer)) {
    server.silent_until = Clock::now() + pause_after_silence;
    account.silent.insert(server.address.text());
    note_missing(server, word, account);
  } else if (is_refusal(answer)) {
    server.refused[word] = fmt::format("does not allow the word {}{}", word, admin_note(reply));
    note_missing(server, word, account);
  } else if (word == "cons") {
    for (auto& connection : parse_connections(answer))
      account.addresses.try_emplace(connection.session, std::move(connection.address));
    ++servers_with_sessions_;
  } else if (word == "dump") {
    auto sessions = parse_dump(answer);
    if (sessions.empty()) return;
    if (!account.sessions) account.sessions.emplace();
    account.sessions->merge(sessions);
    account.expiries.merge(parse_expiries(answer));
  } else if (word == "wchs") {
    constexpr std::string_view key = "Total watches:";
    const auto place = answer.find(key);
    if (place == std::string::npos) return;
    const auto count = number_in<std::int64_t>(trimmed(answer.substr(place + key.size())));
    account.watches = account.watches.value_or(0) + count.value_or(0);
    ++account.servers;
  } else if (word == "wchp") {
    if (!account.watchers) account.watchers.emplace();
    for (auto& [path, sessions] : parse_wchp(answer)) (*account.watchers)[path].merge(sessions);
  } else if (word == "mntr") {
    count_events(server, answer);
  }
}

void ServerPoller::note_missing(const Server& server, const std::string& word,
                                ServersAccount& account) {
  if (word != "wchp") return;
  const auto refused = server.refused.find(word);
  account.no_watchers =
      fmt::format("{} {}", server.address.text(),
                  refused == server.refused.end() ? "does not answer" : refused->second);
}

void ServerPoller::count_events(Server& server, std::string_view answer) {
  const auto deleted = number_field(answer, "zk_sum_node_deleted_watch_count");
  const auto children = number_field(answer, "zk_sum_node_children_watch_count");
  if (!deleted || !children) return;  // before 3.6
  events_known_ = true;
  if (server.events) {
    // A restarted server counts from 0.
    const auto since = [](std::int64_t now, std::int64_t before) {
      return now < before ? now : now - before;
    };
    events_.deleted += since(*deleted, server.events->deleted);
    events_.children += since(*children, server.events->children);
  }
  server.events = {.deleted = *deleted, .children = *children};
}

WatchCountsBetween between(const WatchCounts& before, const WatchCounts& after) {
  WatchCountsBetween counts{.fired = after.fired - before.fired,
                            .left = std::max<std::int64_t>(after.set - before.set, 0)};
  if (after.servers > 1) return counts;
  const auto changes = after.changes - before.changes;
  if (counts.fired == changes)
    counts.most = std::min<std::int64_t>(changes, 1);
  else if (after.most > before.most)
    counts.most = after.most;
  return counts;
}

std::optional<WatchCounts> parse_watch_counts(const std::string& mntr) {
  WatchCounts counts;
  for (const auto* what : {"created", "deleted", "changed", "children"}) {
    const auto fired = number_field(mntr, fmt::format("zk_sum_node_{}_watch_count", what));
    const auto changes = number_field(mntr, fmt::format("zk_cnt_node_{}_watch_count", what));
    const auto most = number_field(mntr, fmt::format("zk_max_node_{}_watch_count", what));
    if (!fired || !changes || !most) return std::nullopt;
    counts.fired += *fired;
    counts.changes += *changes;
    counts.most = std::max(counts.most, *most);
  }
  const auto set = number_field(mntr, "zk_watch_count");
  if (!set) return std::nullopt;
  counts.set = *set;
  return counts;
}

std::optional<WatchCounts> ask_watch_counts(const std::string& connect_string,
                                            const AdminServers& admin_servers,
                                            Clock::time_point deadline, std::string& why) {
  const auto servers = parse_connect_string(connect_string).servers;
  const auto questions = mapped(servers, [](const ServerAddress& server) {
    return ServerQuestion{.server = server, .word = "mntr"};
  });
  const auto answers = ask_words(questions, admin_servers, {.deadline = deadline});
  WatchCounts all{.servers = servers.size()};
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const auto counts = parse_watch_counts(answers[i].text);
    if (!counts) {
      const auto* const reason = answers[i].text.empty()       ? "does not answer mntr"
                                 : is_refusal(answers[i].text) ? "does not allow mntr"
                                                               : "does not count watch events";
      why = fmt::format("{} {}{}", servers[i].text(), reason, admin_note(answers[i]));
      return std::nullopt;
    }
    all.fired += counts->fired;
    all.changes += counts->changes;
    all.most = std::max(all.most, counts->most);
    all.set += counts->set;
  }
  return all;
}

}  // namespace zksh
