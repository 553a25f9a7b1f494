// WhoAccount: what `who` shows of a session, or of a node.
#include "ensemble/who_account.h"

#include "base/number.h"
#include "base/time.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace zksh {
namespace {

template <class Each>
std::vector<std::string> texts(const Each& paths) {
  return std::vector<std::string>(paths.begin(), paths.end());
}

/// The servers keep a container's mark and a TTL in the place of an ephemeral's owner
/// (EphemeralType of 3.5 and later).
std::string kind_of(std::int64_t owner) {
  if (owner == 0) return "persistent";
  if (owner == std::numeric_limits<std::int64_t>::min()) return "container";
  return (static_cast<std::uint64_t>(owner) >> 56U) == 0xff ? "ttl" : "ephemeral";
}

bool is_below(std::string_view path, std::string_view root) {
  if (root == "/") return path.size() > 1;
  return path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/';
}

/// A heading with the count, then each, perhaps not all.
template <class Item, class Text>
void add_list(std::vector<std::string>& lines, const std::string& what,
              const std::optional<std::vector<Item>>& items, const AccountStyle& style,
              Text&& text_of) {
  if (!items) {
    lines.push_back(what + ": not told");
    return;
  }
  lines.push_back(fmt::format("{}: {}", what, items->size()));
  const auto count = style.most == 0 ? items->size() : std::min(style.most, items->size());
  for (std::size_t i = 0; i < count; ++i) lines.push_back("  " + text_of((*items)[i]));
  if (count < items->size()) lines.push_back(fmt::format("  and {} more", items->size() - count));
}

std::string client_text(const SessionAccount& account, const AccountStyle& style) {
  if (!account.connection) {
    if (account.alive && !*account.alive) return "the session has ended";
    return account.connections_told ? "not connected to a server that told" : "not told";
  }
  const auto& connection = *account.connection;
  auto text = fmt::format("{}, connected to {}", connection.address, connection.server);
  if (connection.since)
    text +=
        fmt::format(" for {}", short_age(std::max<std::int64_t>(style.now - *connection.since, 0)));
  if (connection.timeout) text += fmt::format(", timeout {} ms", *connection.timeout);
  if (!connection.last_request.empty() && connection.last_request != "NA")
    text += fmt::format(", last request {}", connection.last_request);
  return text;
}

std::string with_address(std::int64_t session, const SessionSurvey& words) {
  return fmt::format("{}  {}", session_text(session), words.address_of(session));
}

Json list_json(const std::optional<std::vector<std::string>>& items) {
  if (!items) return {};
  auto json = Json::array();
  for (const auto& item : *items) json.add(item);
  return json;
}

Json session_address_json(std::int64_t session, const SessionSurvey& words) {
  const auto address = words.address_of(session);
  auto json = Json::object();
  json.set("session", session_text(session)).set("client", address == "-" ? Json() : Json(address));
  return json;
}

}  // namespace

SessionAccount account_of(const SessionSurvey& words, std::int64_t session) {
  SessionAccount account{.session = session, .alive = words.alive(session)};
  account.connections_told = words.told("cons");
  if (const auto found = words.connections().find(session); found != words.connections().end())
    account.connection = found->second;
  if (words.told("dump")) {
    account.ephemerals.emplace();
    if (const auto own = words.ephemerals().find(session); own != words.ephemerals().end())
      account.ephemerals = texts(own->second);
  }
  if (words.told("wchc")) {
    std::set<std::string> paths;
    for (const auto& each : words.watches())
      if (each.session == session) paths.insert(each.paths.begin(), each.paths.end());
    account.watches = texts(paths);
  }
  return account;
}

NodeAccount account_of(const SessionSurvey& words, const std::string& path,
                       const std::string& whole, std::int64_t owner) {
  NodeAccount account{.path = path, .whole = whole, .kind = kind_of(owner)};
  if (account.kind == "ephemeral") account.owner = account_of(words, owner);
  if (words.told("wchc")) {
    std::set<std::int64_t> sessions;
    for (const auto& each : words.watches())
      if (std::ranges::binary_search(each.paths, std::string_view(whole)))
        sessions.insert(each.session);
    account.watchers.emplace(sessions.begin(), sessions.end());
  }
  if (account.owner || !words.told("dump")) return account;
  account.below.emplace();
  for (const auto& [session, paths] : words.ephemerals())
    for (const auto each : paths)
      if (is_below(each, whole)) account.below->emplace_back(std::string(each), session);
  std::ranges::sort(*account.below);
  return account;
}

