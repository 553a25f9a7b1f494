// AdminServer: gets the answers to four-letter words from ZooKeeper's HTTP server.
#include "ensemble/admin_server.h"

#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "client/http_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  virtual ~Writer() = default;
  virtual void take(const Place& place, const std::string& value) = 0;
  virtual std::string text() = 0;
};

/// Headings with lines below; the lines of a heading come together.
class Groups {
 public:
  using Heading = std::function<std::string(const std::string& key, std::size_t lines)>;
  explicit Groups(Heading heading) : heading_(std::move(heading)) {}

  void add(const std::string& key, const std::string& line) {
    if (key != key_) close();
    key_ = key;
    lines_ += line;
    ++count_;
  }
  std::string text() {
    close();
    return std::move(text_);
  }
  std::size_t size() const { return groups_; }
  std::size_t all_lines() const { return all_lines_; }

 private:
  void close() {
    if (count_ == 0) return;
    text_ += heading_(key_, count_) + lines_;
    all_lines_ += count_;
    ++groups_;
    lines_.clear();
    count_ = 0;
  }

  Heading heading_;
  std::string text_;
  std::string key_;
  std::string lines_;
  std::size_t count_ = 0;  ///< of lines_
  std::size_t groups_ = 0;
  std::size_t all_lines_ = 0;
};

/// Values by place ("server_stats.zxid"), for short answers.
class Fields {
 public:
  void take(const Place& place, const std::string& value) {
    constexpr std::size_t most = 10000;  // more than any server has
    if (values_.size() >= most) return;
    std::string name;
    for (const auto& each : place) name += (name.empty() ? "" : ".") + each;
    values_.insert_or_assign(std::move(name), value);
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  std::string operator[](const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }
  const std::map<std::string, std::string>& all() const { return values_; }
  void clear() { values_.clear(); }

 private:
  std::map<std::string, std::string> values_;
};

/// Writes lines such as "key=value", in the order of the JSON.
class LinesWriter : public Writer {
 public:
  LinesWriter(std::string heading, std::string before_key, std::string after_key)
      : text_(std::move(heading)),
        before_key_(std::move(before_key)),
        after_key_(std::move(after_key)) {}

  void take(const Place& place, const std::string& value) override {
    if (place.size() == 1) text_ += before_key_ + place.front() + after_key_ + value + '\n';
  }
  std::string text() override { return std::move(text_); }

 private:
  std::string text_;
  std::string before_key_;
  std::string after_key_;
};

/// Lines as written by ServerCnxn.dumpConnectionInfo.
class Connections : public Writer {
 public:
  static bool has(const Place& place) {
    return place.size() == 3 &&
           (place.front() == "connections" || place.front() == "secure_connections");
  }
  void take(const Place& place, const std::string& value) override {
    if (!has(place)) return;
    if (place[0] != list_ || place[1] != number_) close();
    list_ = place[0];
    number_ = place[1];
    one_.take({place[2]}, value);
  }
  std::string text() override {
    close();
    return std::move(text_) + '\n';
  }

 private:
  void close() {
    if (one_.all().empty()) return;
    text_ +=
        fmt::format(" /{}[{}](queued={},recved={},sent={}", one_["remote_socket_address"],
                    hexadecimal(one_["interest_ops"]).value_or("0"), one_["outstanding_requests"],
                    one_["packets_received"], one_["packets_sent"]);
    const auto session = hexadecimal(one_["session_id"]);
    if (session && session != "0") {
      text_ += fmt::format(",sid=0x{},lop={},est={},to={}", *session, one_["last_operation"],
                           one_["established"], one_["session_timeout"]);
      if (!one_["last_cxid"].starts_with('-'))
        text_ += fmt::format(",lcxid=0x{}", hexadecimal(one_["last_cxid"]).value_or("0"));
      text_ += fmt::format(",lzxid=0x{},lresp={},llat={},minlat={},avglat={},maxlat={}",
                           hexadecimal(one_["last_zxid"]).value_or("0"), one_["last_response_time"],
                           one_["last_latency"], one_["min_latency"], one_["avg_latency"],
                           one_["max_latency"]);
    }
    text_ += ")\n";
    one_.clear();
  }

  std::string text_;
  std::string list_;
  std::string number_;
  Fields one_;
};

/// Answers srvr, and with connections stat: StatCommand.java, ServerStats.toString.
class StatsWriter : public Writer {
 public:
  explicit StatsWriter(bool with_clients) : with_clients_(with_clients) {}

  void take(const Place& place, const std::string& value) override {
    if (Connections::has(place))
      connections_.take(place, value);
    else
      fields_.take(place, value);
  }

