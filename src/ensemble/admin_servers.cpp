// AdminServers: where they are, and asking them by HTTP.
#include "ensemble/admin_servers.h"

#include "base/error.h"
#include "client/http_answer.h"
#include "ensemble/admin_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <utility>

namespace zksh {
namespace {

/// One command that an AdminServer is asked, as part of a word.
struct AdminQuestion {
  std::size_t word;  ///< the number of the question that it answers
  ServerAddress server;
  HttpAnswer answer{};
};

std::optional<int> port_in(std::string_view text) {
  int port = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, port);
  if (problem != std::errc() || stop != end) return std::nullopt;
  if (port < 1 || port > 65535) throw ValueError(fmt::format("admin-server: {} is no port", text));
  return port;
}

bool is_for_admin_server(const ServerAnswer& answer) {
  return answer.turned_away || is_refusal(answer.text);
}

/// The bodies of the answers to the commands of one word, which begin with `next`; what is wrong
/// with one of them is its problem.
ServerAnswer put_together(const std::string& word, std::vector<AdminQuestion>& asked,
                          std::vector<ServerAnswer>& answers, std::size_t& next) {
  std::vector<std::string> bodies;
  std::string problem;
  for (const auto number = asked[next].word; next < asked.size() && asked[next].word == number;
       ++next) {
    auto& [text, flaw, turned_away, admin_problem] = answers[next];
    if (flaw.empty()) bodies.push_back(asked[next].answer.body(text, flaw));
    if (problem.empty()) problem = flaw;
    text = {};
  }
  if (!problem.empty()) return {.problem = problem};
  return admin_answer(word, bodies);
}

}  // namespace

AdminServers::AdminServers(std::string_view text, const std::string& connect_string) {
  if (text.empty()) return;
  guessed_ = false;
  if (text == "off") {
    port_.reset();
    return;
  }
  port_ = port_in(text.starts_with(':') ? text.substr(1) : text);
  if (port_) return;
  // In a connect string ports may be left out; AdminServers in a list have no usual one.
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto part = text.substr(begin, text.find(',', begin) - begin);
    if (part.find(':') == std::string_view::npos || part.ends_with(']'))
      throw ValueError(fmt::format("admin-server: \"{}\" is neither a port nor HOST:PORT", part));
    begin += part.size() + 1;
  }
  const auto given = parse_connect_string(text);
  const auto servers = parse_connect_string(connect_string).servers;
  if (!given.chroot.empty())
    throw ValueError(fmt::format("admin-server: \"{}\" is no HOST:PORT", text));
  if (given.servers.size() != servers.size())
    throw ValueError(fmt::format(
        "admin-server: {} AdminServer{} for {} server{}; name one for each, or a port alone",
        given.servers.size(), given.servers.size() == 1 ? "" : "s", servers.size(),
        servers.size() == 1 ? "" : "s"));
  for (std::size_t i = 0; i < servers.size(); ++i) named_[servers[i].text()] = given.servers[i];
}

std::optional<ServerAddress> AdminServers::of(const ServerAddress& server) const {
  if (const auto found = named_.find(server.text()); found != named_.end()) return found->second;
  if (!port_) return std::nullopt;
  return ServerAddress{.host = server.host, .port = *port_};
}

std::vector<ServerAnswer> ask_words(const std::vector<ServerQuestion>& questions,
                                    const AdminServers& admin_servers, const AskLimits& limits) {
  const auto time = limits.deadline - Clock::now();
  auto answers = inquire(questions, limits);
  std::vector<AdminQuestion> asked;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!is_for_admin_server(answers[i])) continue;
    const auto server = admin_servers.of(questions[i].server);
    if (!server) continue;
    for (const auto& command : admin_commands(questions[i].word)) {
      asked.push_back({.word = i, .server = *server});
      paths.push_back("/commands/" + command);
    }
  }
  std::vector<ServerQuestion> requests;
  requests.reserve(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i)
    requests.push_back(
        {asked[i].server, http_get(asked[i].server.text(), paths[i]),
         [&answer = asked[i].answer](std::string_view so_far) { return answer.whole(so_far); }});
  const auto now = Clock::now();
  auto admin_limits = limits;
  admin_limits.deadline = now + time;
  if (admin_servers.guessed()) admin_limits.connect_by = now + std::chrono::seconds(1);
  auto told = inquire(requests, admin_limits);
  for (std::size_t next = 0; next < asked.size();) {
    const auto number = asked[next].word;
    const auto server = asked[next].server.text();
    auto answer = put_together(questions[number].word, asked, told, next);
    if (answer.problem.empty())
      answers[number] = std::move(answer);
    else
      answers[number].admin_problem = fmt::format("{}: {}", server, answer.problem);
  }
  return answers;
}

std::string admin_note(const ServerAnswer& answer) {
  if (answer.admin_problem.empty()) return {};
  return fmt::format(
      "; its AdminServer does not tell, either ({}; --admin-server says where it is)",
      answer.admin_problem);
}

}  // namespace zksh