std::vector<std::string> account_lines(const SessionAccount& account, const AccountStyle& style) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("session {}{}", session_text(account.session),
                              account.session == style.own ? " (this one)" : ""));
  lines.push_back("client: " + client_text(account, style));
  const auto itself = [](const std::string& path) { return path; };
  add_list(lines, "ephemerals", account.ephemerals, style, itself);
  add_list(lines, "watches", account.watches, style, itself);
  return lines;
}

std::vector<std::string> account_lines(const NodeAccount& account, const SessionSurvey& words,
                                       const AccountStyle& style) {
  std::vector<std::string> lines;
  if (account.owner) {
    lines.push_back(fmt::format("{} is an ephemeral of this session:", account.path));
    auto owner = account_lines(*account.owner, style);
    lines.insert(lines.end(), owner.begin(), owner.end());
  } else {
    lines.push_back(
        fmt::format("{} is not ephemeral ({}): no session owns it", account.path, account.kind));
    add_list(lines, "ephemerals below it", account.below, style, [&](const auto& each) {
      return fmt::format("{}  of {}", each.first, with_address(each.second, words));
    });
  }
  add_list(lines, "watched by", account.watchers, style,
           [&](std::int64_t session) { return with_address(session, words); });
  return lines;
}

std::vector<std::string> account_fields(const SessionAccount& account) {
  const auto& at = account.connection;
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string("-");
  };
  std::vector<std::string> lines{
      fmt::format("session\t{}\t{}\t{}\t{}\t{}\t{}", session_text(account.session),
                  account.alive ? (*account.alive ? "alive" : "ended") : "-",
                  at ? at->address : "-", at ? at->server : "-",
                  number(at ? at->timeout : std::nullopt), number(at ? at->since : std::nullopt))};
  if (account.ephemerals)
    for (const auto& path : *account.ephemerals) lines.push_back("ephemeral\t" + path);
  if (account.watches)
    for (const auto& path : *account.watches) lines.push_back("watch\t" + path);
  return lines;
}

std::vector<std::string> account_fields(const NodeAccount& account, const SessionSurvey& words) {
  std::vector<std::string> lines{fmt::format("node\t{}\t{}", account.path, account.kind)};
  if (account.owner) {
    auto owner = account_fields(*account.owner);
    lines.insert(lines.end(), owner.begin(), owner.end());
  }
  if (account.below)
    for (const auto& [path, session] : *account.below)
      lines.push_back(
          fmt::format("below\t{}\t{}\t{}", path, session_text(session), words.address_of(session)));
  if (account.watchers)
    for (const auto session : *account.watchers)
      lines.push_back(
          fmt::format("watcher\t{}\t{}", session_text(session), words.address_of(session)));
  return lines;
}

Json account_json(const SessionAccount& account) {
  const auto& at = account.connection;
  auto json = Json::object();
  json.set("session", session_text(account.session)).set("alive", account.alive);
  json.set("client", at ? Json(at->address) : Json());
  json.set("server", at ? Json(at->server) : Json());
  json.set("timeout_ms", at ? Json(at->timeout) : Json());
  json.set("connected_since", at ? Json(at->since) : Json());
  json.set("last_request", at ? Json(at->last_request) : Json());
  json.set("ephemerals", list_json(account.ephemerals));
  json.set("watches", list_json(account.watches));
  return json;
}

Json account_json(const NodeAccount& account, const SessionSurvey& words) {
  auto json = Json::object();
  json.set("path", account.path).set("whole_path", account.whole).set("kind", account.kind);
  json.set("owner", account.owner ? account_json(*account.owner) : Json());
  Json below;
  if (account.below) {
    below = Json::array();
    for (const auto& [path, session] : *account.below) {
      auto each = session_address_json(session, words);
      each.set("path", path);
      below.add(std::move(each));
    }
  }
  Json watchers;
  if (account.watchers) {
    watchers = Json::array();
    for (const auto session : *account.watchers) watchers.add(session_address_json(session, words));
  }
  json.set("ephemerals_below", std::move(below)).set("watchers", std::move(watchers));
  return json;
}

}  // namespace zksh