  std::string text() override {
    const auto stat = [&](const char* name) {
      return fields_[std::string("server_stats.") + name];
    };
    auto text = fmt::format("Zookeeper version: {}\n", fields_["version"]);
    if (fields_["read_only"] == "true") text += "READ-ONLY mode; serving only read-only clients\n";
    if (with_clients_) text += "Clients:\n" + connections_.text();
    text += fmt::format("Latency min/avg/max: {}/{}/{}\n", stat("min_latency"), stat("avg_latency"),
                        stat("max_latency"));
    text += fmt::format("Received: {}\nSent: {}\nConnections: {}\n", stat("packets_received"),
                        stat("packets_sent"), stat("num_alive_client_connections"));
    if (stat("provider_null") != "true")
      text += fmt::format("Outstanding: {}\nZxid: 0x{}\n", stat("outstanding_requests"),
                          hexadecimal(stat("last_processed_zxid")).value_or(""));
    text += fmt::format("Mode: {}\nNode count: {}\n", stat("server_state"), fields_["node_count"]);
    if (fields_.has("proposal_stats.last_buffer_size"))
      text += fmt::format(
          "Proposal sizes last/min/max: {}/{}/{}\n", fields_["proposal_stats.last_buffer_size"],
          fields_["proposal_stats.min_buffer_size"], fields_["proposal_stats.max_buffer_size"]);
    return text;
  }

 private:
  bool with_clients_;
  Connections connections_;
  Fields fields_;
};

/// DumpCommand.java. A follower's AdminServer does not know the sessions; its answer then does not
/// begin like one that lists them.
class DumpWriter : public Writer {
 public:
  void take(const Place& place, const std::string& value) override {
    if (place.size() != 3) return;
    if (place[0] == "expiry_time_to_session_ids") {
      if (const auto session = hexadecimal(value))
        sessions_.add(place[1], fmt::format("\t0x{}\n", *session));
    } else if (place[0] == "session_id_to_ephemeral_paths") {
      if (hexadecimal(place[1])) ephemerals_.add(place[1], fmt::format("\t{}\n", value));
    }
  }

  std::string text() override {
    const auto sessions = sessions_.text();
    const auto ephemerals = ephemerals_.text();
    std::string text;
    if (!sessions.empty())
      text = fmt::format("SessionTracker dump:\nSession Sets ({})/({}):\n{}", sessions_.size(),
                         sessions_.all_lines(), sessions);
    return text + fmt::format("ephemeral nodes dump:\nSessions with Ephemerals ({}):\n{}",
                              ephemerals_.size(), ephemerals);
  }

 private:
  Groups sessions_{[](const std::string& key, std::size_t lines) {
    return fmt::format("{} expire at {} ms of the server's own clock:\n", lines, key);
  }};
  Groups ephemerals_{[](const std::string& key, std::size_t) {
    return fmt::format("0x{}:\n", hexadecimal(key).value_or(""));
  }};
};

/// DataTree.dumpWatches, by session or by path.
class WatchesWriter : public Writer {
 public:
  explicit WatchesWriter(bool by_path)
      : by_path_(by_path), groups_([by_path](const std::string& key, std::size_t) {
          return by_path ? key + '\n' : fmt::format("0x{}\n", hexadecimal(key).value_or(""));
        }) {}

  void take(const Place& place, const std::string& value) override {
    if (place.size() != 3) return;
    const auto session = hexadecimal(by_path_ ? value : place[1]);
    if (!session) return;
    groups_.add(place[1], by_path_ ? fmt::format("\t0x{}\n", *session) : '\t' + value + '\n');
  }
  std::string text() override { return groups_.text() + '\n'; }

 private:
  bool by_path_;
  Groups groups_;
};

/// Answers made of a few fields.
class FieldsWriter : public Writer {
 public:
  using Form = std::function<std::string(const Fields& fields)>;
  explicit FieldsWriter(Form form) : form_(std::move(form)) {}

  void take(const Place& place, const std::string& value) override { fields_.take(place, value); }
  std::string text() override { return form_(fields_); }

 private:
  Form form_;
  Fields fields_;
};

/// Converts client_port to clientPort, the form in configurations.
std::string camel_case(const std::string& name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_' && i + 1 < name.size())
      result += static_cast<char>(std::toupper(static_cast<unsigned char>(name[++i])));
    else
      result += name[i];
  }
  return result;
}

/// A line "server.1=host:2888:3888:participant;0.0.0.0:2181" for each member in voting_view.
std::string membership(const Fields& fields) {
  std::string text;
  for (const auto& [name, type] : fields.all()) {
    constexpr std::string_view view = "current_config.";
    constexpr std::string_view learner_type = ".learner_type";
    if (!name.starts_with(view) || !name.ends_with(learner_type)) continue;
    const auto member = name.substr(0, name.size() - learner_type.size());
    std::string addresses;
    for (int i = 0; fields.has(fmt::format("{}.server_addresses.{}", member, i)); ++i) {
      const auto election = fields[fmt::format("{}.election_addresses.{}", member, i)];
      addresses += fmt::format("{}{}:{}", i == 0 ? "" : "|",
                               fields[fmt::format("{}.server_addresses.{}", member, i)],
                               election.substr(election.rfind(':') + 1));
    }
    const auto client = fields[member + ".client_address"];
    text += fmt::format("server.{}={}:{}{}{}\n", member.substr(view.size()), addresses, type,
                        client.empty() ? "" : ";", client);
  }
  return text;
}

