// AdminServer: asks servers' AdminServers, and gives their answers the form of four-letter words.
#include "ensemble/admin_server.h"

#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace zksh {
namespace {

using Place = std::vector<std::string>;

/// Converts a decimal session id or zxid, as in JSON, to hexadecimal, as in words.
std::optional<std::string> hexadecimal(const std::string& text) {
  const auto value = number_in<std::int64_t>(text);
  if (!value) return std::nullopt;
  return fmt::format("{:x}", static_cast<std::uint64_t>(*value));
}

using Fields = std::map<std::string, std::string>;

std::string value_in(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

/// A line as written by ServerCnxn.dumpConnectionInfo; empty without fields.
std::string connection_text(const Fields& connection) {
  if (connection.empty()) return "";
  const auto get = [&](const char* name) { return value_in(connection, name); };
  const auto hex = [&](const char* name) { return hexadecimal(get(name)).value_or("0"); };
  auto text = fmt::format(" /{}[{}](queued={},recved={},sent={}", get("remote_socket_address"),
                          hex("interest_ops"), get("outstanding_requests"), get("packets_received"),
                          get("packets_sent"));
  if (const auto session = hex("session_id"); session != "0") {
    text += fmt::format(",sid=0x{},lop={},est={},to={}", session, get("last_operation"),
                        get("established"), get("session_timeout"));
    if (!get("last_cxid").starts_with('-')) text += fmt::format(",lcxid=0x{}", hex("last_cxid"));
    text += fmt::format(",lzxid=0x{},lresp={},llat={},minlat={},avglat={},maxlat={}",
                        hex("last_zxid"), get("last_response_time"), get("last_latency"),
                        get("min_latency"), get("avg_latency"), get("max_latency"));
  }
  return text + ")\n";
}

/// Lines that stand below the same key.
struct Group {
  std::string key;
  std::string lines{};
  std::size_t count = 0;  ///< of lines
};
using Groups = std::vector<Group>;

// Objects whose fields are lists:
constexpr std::string_view sessions_by_expiry = "expiry_time_to_session_ids";
constexpr std::string_view sessions_by_path = "path_to_session_ids";
constexpr std::string_view ephemerals_by_session = "session_id_to_ephemeral_paths";
constexpr std::string_view watches_by_session = "session_id_to_watched_paths";

/// The values of an answer. What may come by the million is kept only as the text that the word's
/// answer needs.
class AdminValues {
 public:
  void add(const Place& place, const std::string& value) {
    if (place.size() == 1) top_.emplace_back(place.front(), value);
    if (place.size() == 3 && take_listed(place[0], place[1], place[2], value)) return;
    constexpr std::size_t most = 10000;  // more than any server has
    if (fields_.size() < most)
      fields_.insert_or_assign(fmt::format("{}", fmt::join(place, ".")), value);
  }

  /// The value at a place such as "server_stats.zxid"; empty if there is none.
  std::string operator[](const std::string& place) const { return value_in(fields_, place); }
  bool has(const std::string& place) const { return fields_.contains(place); }
  const Fields& fields() const { return fields_; }
  /// The values outside of objects and lists, in the server's order.
  const std::vector<std::pair<std::string, std::string>>& top() const { return top_; }
  /// The lines of all connections.
  std::string connections() const { return connections_ + connection_text(connection_); }
  /// The lines of one of the objects named above. Sessions are hexadecimal.
  const Groups& groups(std::string_view object) const {
    static const Groups none;
    const auto found = groups_.find(object);
    return found == groups_.end() ? none : found->second;
  }

 private:
  bool take_listed(const std::string& object, const std::string& key, const std::string& name,
                   const std::string& value) {
    if (object == "connections" || object == "secure_connections") {
      if (std::exchange(connection_place_, object + key) != object + key)
        connections_ += connection_text(std::exchange(connection_, {}));
      connection_.insert_or_assign(name, value);
      return true;
    }
    const bool lists_sessions = object == sessions_by_expiry || object == sessions_by_path;
    if (!lists_sessions && object != ephemerals_by_session && object != watches_by_session)
      return false;
    const auto session = hexadecimal(lists_sessions ? value : key);
    if (!session) return true;
    if (lists_sessions)
      add_line(groups_[object], key, fmt::format("\t0x{}\n", *session));
    else
      add_line(groups_[object], "0x" + *session, fmt::format("\t{}\n", value));
    return true;
  }

  static void add_line(Groups& groups, const std::string& key, const std::string& line) {
    if (groups.empty() || groups.back().key != key) groups.push_back({.key = key});
    groups.back().lines += line;
    ++groups.back().count;
  }

  Fields fields_;  ///< by place
  std::vector<std::pair<std::string, std::string>> top_;
  std::string connections_;
  std::string connection_place_;
  Fields connection_;  ///< the last one
  std::map<std::string, Groups, std::less<>> groups_;
};

std::string lines_text(const AdminValues& values, std::string_view before_key,
                       std::string_view after_key) {
  std::string text;
  for (const auto& [key, value] : values.top())
    text += fmt::format("{}{}{}{}\n", before_key, key, after_key, value);
  return text;
}

/// Answers srvr, and with connections stat: StatCommand.java, ServerStats.toString.
std::string stats_text(const AdminValues& values, const std::string& clients) {
  const auto stat = [&](const char* name) { return values[std::string("server_stats.") + name]; };
  auto text = fmt::format("Zookeeper version: {}\n", values["version"]);
  if (values["read_only"] == "true") text += "READ-ONLY mode; serving only read-only clients\n";
  text += clients;
  text += fmt::format("Latency min/avg/max: {}/{}/{}\n", stat("min_latency"), stat("avg_latency"),
                      stat("max_latency"));
  text += fmt::format("Received: {}\nSent: {}\nConnections: {}\n", stat("packets_received"),
                      stat("packets_sent"), stat("num_alive_client_connections"));
  if (stat("provider_null") != "true")
    text += fmt::format("Outstanding: {}\nZxid: 0x{}\n", stat("outstanding_requests"),
                        hexadecimal(stat("last_processed_zxid")).value_or(""));
  text += fmt::format("Mode: {}\nNode count: {}\n", stat("server_state"), values["node_count"]);
  if (values.has("proposal_stats.last_buffer_size"))
    text += fmt::format(
        "Proposal sizes last/min/max: {}/{}/{}\n", values["proposal_stats.last_buffer_size"],
        values["proposal_stats.min_buffer_size"], values["proposal_stats.max_buffer_size"]);
  return text;
}

/// DumpCommand.java. A follower's AdminServer does not know the sessions; its answer then does not
/// begin like one that lists them.
std::string dump_text(const AdminValues& values) {
  const auto& sessions = values.groups(sessions_by_expiry);
  const auto& ephemerals = values.groups(ephemerals_by_session);
  std::size_t count = 0;
  for (const auto& group : sessions) count += group.count;
  std::string text;
  if (count > 0)
    text = fmt::format("SessionTracker dump:\nSession Sets ({})/({}):\n", sessions.size(), count);
  for (const auto& group : sessions)
    text += fmt::format("{} expire at {} ms of the server's own clock:\n{}", group.count, group.key,
                        group.lines);
  text += fmt::format("ephemeral nodes dump:\nSessions with Ephemerals ({}):\n", ephemerals.size());
  for (const auto& group : ephemerals) text += fmt::format("{}:\n{}", group.key, group.lines);
  return text;
}

/// DataTree.dumpWatches, by session or by path.
std::string watches_text(const AdminValues& values, std::string_view object) {
  std::string text;
  for (const auto& group : values.groups(object))
    text += fmt::format("{}\n{}", group.key, group.lines);
  return text + '\n';
}

/// Converts client_port to clientPort, the form in configurations.
std::string camel_case(std::string name) {
  for (auto at = name.find('_'); at < name.size() - 1; at = name.find('_', at + 1)) {
    name.erase(at, 1);
    name[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[at])));
  }
  return name;
}

