// MemberWords: asks all members of an ensemble four-letter words.
#include "ensemble/member_words.h"

#include "base/mapped.h"
#include "base/number.h"
#include "client/host_addresses.h"
#include "client/tls.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace zksh {
namespace {

std::vector<MemberAnswers> ask_each(std::vector<MemberAnswers> members,
                                    const std::vector<std::string>& words,
                                    const AdminServers& admin_servers, const AskLimits& limits) {
  std::vector<ServerQuestion> questions;
  questions.reserve(members.size() * words.size());
  for (const auto& member : members) {
    if (member.address.port == 0) continue;
    for (const auto& word : words) questions.push_back({.server = member.address, .word = word});
  }
  auto answers = ask_words(questions, admin_servers, limits);
  std::size_t next = 0;
  for (auto& member : members) {
    const auto count = member.address.port == 0 ? 0 : words.size();
    member.answers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) member.answers.push_back(std::move(answers[next++]));
  }
  return members;
}

/// Completes members without a client address, as in most static configurations: all servers have
/// the same clientPort, unless several are on one machine. The same holds for TLS ports, which a
/// configuration never names.
void add_client_ports(Membership& membership, std::string_view conf) {
  const auto port = number_field(conf, tls() ? "secureClientPort" : "clientPort");
  if (tls())
    for (auto& [id, member] : membership.members) {
      if (member.client) member.host = member.client->host;
      member.client.reset();
    }
  const auto own = membership.members.find(number_field(conf, "serverId").value_or(-1));
  if (!port || *port < 1 || *port > 65535 || own == membership.members.end()) return;
  for (auto& [id, member] : membership.members) {
    if (member.client || (id != own->first && member.host == own->second.host)) continue;
    member.client = {.host = member.host, .port = static_cast<int>(*port)};
  }
}

/// Removes the answers to conf, the last word, and evaluates them.
std::optional<Membership> take_membership(std::vector<MemberAnswers>& members, std::string& mute) {
  std::optional<Membership> membership;
  for (auto& member : members) {
    const auto conf = std::move(member.answers.back());
    member.answers.pop_back();
    if (is_refusal(conf.text) && mute.empty()) mute = member.name();
    auto parsed = parse_membership(conf.text);
    if (parsed.members.empty()) continue;
    member.id = number_field(conf.text, "serverId");
    add_client_ports(parsed, conf.text);
    if (!membership || parsed.version > membership->version) membership = std::move(parsed);
  }
  return membership;
}

/// Finds the number of a server that did not report it. If only the host is known, and several
/// members are there, takes any of them, and leaves the number unknown.
void find_id(MemberAnswers& member, const Membership& membership, std::set<std::int64_t>& taken) {
  std::vector<std::int64_t> candidates;
  for (const auto& [id, candidate] : membership.members) {
    if (taken.contains(id)) continue;
    if (candidate.client && candidate.client->port != member.address.port) continue;
    const auto& host = candidate.client ? candidate.client->host : candidate.host;
    if (!same_host(host, member.address.host)) continue;
    candidates.push_back(id);
    if (!candidate.client) continue;
    candidates = {id};
    break;
  }
  if (candidates.empty()) return;
  taken.insert(candidates.front());
  if (candidates.size() == 1) member.id = candidates.front();
}

std::vector<MemberAnswers> others(std::vector<MemberAnswers>& named, const Membership& membership) {
  std::set<std::int64_t> taken;
  for (const auto& member : named)
    if (member.id) taken.insert(*member.id);
  for (auto& member : named)
    if (!member.id) find_id(member, membership, taken);
  std::vector<MemberAnswers> found;
  for (const auto& [id, member] : membership.members) {
    if (taken.contains(id)) continue;
    const auto address = member.client.value_or(ServerAddress{.host = member.host, .port = 0});
    found.push_back({.address = address, .id = id});
  }
  return found;
}

}  // namespace

std::optional<std::int64_t> number_field(std::string_view answer, std::string_view key) {
  return number_in<std::int64_t>(answer_field(answer, key));
}

std::string MemberAnswers::name() const {
  return address.port == 0 && id ? fmt::format("server.{}", *id) : address.text();
}

EnsembleAnswers ask_members(const ServersToAsk& asked, std::vector<std::string> words,
                            std::chrono::milliseconds time, const std::stop_token& stop) {
  auto named = mapped(asked.servers,
                      [](const ServerAddress& server) { return MemberAnswers{.address = server}; });
  words.emplace_back("conf");
  named = ask_each(std::move(named), words, asked.admin_servers,
                   {.deadline = Clock::now() + time, .stop = stop});
  words.pop_back();
  EnsembleAnswers all;
  all.membership = take_membership(named, all.mute);
  if (all.membership) all.mute.clear();
  std::vector<MemberAnswers> further;
  if (all.membership) {
    std::set<std::int64_t> ids;  // a server with two names is one member
    if (asked.with_others)
      std::erase_if(named, [&](const MemberAnswers& member) {
        return member.id && !ids.insert(*member.id).second;
      });
    further = others(named, *all.membership);
    if (!asked.with_others) further.clear();
    further = ask_each(std::move(further), words, asked.admin_servers,
                       {.deadline = Clock::now() + time, .stop = stop});
  }
  all.members = std::move(named);
  for (auto& member : further) all.members.push_back(std::move(member));
  return all;
}

std::string refusal(const std::vector<std::string>& words, const ServerAnswer& answer) {
  const bool one = words.size() == 1;
  return fmt::format(
      "{0} {1} not in its 4lw.commands.whitelist; to allow {2}, add {3} to that line of its "
      "zoo.cfg and restart it{4}",
      fmt::join(words, ", "), one ? "is" : "are", one ? "it" : "them", one ? words.front() : "them",
      admin_note(answer));
}

std::optional<std::string> no_answer(const std::string& word, const ServerAnswer& answer) {
  if (!answer.problem.empty()) return answer.problem + admin_note(answer);
  if (is_refusal(answer.text)) return refusal({word}, answer);
  if (is_not_serving(answer.text)) return "it is running, but not serving (starting, or no quorum)";
  return std::nullopt;
}

}  // namespace zksh
