// ServerWords: asking, and reading the answers.
// The formats: ServerCnxn.dumpConnectionInfo, SessionTrackerImpl and LearnerSessionTracker
// .dumpSessions, WatchManager.dumpWatches of ZooKeeper 3.4 to 3.9.
#include "ensemble/server_words.h"

#include "client/four_letter_word.h"
#include "ensemble/answer_lines.h"
#include "ensemble/told_sessions.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 300ms;
constexpr auto pause_after_silence = 5s;

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

std::map<std::int64_t, std::string> parse_cons(std::string_view answer) {
  std::map<std::int64_t, std::string> addresses;
  for (auto& connection : parse_connections(answer))
    addresses[connection.session] = std::move(connection.address);
  return addresses;
}

std::set<std::int64_t> parse_dump(std::string_view answer) {
  std::set<std::int64_t> sessions;
  // What follows names the owners of ephemerals, alive or not.
  for_each_line(answer.substr(0, answer.find("ephemeral nodes dump:")), [&](std::string_view line) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return;
    if (const auto session = session_at(line.substr(start))) sessions.insert(*session);
  });
  return sessions;
}

std::map<std::string, std::set<std::int64_t>> parse_wchp(std::string_view answer) {
  std::map<std::string, std::set<std::int64_t>> watchers;
  std::string path;
  for_each_line(answer, [&](std::string_view line) {
    if (line.starts_with('/')) {
      path = line;
    } else if (line.starts_with('\t') && !path.empty()) {
      if (const auto session = session_at(line.substr(1))) watchers[path].insert(*session);
    }
  });
  return watchers;
}

ServerWords::ServerWords(const std::string& server, std::string_view admin_servers)
    : admin_servers_(admin_servers, server) {
  auto parsed = parse_connect_string(server);
  chroot_ = std::move(parsed.chroot);
  std::set<std::string> seen;
  servers_.reserve(parsed.servers.size());
  for (auto& address : parsed.servers)
    if (seen.insert(address.text()).second) servers_.push_back({.address = std::move(address)});
}

ServersAccount ServerWords::ask(const ServerWishes& wishes) {
  std::vector<std::string> words;
  if (wishes.sessions) words = {"cons", "dump"};
  if (wishes.watches) words.emplace_back("wchs");
  if (wishes.watchers) words.emplace_back("wchp");
  if (wishes.events) words.emplace_back("mntr");
  const auto now = Clock::now();
  std::vector<ServerQuestion> questions;
  std::vector<Server*> asked;
  ServersAccount account;
  for (auto& server : servers_) {
    for (const auto& word : words) {
      if (server.silent_until > now || server.refused.contains(word)) {
        tell_not_told(server, word, account);
        continue;
      }
      questions.push_back({server.address, word});
      asked.push_back(&server);
    }
  }
  const auto answers = ask_words(questions, admin_servers_, {.deadline = now + patience});
  told_addresses_ = 0;
  for (std::size_t i = 0; i < answers.size(); ++i)
    take(*asked[i], questions[i].word, answers[i], account);
  account.all_addresses = wishes.sessions && told_addresses_ == servers_.size();
  if (!account.no_watchers.empty()) account.watchers.reset();
  if (wishes.events && events_told_) account.events = events_;
  return account;
}

void ServerWords::take(Server& server, const std::string& word, const ServerAnswer& told,
                       ServersAccount& account) {
  const auto& answer = told.text;
  if (answer.empty() || answer.starts_with("This ZooKeeper instance is not")) {
    server.silent_until = Clock::now() + pause_after_silence;
    tell_not_told(server, word, account);
  } else if (is_refusal(answer)) {
    server.refused[word] = fmt::format("does not allow the word {}{}", word, admin_note(told));
    tell_not_told(server, word, account);
  } else if (word == "cons") {
    account.addresses.merge(parse_cons(answer));
    ++told_addresses_;
  } else if (word == "dump") {
    auto sessions = parse_dump(answer);
    if (sessions.empty()) return;
    if (!account.sessions) account.sessions.emplace();
    account.sessions->merge(sessions);
  } else if (word == "wchs") {
    constexpr std::string_view key = "Total watches:";
    const auto place = answer.find(key);
    if (place == std::string::npos) return;
    account.watches =
        account.watches.value_or(0) + number_at(answer.substr(place + key.size())).value_or(0);
    ++account.servers;
  } else if (word == "wchp") {
    if (!account.watchers) account.watchers.emplace();
    for (auto& [path, sessions] : parse_wchp(answer)) (*account.watchers)[path].merge(sessions);
  } else if (word == "mntr") {
    count_events(server, answer);
  }
}

void ServerWords::tell_not_told(const Server& server, const std::string& word,
                                ServersAccount& account) {
  if (word != "wchp") return;
  const auto refused = server.refused.find(word);
  account.no_watchers =
      fmt::format("{} {}", server.address.text(),
                  refused == server.refused.end() ? "does not answer" : refused->second);
}

void ServerWords::count_events(Server& server, std::string_view answer) {
  const auto deleted = number_at(answer_field(answer, "zk_sum_node_deleted_watch_count"));
  const auto children = number_at(answer_field(answer, "zk_sum_node_children_watch_count"));
  if (!deleted || !children) return;  // before 3.6
  events_told_ = true;
  if (server.events) {
    // A server that was started again counts from 0.
    const auto since = [](std::int64_t now, std::int64_t before) {
      return now < before ? now : now - before;
    };
    events_.deleted += since(*deleted, server.events->deleted);
    events_.children += since(*children, server.events->children);
  }
  server.events = {.deleted = *deleted, .children = *children};
}

}  // namespace zksh