/// A line "server.1=host:2888:3888:participant;0.0.0.0:2181" for each member in voting_view.
std::string membership(const AdminValues& values) {
  std::string text;
  for (const auto& [name, type] : values.fields()) {
    constexpr std::string_view view = "current_config.";
    constexpr std::string_view learner_type = ".learner_type";
    if (!name.starts_with(view) || !name.ends_with(learner_type)) continue;
    const auto member = name.substr(0, name.size() - learner_type.size());
    std::string addresses;
    for (int i = 0; values.has(fmt::format("{}.server_addresses.{}", member, i)); ++i) {
      const auto election = values[fmt::format("{}.election_addresses.{}", member, i)];
      addresses += fmt::format("{}{}:{}", i == 0 ? "" : "|",
                               values[fmt::format("{}.server_addresses.{}", member, i)],
                               election.substr(election.rfind(':') + 1));
    }
    const auto client = values[member + ".client_address"];
    text += fmt::format("server.{}={}:{}{}{}\n", member.substr(view.size()), addresses, type,
                        client.empty() ? "" : ";", client);
  }
  return text;
}

std::string conf_text(const AdminValues& values) {
  std::string text;
  for (const auto& [name, value] : values.fields())
    if (name.find('.') == std::string::npos) text += camel_case(name) + '=' + value + '\n';
  const auto members = membership(values);
  return members.empty() ? text : text + "membership: \n" + members;
}

