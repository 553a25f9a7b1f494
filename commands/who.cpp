// who: show the client of a session or an ephemeral node, and what it owns and watches.
#include "base/json.h"
#include "base/number.h"
#include "base/time.h"
#include "command/command.h"
#include "ensemble/server_command.h"
#include "ensemble/server_poller.h"
#include "node/node_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace zksh::command_who {
namespace {

/// What is known of a session; paths are full paths.
struct SessionAccount {
  std::int64_t session = 0;
  std::optional<bool> alive{};
  std::optional<Connection> connection{};
  bool connections_known = false;                        ///< by any server
  std::optional<std::vector<std::string>> ephemerals{};  ///< nullopt: no server reported them
  std::optional<std::vector<std::string>> watches{};
};

/// The sessions related to a node.
struct NodeAccount {
  std::string path;                       ///< as the user sees it
  std::string whole;                      ///< as the servers see it
  std::string kind;                       ///< persistent, ephemeral, container, ttl
  std::optional<SessionAccount> owner{};  ///< of an ephemeral
  std::optional<std::vector<std::int64_t>> watchers{};
  /// The ephemerals below it and their owners.
  std::optional<std::vector<std::pair<std::string, std::int64_t>>> below{};
};

struct AccountStyle {
  std::size_t most = 0;  ///< limit for lists; 0: none
  std::int64_t now = 0;  ///< in ms since 1970
  std::int64_t own = 0;  ///< this shell's session
};

template <class Each>
std::vector<std::string> texts(const Each& paths) {
  return std::vector<std::string>(paths.begin(), paths.end());
}

/// Servers mark containers and TTLs in the field for an ephemeral's owner (EphemeralType in 3.5 and
/// later).
std::string kind_of(std::int64_t owner) {
  if (owner == 0) return "persistent";
  if (owner == std::numeric_limits<std::int64_t>::min()) return "container";
  return (static_cast<std::uint64_t>(owner) >> 56U) == 0xff ? "ttl" : "ephemeral";
}

bool is_below(std::string_view path, std::string_view root) {
  if (root == "/") return path.size() > 1;
  return path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/';
}

/// Adds a heading with the count, then the items, perhaps not all.
template <class Item, class Text>
void add_list(std::vector<std::string>& lines, const std::string& what,
              const std::optional<std::vector<Item>>& items, const AccountStyle& style,
              Text&& text_of) {
  if (!items) {
    lines.push_back(what + ": unknown");
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
    return account.connections_known ? "not connected to any server that answered" : "unknown";
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
  return items ? Json::array(*items) : Json();
}

Json session_address_json(std::int64_t session, const SessionSurvey& words) {
  const auto address = words.address_of(session);
  return Json::object()
      .set("session", session_text(session))
      .set("client", address == "-" ? Json() : Json(address));
}

SessionAccount account_of(const SessionSurvey& words, std::int64_t session) {
  SessionAccount account{.session = session, .alive = words.alive(session)};
  account.connections_known = words.answered("cons");
  if (const auto found = words.connections().find(session); found != words.connections().end())
    account.connection = found->second;
  if (words.answered("dump")) {
    account.ephemerals.emplace();
    if (const auto own = words.ephemerals().find(session); own != words.ephemerals().end())
      account.ephemerals = texts(own->second);
  }
  if (words.answered("wchc")) {
    std::set<std::string> paths;
    for (const auto& each : words.watches())
      if (each.session == session) paths.insert(each.paths.begin(), each.paths.end());
    account.watches = texts(paths);
  }
  return account;
}

/// `owner` is Stat::ephemeral_owner.
NodeAccount account_of(const SessionSurvey& words, const std::string& path,
                       const std::string& whole, std::int64_t owner) {
  NodeAccount account{.path = path, .whole = whole, .kind = kind_of(owner)};
  if (account.kind == "ephemeral") account.owner = account_of(words, owner);
  if (words.answered("wchc")) {
    std::set<std::int64_t> sessions;
    for (const auto& each : words.watches())
      if (std::ranges::binary_search(each.paths, std::string_view(whole)))
        sessions.insert(each.session);
    account.watchers.emplace(sessions.begin(), sessions.end());
  }
  if (account.owner || !words.answered("dump")) return account;
  account.below.emplace();
  for (const auto& [session, paths] : words.ephemerals())
    for (const auto each : paths)
      if (is_below(each, whole)) account.below->emplace_back(std::string(each), session);
  std::ranges::sort(*account.below);
  return account;
}

/// Lines for people, not escaped.
std::vector<std::string> account_lines(const SessionAccount& account, const AccountStyle& style) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("session {}{}", session_text(account.session),
                              account.session == style.own ? " (this one)" : ""));
  lines.push_back("client: " + client_text(account, style));
  add_list(lines, "ephemerals", account.ephemerals, style, std::identity{});
  add_list(lines, "watches", account.watches, style, std::identity{});
  return lines;
}