std::string conf_text(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields.all())
    if (name.find('.') == std::string::npos) text += camel_case(name) + '=' + value + '\n';
  const auto members = membership(fields);
  return members.empty() ? text : text + "membership: \n" + members;
}

std::string digests_text(const Fields& fields) {
  std::string text;
  for (int i = 0; fields.has(fmt::format("digests.{}.zxid", i)); ++i)
    text +=
        fmt::format("{}: {}\n", hexadecimal(fields[fmt::format("digests.{}.zxid", i)]).value_or(""),
                    fields[fmt::format("digests.{}.digest", i)]);
  return text;
}

using NewWriter = std::function<std::unique_ptr<Writer>()>;

/// The words for which an AdminServer has a command.
const std::map<std::string, NewWriter, std::less<>>& writers() {
  const auto shown = [](const FieldsWriter::Form& form) {
    return [form] { return std::make_unique<FieldsWriter>(form); };
  };
  const auto said = [&](const std::string& text) {
    return shown([text](const Fields&) { return text; });
  };
  const auto lines = [](const char* heading, const char* before_key, const char* after_key) {
    return [=] { return std::make_unique<LinesWriter>(heading, before_key, after_key); };
  };
  static const std::map<std::string, NewWriter, std::less<>> all{
      {"conf", shown(conf_text)},
      {"cons", [] { return std::make_unique<Connections>(); }},
      {"crst", said("Connection stats reset.\n")},
      {"dirs", lines("", "", ": ")},
      {"dump", [] { return std::make_unique<DumpWriter>(); }},
      {"envi", lines("Environment:\n", "", "=")},
      {"gtmk", shown([](const Fields& fields) { return fields["tracemask"]; })},
      {"hash", shown(digests_text)},
      {"icfg", shown([](const Fields& fields) { return fields["initial_configuration"]; })},
      {"isro", shown([](const Fields& fields) {
         return std::string(fields["read_only"] == "true" ? "ro" : "rw");
       })},
      {"mntr", lines("", "zk_", "\t")},
      {"ruok", said("imok")},
      {"srst", said("Server stats reset.\n")},
      {"srvr", [] { return std::make_unique<StatsWriter>(false); }},
      {"stat", [] { return std::make_unique<StatsWriter>(true); }},
      {"wchc", [] { return std::make_unique<WatchesWriter>(false); }},
      {"wchp", [] { return std::make_unique<WatchesWriter>(true); }},
      {"wchs", shown([](const Fields& fields) {
         return fmt::format("{} connections watching {} paths\nTotal watches:{}\n",
                            fields["num_connections"], fields["num_paths"],
                            fields["num_total_watches"]);
       })}};
  return all;
}

/// A command sent to an AdminServer, as part of a word.
struct AdminQuestion {
  std::size_t word;  ///< the index of the question that it answers
  ServerAddress server;
  HttpAnswer answer{};
};

std::optional<int> admin_port(std::string_view text) {
  const auto port = number_in<int>(text);
  if (port && (*port < 1 || *port > 65535))
    throw ValueError(fmt::format("admin-server: {} is not a port", text));
  return port;
}

/// Combines the answers to one word's commands, which begin at `next`. If one of them failed, so
/// does the word.
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

std::vector<std::string> admin_commands(std::string_view word) {
  if (!writers().contains(word)) return {};
  // Another command lists the members of the ensemble.
  if (word == "conf") return {"conf", "voting_view"};
  return {std::string(word)};
}

ServerAnswer admin_answer(std::string_view word, std::span<const std::string> bodies) {
  const auto writer = writers().find(word)->second();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    bool has_command = false;
    std::optional<std::string> error;
    const auto take = [&](const Place& place, const std::optional<std::string>& value) {
      if (place == Place{"command"})
        has_command = true;
      else if (place == Place{"error"})
        error = value;
      else if (value)
        writer->take(place, *value);
    };
    if (!read_json_values(bodies[i], take) || !has_command)
      return {.problem = "its answer is not that of an AdminServer"};
    if (!error) continue;
    if (is_not_serving(*error + '\n')) return {.text = *error + '\n'};
    // Older servers lack the further commands.
    constexpr std::size_t most = 200;
    if (i == 0) return {.problem = "it says: " + escape_for_terminal(error->substr(0, most))};
  }
  return {.text = writer->text()};
}

AdminServers::AdminServers(std::string_view text, const std::string& connect_string) {
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

std::vector<ServerAnswer> ask_words(const std::vector<ServerQuestion>& questions,
                                    const AdminServers& admin_servers, const AskLimits& limits) {
  const auto time = limits.deadline - Clock::now();
  auto answers = inquire(questions, limits);
  std::vector<AdminQuestion> asked;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!answers[i].turned_away && !is_refusal(answers[i].text)) continue;
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
  auto replies = inquire(requests, admin_limits);
  for (std::size_t next = 0; next < asked.size();) {
    const auto number = asked[next].word;
    const auto server = asked[next].server.text();
    auto answer = put_together(questions[number].word, asked, replies, next);
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
      "; its AdminServer does not answer either ({}; --admin-server sets its address)",
      answer.admin_problem);
}

}  // namespace zksh