std::string digests_text(const AdminValues& values) {
  std::string text;
  for (int i = 0; values.has(fmt::format("digests.{}.zxid", i)); ++i)
    text +=
        fmt::format("{}: {}\n", hexadecimal(values[fmt::format("digests.{}.zxid", i)]).value_or(""),
                    values[fmt::format("digests.{}.digest", i)]);
  return text;
}

constexpr std::array<FourLetterWord, 21> all_words{{
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

/// The answer to a word, of which there is none but those above.
std::string text_of(std::string_view word, const AdminValues& values) {
  if (word == "conf") return conf_text(values);
  if (word == "cons") return values.connections() + '\n';
  if (word == "crst") return "Connection stats reset.\n";
  if (word == "dirs") return lines_text(values, "", ": ");
  if (word == "dump") return dump_text(values);
  if (word == "envi") return "Environment:\n" + lines_text(values, "", "=");
  if (word == "gtmk") return values["tracemask"];
  if (word == "hash") return digests_text(values);
  if (word == "icfg") return values["initial_configuration"];
  if (word == "isro") return values["read_only"] == "true" ? "ro" : "rw";
  if (word == "last_snapshot" || word == "leader") return lines_text(values, "", "=");
  if (word == "mntr") return lines_text(values, "zk_", "\t");
  if (word == "ruok") return "imok";
  if (word == "srst") return "Server stats reset.\n";
  if (word == "srvr") return stats_text(values, "");
  if (word == "stat") return stats_text(values, "Clients:\n" + values.connections() + '\n');
  if (word == "voting_view") return membership(values);
  if (word == "wchc") return watches_text(values, watches_by_session);
  if (word == "wchp") return watches_text(values, sessions_by_path);
  return fmt::format("{} connections watching {} paths\nTotal watches:{}\n",  // wchs
                     values["num_connections"], values["num_paths"], values["num_total_watches"]);
}

}  // namespace

std::span<const FourLetterWord> four_letter_words() { return all_words; }

const FourLetterWord* find_word(std::string_view name) {
  const auto* const found = std::ranges::find(all_words, name, &FourLetterWord::word);
  return found == all_words.end() ? nullptr : found;
}

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
  const auto port_text = text.starts_with(':') ? text.substr(1) : text;
  port_ = number_in<int>(port_text);
  if (port_ && (*port_ < 1 || *port_ > 65535))
    throw ValueError(fmt::format("admin-server: {} is not a port", port_text));
  if (port_) return;
  // Unlike in a connect string, each AdminServer in a list needs a port.
  for (const auto part : split(text, ','))
    if (part.find(':') == std::string_view::npos || part.ends_with(']'))
      throw ValueError(fmt::format("admin-server: \"{}\" is neither a port nor HOST:PORT", part));
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
    // With HTTP/1.0, the answer ends with the connection, and is not chunked (RFC 1945).
    auto get = fmt::format(
        "GET /commands/{} HTTP/1.0\r\nHost: {}\r\nUser-Agent: zksh\r\nAccept: "
        "application/json\r\n\r\n",
        requests[i].command, server->text());
    questions.push_back({.server = *server, .word = std::move(get), .tls = admin_servers.tls()});
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

std::vector<std::string> admin_commands(std::string_view word) {
  if (!find_word(word)) return {};
  // Another command lists the members of the ensemble.
  if (word == "conf") return {"conf", "voting_view"};
  return {std::string(word)};
}

ServerAnswer admin_answer(std::string_view word, std::span<const std::string> bodies) {
  AdminValues values;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    bool has_command = false;
    std::optional<std::string> error;
    const auto take = [&](const Place& place, const std::optional<std::string>& value) {
      if (place == Place{"command"})
        has_command = true;
      else if (place == Place{"error"})
        error = value;
      else if (value)
        values.add(place, *value);
    };
    if (!read_json_values(bodies[i], take) || !has_command)
      return {.problem = "its answer is not that of an AdminServer"};
    if (!error) continue;
    if (is_not_serving(*error + '\n')) return {.text = *error + '\n'};
    // Older servers lack the further commands.
    constexpr std::size_t most = 200;
    if (i == 0) return {.problem = "it says: " + escape_for_terminal(error->substr(0, most))};
  }
  return {.text = text_of(word, values)};
}

