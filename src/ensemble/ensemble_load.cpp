// EnsembleLoad: what servers and their clients do between two looks at their counters.
#include "ensemble/ensemble_load.h"

#include "base/number.h"
#include "base/text.h"
#include "ensemble/health.h"
#include "ensemble/server_poller.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace zksh {
namespace {

/// The top-level node in "zk_cnt_NODE_write_per_namespace"; empty for another key.
std::string_view node_of(std::string_view key, std::string_view suffix) {
  constexpr std::string_view prefix = "zk_cnt_";
  if (!key.starts_with(prefix) || !key.ends_with(suffix) ||
      key.size() <= prefix.size() + suffix.size())
    return {};
  return key.substr(prefix.size(), key.size() - prefix.size() - suffix.size());
}

constexpr std::size_t srvr_at = 0;
constexpr std::size_t mntr_at = 1;
constexpr std::size_t cons_at = 2;
constexpr const char* received = "zk_packets_received";

/// The answer to mntr; empty if there is none.
std::string_view figures_of(const MemberAnswers& member) {
  if (member.answers.empty() || no_answer("mntr", member.answers[mntr_at])) return {};
  return member.answers[mntr_at].text;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

}  // namespace

std::vector<std::string> LoadMeter::words() {
  auto words = health_words();
  words.emplace_back("cons");
  return words;
}

std::optional<std::int64_t> LoadMeter::growth(const std::string& counter,
                                              std::optional<std::int64_t> value, bool fresh) {
  constexpr std::int64_t most = 1'000'000'000'000'000;  // more than any server has counted
  if (!value || *value < 0 || *value > most) return std::nullopt;
  now_[counter] = *value;
  const auto before = before_.find(counter);
  if (before == before_.end()) return fresh ? value : std::nullopt;
  return *value < before->second ? *value : *value - before->second;
}

ServerLoad LoadMeter::server_load(const MemberAnswers& member) {
  ServerLoad load{.name = member.name(), .id = member.id};
  if (member.answers.empty()) {
    load.problem = "its client address is not known";
    return load;
  }
  const auto health = read_health(member);
  if (!health.problem.empty()) {
    load.problem = health.problem;
    return load;
  }
  const auto mntr = figures_of(member);
  const auto figure = [&](const char* key) { return number_field(mntr, key); };
  const auto grown = [&](const char* key) { return growth(load.name + key, figure(key)); };
  load.role = health.role;
  load.requests = growth(
      load.name + received,
      mntr.empty() ? number_field(member.answers[srvr_at].text, "Received") : figure(received));
  load.connections = health.connections;
  load.watches = health.watches;
  const auto count = sum(grown("zk_cnt_readlatency"), grown("zk_cnt_updatelatency"));
  const auto time = sum(grown("zk_sum_readlatency"), grown("zk_sum_updatelatency"));
  if (count && time)
    load.latency_us = *count > 0 ? std::optional(*time * 1000 / *count) : std::nullopt;
  else if (!figure("zk_cnt_readlatency"))
    load.latency_us = health.mean_latency_us;
  return load;
}

void LoadMeter::add_clients(const MemberAnswers& member,
                            const std::map<std::int64_t, std::string>& names,
                            std::vector<ClientLoad>& clients) {
  if (member.answers.empty() || no_answer("cons", member.answers[cons_at])) return;
  const auto server = member.name();
  const bool fresh = before_.contains(server);  // was its answer known before?
  now_[server] = 0;
  for (auto& connection : parse_connections(member.answers[cons_at].text)) {
    const auto counter = fmt::format("{} {} {}", server, connection.address, connection.session);
    const auto name = names.find(connection.session);
    clients.push_back({.address = std::move(connection.address),
                       .session = connection.session,
                       .server = server,
                       .requests = growth(counter, connection.received, fresh),
                       .last_request = std::move(connection.last_request),
                       .ephemeral = name == names.end() ? "" : name->second});
  }
}

void LoadMeter::add_nodes(const MemberAnswers& member, std::map<std::string, NodeLoad>& nodes) {
  const auto server = member.name();
  for (const auto line : lines_of(figures_of(member))) {
    const auto tab = line.find('\t');
    const auto key = line.substr(0, tab);
    if (tab == std::string_view::npos || !key.ends_with("_per_namespace")) continue;
    const auto written = node_of(key, "_write_per_namespace");
    const auto node = written.empty() ? node_of(key, "_read_per_namespace") : written;
    if (node.empty()) continue;
    // A counter appears when its node is first used.
    const bool fresh = before_.contains(server + received);
    const auto count = growth(fmt::format("{} {}", server, key),
                              number_in<std::int64_t>(line.substr(tab + 1)), fresh);
    if (count.value_or(0) == 0) continue;
    auto& load = nodes[fmt::format("/{}", node)];
    if (written.empty())
      load.reads += *count;
    else
      load.writes = std::max(load.writes, *count);
  }
}

EnsembleLoad LoadMeter::take(const std::vector<MemberAnswers>& members,
                             const std::map<std::int64_t, std::string>& names,
                             Clock::time_point now) {
  EnsembleLoad load;
  if (looked_) load.interval = std::chrono::round<std::chrono::milliseconds>(now - *looked_);
  looked_ = now;
  before_ = std::exchange(now_, {});
  std::map<std::string, NodeLoad> nodes;
  for (const auto& member : members) {
    load.servers.push_back(server_load(member));
    add_clients(member, names, load.clients);
    add_nodes(member, nodes);
  }
  std::ranges::stable_sort(load.clients, std::ranges::greater{},
                           [](const ClientLoad& client) { return client.requests.value_or(0); });
  for (auto& [path, node] : nodes) {
    node.path = path;
    load.nodes.push_back(std::move(node));
  }
  std::ranges::stable_sort(load.nodes, std::ranges::greater{},
                           [](const NodeLoad& node) { return node.reads + node.writes; });
  return load;
}

std::map<std::int64_t, std::string> first_ephemerals(const std::vector<ServerAnswer>& dumps) {
  std::map<std::int64_t, std::string> names;
  for (const auto& dump : dumps)
    for (const auto& [session, paths] : parse_ephemerals(dump.text))
      if (!paths.empty()) names.try_emplace(session, std::ranges::min(paths));
  return names;
}

}  // namespace zksh
