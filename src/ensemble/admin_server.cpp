// AdminServer: asks ZooKeeper's HTTP servers, with GET, for JSON.
#include "ensemble/admin_server.h"

#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <utility>

namespace zksh {
namespace {

/// With HTTP/1.0, the answer ends with the connection, and comes as it is (RFC 1945).
std::string http_get(std::string_view host, std::string_view command) {
  return fmt::format(
      "GET /commands/{} HTTP/1.0\r\nHost: {}\r\nUser-Agent: zksh\r\nAccept: "
      "application/json\r\n\r\n",
      command, host);
}

std::optional<int> admin_port(std::string_view text) {
  const auto port = number_in<int>(text);
  if (port && (*port < 1 || *port > 65535))
    throw ValueError(fmt::format("admin-server: {} is not a port", text));
  return port;
}

}  // namespace

std::string http_body(std::string answer, std::string& flaw) {
  const auto status = std::string_view(answer).substr(0, answer.find("\r\n")).substr(0, 12);
  const auto head = answer.find("\r\n\r\n");
  const bool is_http = status.size() == 12 && status.starts_with("HTTP/1.") && status[8] == ' ';
  if (!is_http || head == std::string::npos)
    flaw = "it does not speak plain HTTP";
  else if (status[9] == '3')
    flaw = fmt::format("it answers with HTTP {}, a redirect, which zksh does not follow",
                       escape_for_terminal(status.substr(9)));
  else if (status.substr(9) != "200")
    flaw = fmt::format("it answers with HTTP {}", escape_for_terminal(status.substr(9)));
  if (!flaw.empty()) return {};
  answer.erase(0, head + 4);
  return answer;
}

AdminServers::AdminServers(std::string_view text, const std::string& connect_string) {
  constexpr std::string_view without_tls = "http://";
  constexpr std::string_view with_tls = "https://";
  plain_ = text.starts_with(without_tls);
  if (plain_) text.remove_prefix(without_tls.size());
  if (text.starts_with(with_tls)) {
    if (!tls()) throw ValueError("admin-server: https:// needs TLS for the servers, too (--tls)");
    text.remove_prefix(with_tls.size());
  }
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.empty()) return;
  guessed_ = false;
  if (text == "off") {
    port_.reset();
    return;
  }
  port_ = admin_port(text.starts_with(':') ? text.substr(1) : text);
  if (port_) return;
  // Unlike in a connect string, each AdminServer in a list needs a port.
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto part = text.substr(begin, text.find(',', begin) - begin);
    if (part.find(':') == std::string_view::npos || part.ends_with(']'))
      throw ValueError(fmt::format("admin-server: \"{}\" is neither a port nor HOST:PORT", part));
    begin += part.size() + 1;
  }
  const auto given = parse_connect_string(text);
  const auto servers = parse_connect_string(connect_string).servers;
  if (!given.chroot.empty())
    throw ValueError(fmt::format("admin-server: \"{}\" is not HOST:PORT", text));
  if (given.servers.size() != servers.size())
    throw ValueError(fmt::format("admin-server: {} for {}; give one for each, or only a port",
                                 counted(given.servers.size(), "AdminServer"),
                                 counted(servers.size(), "server")));
  for (std::size_t i = 0; i < servers.size(); ++i) named_[servers[i].text()] = given.servers[i];
}

std::optional<ServerAddress> AdminServers::of(const ServerAddress& server) const {
  if (const auto found = named_.find(server.text()); found != named_.end()) return found->second;
  if (!port_) return std::nullopt;
  return ServerAddress{.host = server.host, .port = *port_};
}

std::vector<AdminReply> ask_admin_servers(const std::vector<AdminRequest>& requests,
                                          const AdminServers& admin_servers, AskLimits limits) {
  std::vector<AdminReply> replies(requests.size());
  std::vector<ServerQuestion> questions;
  std::vector<std::size_t> asked;  // the request of each
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto server = admin_servers.of(requests[i].server);
    if (!server) {
      replies[i].problem = "--admin-server names no AdminServer of " + requests[i].server.text();
      continue;
    }
    asked.push_back(i);
    questions.push_back({.server = *server,
                         .word = http_get(server->text(), requests[i].command),
                         .tls = admin_servers.tls()});
  }
  if (admin_servers.guessed()) limits.connect_by = Clock::now() + std::chrono::seconds(1);
  auto answers = inquire(questions, limits);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& reply = replies[asked[i]];
    reply.server = questions[i].server.text();
    auto flaw = answers[i].problem;
    if (flaw.empty()) reply.body = http_body(std::exchange(answers[i].text, {}), flaw);
    if (flaw == no_tls_here)
      flaw += fmt::format("; --admin-server http://{} asks it without TLS", reply.server);
    if (!flaw.empty()) reply.problem = fmt::format("{}: {}", reply.server, flaw);
  }
  return replies;
}

std::map<std::string, std::string> admin_fields(std::string_view body) {
  std::map<std::string, std::string> fields;
  const auto take = [&](const std::vector<std::string>& place,
                        const std::optional<std::string>& value) {
    if (place.size() == 1 && value) fields.insert_or_assign(place.front(), *value);
  };
  if (!read_json_values(body, take) || !fields.contains("command") || fields.contains("error"))
    return {};
  return fields;
}

}  // namespace zksh