std::vector<ServerAnswer> ask_words(const std::vector<ServerQuestion>& questions,
                                    const AdminServers& admin_servers, const AskLimits& limits) {
  const auto time = limits.deadline - Clock::now();
  std::vector<ServerQuestion> short_ones;
  for (const auto& question : questions)
    if (question.word.size() == 4) short_ones.push_back(question);
  auto short_answers = inquire(short_ones, limits);
  std::vector<ServerAnswer> answers(questions.size());
  std::vector<AdminRequest> requests;
  std::vector<std::size_t> asked;  // the question of each
  for (std::size_t i = 0, next = 0; i < questions.size(); ++i) {
    const bool is_short = questions[i].word.size() == 4;
    answers[i] =
        is_short ? std::move(short_answers[next++])
                 : ServerAnswer{.problem = "only AdminServers know this word", .turned_away = true};
    if (!answers[i].turned_away && !is_refusal(answers[i].text)) continue;
    if (!admin_servers.of(questions[i].server)) continue;
    for (const auto& command : admin_commands(questions[i].word)) {
      asked.push_back(i);
      requests.push_back({.server = questions[i].server, .command = command});
    }
  }
  auto admin_limits = limits;
  admin_limits.deadline = Clock::now() + time;
  auto replies = ask_admin_servers(requests, admin_servers, admin_limits);
  for (std::size_t begin = 0, end = 0; begin < replies.size(); begin = end) {
    std::vector<std::string> bodies;  // of one word; they may be large, and are needed only here
    std::string problem;
    const auto& reply = replies[begin];
    for (; end < replies.size() && asked[end] == asked[begin]; ++end) {
      bodies.push_back(std::exchange(replies[end].body, {}));
      if (problem.empty()) problem = replies[end].problem;
    }
    const auto& question = questions[asked[begin]];
    auto answer = problem.empty() ? admin_answer(question.word, bodies) : ServerAnswer{};
    if (problem.empty() && answer.problem.empty())
      answers[asked[begin]] = std::move(answer);
    else
      answers[asked[begin]].admin_problem =
          problem.empty() ? fmt::format("{}: {}", reply.server, answer.problem) : problem;
  }
  return answers;
}

std::string admin_note(const ServerAnswer& answer) {
  if (answer.admin_problem.empty()) return {};
  return fmt::format(
      "; its AdminServer does not answer either ({}; --admin-server sets its address)",
      answer.admin_problem);
}

}  // namespace zksh
