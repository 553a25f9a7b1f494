// Membership: the members in an ensemble's configuration, and the effect of a reconfiguration.
#include "ensemble/membership.h"

#include "base/error.h"
#include "base/mapped.h"
#include "base/number.h"
#include "base/text.h"
#include "base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// Removes and returns the part before the next colon, ignoring those in "[::1]".
std::optional<std::string_view> take_part(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  std::size_t from = 0;
  if (text.front() == '[') {
    from = text.find(']');
    if (from == std::string_view::npos) return std::nullopt;
  }
  const auto colon = text.find(':', from);
  const auto part = text.substr(0, colon);
  text.remove_prefix(colon == std::string_view::npos ? text.size() : colon + 1);
  return part;
}

std::optional<int> port_in(std::optional<std::string_view> text) {
  const auto port = text ? number_in<int>(*text) : std::nullopt;
  return port && *port >= 0 && *port <= 65535 ? port : std::nullopt;
}

std::string without_brackets(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return std::string(host);
}

/// Parses "2181", "10.0.0.3:2181" or "[::1]:2181".
bool read_client(std::string_view text, Member& member) {
  const auto colon = text.rfind(':');
  const auto port = port_in(
      colon == std::string_view::npos ? text : text.substr(std::min(colon + 1, text.size())));
  if (!port || *port == 0) return false;
  auto host =
      colon == std::string_view::npos ? member.host : without_brackets(text.substr(0, colon));
  const bool is_every_interface = host == "0.0.0.0" || host == "::" || host == "0:0:0:0:0:0:0:0";
  if (host.empty() || is_every_interface) host = member.host;
  member.client = {.host = std::move(host), .port = *port};
  member.ports.push_back(member.client->text());
  return true;
}

/// Parses "server.3=…".
std::optional<std::pair<std::int64_t, Member>> member_line(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos || !line.starts_with("server.")) return std::nullopt;
  const auto id = number_in<std::int64_t>(trimmed(line.substr(7, equals - 7)));
  auto member = parse_member(trimmed(line.substr(equals + 1)));
  if (!id || !member) return std::nullopt;
  return std::pair{*id, std::move(*member)};
}

ChangedMembership refused(int code, std::string why) {
  return {.code = code, .why = std::move(why), .after = {}};
}

/// Applies one "server.4=…" of -add. Two members cannot share a port of a host.
std::string joined(Membership& membership, std::string_view text) {
  const auto given = member_line(text);
  if (!given || !given->second.client)
    return fmt::format("\"{}\" is not server.ID=HOST:PORT:PORT[:ROLE];[HOST:]PORT", text);
  const auto& [id, member] = *given;
  for (const auto& [other_id, other] : membership.members) {
    const auto same = std::ranges::find_first_of(member.ports, other.ports);
    if (other_id != id && same != member.ports.end())
      return fmt::format("server.{} already uses {}", other_id, *same);
  }
  membership.members[id] = member;
  return {};
}

std::string replaced(Membership& membership, const std::string& members) {
  auto lines = members;
  std::ranges::replace(lines, ',', '\n');
  for (const auto line : split(lines, '\n')) {
    const auto text = trimmed(line);
    if (text.empty() || !text.starts_with("server.")) continue;
    const auto given = member_line(text);
    if (!given)
      return fmt::format("\"{}\" is not server.ID=HOST:PORT:PORT[:ROLE][;[HOST:]PORT]", text);
    membership.members.insert_or_assign(given->first, given->second);
  }
  return {};
}

}  // namespace

std::size_t Membership::voters() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(members, [](const auto& entry) { return !entry.second.observer; }));
}