std::vector<std::string> account_lines(const NodeAccount& account, const SessionSurvey& words,
                                       const AccountStyle& style) {
  std::vector<std::string> lines;
  if (account.owner) {
    lines = account_lines(*account.owner, style);
    lines.insert(lines.begin(),
                 fmt::format("{} is an ephemeral node of this session:", account.path));
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

/// One fact per line, with tab-separated fields: session, ephemeral, watch.
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

/// The same for the owner, and node, watcher, below.
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
  json.set("timeout", at ? Json(at->timeout) : Json());
  if (at && at->since)
    json.set_time("connectedSince", *at->since);
  else
    json.set("connectedSince", Json()).set("connectedSinceIso", Json());
  json.set("lastRequest", at ? Json(at->last_request) : Json());
  json.set("ephemerals", list_json(account.ephemerals));
  json.set("watches", list_json(account.watches));
  return json;
}

Json account_json(const NodeAccount& account, const SessionSurvey& words) {
  Json below;
  if (account.below)
    below = Json::array(*account.below, [&](const auto& ephemeral) {
      return session_address_json(ephemeral.second, words).set("path", ephemeral.first);
    });
  Json watchers;
  if (account.watchers)
    watchers = Json::array(*account.watchers, [&](std::int64_t session) {
      return session_address_json(session, words);
    });
  return path_json(account.path)
      .set("wholePath", account.whole)
      .set("kind", account.kind)
      .set("ownerSession", account.owner ? account_json(*account.owner) : Json())
      .set("ephemeralsBelow", std::move(below))
      .set("watchers", std::move(watchers));
}

struct Args {
  std::optional<std::string> target;
  std::optional<std::string> timeout;
};

void declare(Options& o, Args& a) {
  o.node("path|session", a.target,
         "A node, or a session ID such as 0x100000abc; by default this shell's session.");
  declare_patience(o, a.timeout, "5s");
}

/// Limit for each list on a terminal.
constexpr std::size_t most_on_a_screen = 20;

std::optional<std::int64_t> session_in(const std::string& text) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto id = number_in<std::uint64_t>(std::string_view(text).substr(2), 16);
  if (!id || *id == 0)
    throw ValueError(text + ": a session ID is 0x and up to 16 hexadecimal digits");
  return static_cast<std::int64_t>(*id);
}

/// Escapes everything but the tabs between fields.
std::string shown_fields(const Context& cx, std::string_view line) {
  std::string text;
  for (;;) {
    const auto tab = line.find('\t');
    text += cx.out.shown(line.substr(0, tab));
    if (tab == std::string_view::npos) return text;
    text += '\t';
    line.remove_prefix(tab + 1);
  }
}

/// Prints what is known of a session or a node in the output format.
template <class Account, class... More>
void show(Context& cx, const Account& account, const More&... more) {
  if (cx.out.json()) return print_json(cx, account_json(account, more...));
  if (cx.out.plain()) {
    for (const auto& line : account_fields(account, more...))
      cx.out.line("{}", shown_fields(cx, line));
    return;
  }
  const AccountStyle style{.most = cx.out.style().out_is_terminal ? most_on_a_screen : 0,
                           .now = wall_clock_now(),
                           .own = cx.client.session_id()};
  auto lines = account_lines(account, more..., style);
  for (auto& line : lines) line = cx.out.shown_lines(std::move(line));
  cx.out.lines(lines);
}

SessionSurvey ask(Context& cx, const Args& a) {
  return SessionSurvey(servers_to_ask(cx), {"cons", "dump", "wchc"},
                       patience_of(a.timeout, std::chrono::seconds(5)), cx.stop);
}

int finish(Context& cx, const SessionSurvey& words) {
  for (const auto& failure : words.failures())
    cx.out.err_line("{}", cx.out.shown_in_error(failure));
  if (!words.any_answered()) return status::no_connection;
  return words.failures().empty() ? status::ok : status::failure;
}

int run_session(Context& cx, const Args& a, std::int64_t session) {
  const auto words = ask(cx, a);
  const auto account = account_of(words, session);
  show(cx, account);
  const int result = finish(cx, words);
  if (result == status::ok && account.alive && !*account.alive) return status::failure;
  return result;
}

int run_node(Context& cx, const Args& a) {
  const auto path = cx.resolve(*a.target);
  const auto stat = cx.client.exists(path, Watch::none(), cx.stop);
  if (!stat) throw ZkError(code::no_node, path);
  const auto whole = whole_path(parse_connect_string(cx.client.server()).chroot, path);
  const auto words = ask(cx, a);
  show(cx, account_of(words, path, whole, stat->ephemeral_owner), words);
  return finish(cx, words);
}

int run(Context& cx, const Args& a) {
  if (!a.target) {
    cx.client.await_connection("", cx.stop);
    return run_session(cx, a, cx.client.session_id());
  }
  const auto session = session_in(*a.target);
  return session ? run_session(cx, a, *session) : run_node(cx, a);
}

}  // namespace

extern const Command who_command = make_command<Args>(
    {.name = "who",
     .group = "Servers",
     .summary = "Show the client that owns a session or an ephemeral node",
     .keywords = {"session", "client", "connection", "owner"},
     .details =
         "For a session, shows its client address, the server it is connected to, its ephemerals "
         "and its watches. For an ephemeral node, shows the same of its session, and who watches "
         "the node. For any other node, shows the ephemerals below it with their sessions, and who "
         "watches it. `locks` shows more about a lock.\n\nEvery member of the ensemble is asked "
         "(cons, dump, wchc) if its 4lw.commands.whitelist allows that, or its AdminServer (see "
         "`help 4lw`); servers that do not answer are named on stderr. Paths are absolute, "
         "whatever the chroot. Servers report watches on data and existence, and recursive ones, "
         "but not those on children alone (ls -w). On a terminal, long lists are cut off.\n\n-o "
         "plain prints a line for each fact with tabs between the fields: session, ID, alive or "
         "ended, client, server, timeout in ms, connected since (ms since 1970); ephemeral, path; "
         "watch, path; node, path, kind; below, path, session, client; watcher, session, "
         "client.\n\nThe status is 1 if the session has ended or a server did not answer, and 3 if "
         "none did.",
     .examples = {{"who", "Show this session."},
                  {"who /app", "Show the ephemerals below a node, and who watches it."}},
     .json = "session alive client server timeout connectedSince lastRequest ephemerals watches | "
             "path wholePath kind ownerSession ephemeralsBelow watchers",
     .needs = Needs::Nothing,
     .strict = true,
     .pages = true},
    declare, run);

}  // namespace zksh::command_who