std::optional<Member> parse_member(std::string_view text) {
  const auto semicolon = text.find(';');
  Member member;
  auto servers = text.substr(0, semicolon);
  std::string role = "participant";
  for (const std::string_view each : {"participant", "observer"}) {
    if (!servers.ends_with(fmt::format(":{}", each))) continue;
    role = each;
    servers.remove_suffix(each.size() + 1);
  }
  member.observer = role == "observer";
  for (auto address : split(servers, '|')) {  // several addresses are allowed since 3.6
    if (address.ends_with(':')) return std::nullopt;
    const auto host = take_part(address);
    if (!host || host->empty()) return std::nullopt;
    for (int i = 0; i < 2; ++i) {  // for quorum traffic, and for elections
      const auto port = port_in(take_part(address));
      if (!port) return std::nullopt;
      member.ports.push_back(ServerAddress{without_brackets(*host), *port}.text());
    }
    if (member.host.empty()) member.host = without_brackets(*host);
  }
  member.text = fmt::format("{}:{}", servers, role);
  if (semicolon == std::string_view::npos) return member;
  if (!read_client(text.substr(semicolon + 1), member)) return std::nullopt;
  member.text += text.substr(semicolon);
  return member;
}

Membership parse_membership(std::string_view text) {
  Membership membership;
  for (const auto each : split(text, '\n')) {
    const auto line = trimmed(each);
    if (auto member = member_line(line))
      membership.members.insert_or_assign(member->first, std::move(member->second));
    if (line.starts_with("version="))
      membership.version = number_in<std::int64_t>(line.substr(8), 16).value_or(0);
    if (line.starts_with("group") || line.starts_with("weight")) membership.groups = true;
  }
  return membership;
}

ChangedMembership change_membership(const Membership& before, const Reconfiguration& change) {
  if (before.members.empty())
    return refused(code::reconfig_disabled, "a standalone server has no members to change");
  if (change.version != -1 && change.version != before.version)
    return refused(code::bad_version, fmt::format("the configuration has version {:x}, not {:x}",
                                                  before.version, change.version));
  ChangedMembership changed{.after = before};
  std::string flaw;
  if (change.members) {
    changed.after.members.clear();
    flaw = replaced(changed.after, *change.members);
  } else if (before.groups) {
    flaw = "with hierarchical quorums (groups), single members cannot be added or removed";
  }
  const auto all_leaving = change.leaving.value_or("");
  for (const auto leaving : split(all_leaving, ',')) {
    if (leaving.empty()) continue;
    const auto id = number_in<std::int64_t>(trimmed(leaving));
    if (!id)
      return refused(code::marshalling_error, fmt::format("\"{}\" is not a server ID", leaving));
    changed.after.members.erase(*id);
  }
  const auto all_joining = change.joining.value_or("");
  for (const auto joining : split(all_joining, ',')) {
    if (joining.empty() || !flaw.empty()) continue;
    flaw = joined(changed.after, trimmed(joining));
  }
  if (flaw.empty() && changed.after.voters() == 0) flaw = "no voting member would be left";
  if (!flaw.empty()) return refused(code::bad_arguments, std::move(flaw));
  return changed;
}

std::vector<MemberChange> membership_changes(const Membership& before, const Membership& after,
                                             const Reconfiguration& change) {
  using Kind = MemberChange::Kind;
  std::map<std::int64_t, MemberChange> changes;
  for (const auto& [id, member] : before.members) {
    const auto then = after.members.find(id);
    if (then == after.members.end())
      changes[id] = {.kind = Kind::Leaves, .id = id, .text = member.text};
    else if (then->second == member)
      changes[id] = {.kind = Kind::Stays, .id = id, .text = member.text};
    else
      changes[id] = {
          .kind = Kind::Changes, .id = id, .text = then->second.text, .before = member.text};
  }
  for (const auto& [id, member] : after.members)
    changes.try_emplace(id, MemberChange{.kind = Kind::Joins, .id = id, .text = member.text});
  const auto all_leaving = change.leaving.value_or("");
  for (const auto leaving : split(all_leaving, ','))
    if (const auto id = number_in<std::int64_t>(trimmed(leaving)))
      changes.try_emplace(*id, MemberChange{.kind = Kind::Unknown, .id = *id});
  return mapped(changes, [](const auto& one) { return one.second; });
}

}  // namespace zksh
