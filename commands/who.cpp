// who: show the client of a session or an ephemeral node, and what it owns and watches.
#include "base/json.h"
#include "base/number.h"
#include "base/time.h"
#include "client/client.h"
#include "client/node_path.h"
#include "command/command.h"
#include "command/prose.h"
#include "ensemble/server_command.h"
#include "ensemble/server_poller.h"
#include "node/node_failures.h"
#include "node/node_json.h"
#include "tree/node_filter.h"
#include "tree/tree_record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

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

/// A session related to a node.
struct RelatedSession {
  std::int64_t id = 0;
  std::string client;  ///< its address; "-" if not known
  std::string path{};  ///< of its ephemeral
};

/// The sessions related to a node.
struct NodeAccount {
  std::string path;                       ///< as the user sees it
  std::string whole;                      ///< as the servers see it
  std::string kind{};                     ///< persistent, ephemeral, container, ttl
  std::optional<SessionAccount> owner{};  ///< of an ephemeral
  std::optional<std::vector<RelatedSession>> watchers{};
  std::optional<std::vector<RelatedSession>> below{};  ///< the owners of the ephemerals below it
};

/// Limit for each list on a terminal.
constexpr std::size_t most_on_a_screen = 20;

/// Prints a heading with the count, then the items; on a terminal perhaps not all.
template <class Item, class Text>
void print_list(Context& cx, std::string_view what, const std::optional<std::vector<Item>>& items,
                Text&& text_of) {
  if (!items) return cx.out.line("{}: unknown", what);
  cx.out.line("{}: {}", what, items->size());
  const auto shown =
      cx.out.style().out_is_terminal ? std::min(items->size(), most_on_a_screen) : items->size();
  for (std::size_t i = 0; i < shown; ++i)
    cx.out.line("  {}", cx.out.shown_lines(text_of((*items)[i])));
  if (shown < items->size()) cx.out.line("  and {} more", items->size() - shown);
}

std::string client_text(const SessionAccount& account) {
  if (!account.connection) {
    if (account.alive && !*account.alive) return "none, as there is no such session (any more)";
    return account.connections_known ? "not connected to any server that answered" : "unknown";
  }
  const auto& connection = *account.connection;
  auto text = fmt::format("{}, connected to {}", connection.address, connection.server);
  if (connection.since)
    text += fmt::format(
        " for {}", short_time(std::chrono::milliseconds(wall_clock_now() - *connection.since)));
  if (connection.timeout)
    text += ", timeout " + short_time(std::chrono::milliseconds(*connection.timeout));
  if (!connection.last_request.empty() && connection.last_request != "NA")
    text += fmt::format(", last request {}", connection.last_request);
  return text;
}

template <class Item, class Convert = std::identity>
Json list_json(const std::optional<std::vector<Item>>& items, Convert convert = {}) {
  return items ? Json::array(*items, convert) : Json();
}

Json related_json(const RelatedSession& session) {
  auto json = Json::object();
  json.set("session", session_text(session.id));
  json.set("client", session.client == "-" ? Json() : Json(session.client));
  if (!session.path.empty()) json.set("path", session.path);
  return json;
}

SessionAccount account_of(const SessionSurvey& words, std::int64_t session) {
  SessionAccount account{.session = session, .alive = words.alive(session)};
  account.connections_known = words.answered("cons");
  if (const auto found = words.connections().find(session); found != words.connections().end())
    account.connection = found->second;
  if (words.answered("dump")) {
    account.ephemerals.emplace();
    if (const auto own = words.ephemerals().find(session); own != words.ephemerals().end())
      account.ephemerals->assign(own->second.begin(), own->second.end());
  }
  if (words.answered("wchc")) {
    std::set<std::string_view> paths;
    for (const auto& each : words.watches())
      if (each.session == session) paths.insert(each.paths.begin(), each.paths.end());
    account.watches.emplace(paths.begin(), paths.end());
  }
  return account;
}

NodeAccount account_of(const SessionSurvey& words, const std::string& path,
                       const std::string& whole, const Stat& stat) {
  const auto life = life_of(stat);
  NodeAccount account{.path = path, .whole = whole};
  account.kind = life.kind == NodeKind::Ttl ? "ttl" : life_text(life);
  if (life.kind == NodeKind::Ephemeral) account.owner = account_of(words, stat.ephemeral_owner);
  if (words.answered("wchc")) {
    std::set<std::int64_t> sessions;
    for (const auto& each : words.watches())
      if (std::ranges::binary_search(each.paths, std::string_view(whole)))
        sessions.insert(each.session);
    account.watchers.emplace();
    for (const auto session : sessions)
      account.watchers->push_back({session, words.address_of(session)});
  }
  if (account.owner || !words.answered("dump")) return account;
  account.below.emplace();
  for (const auto& [session, paths] : words.ephemerals())
    for (const auto each : paths)
      if (each != whole && is_within(each, whole))
        account.below->push_back({session, words.address_of(session), std::string(each)});
  std::ranges::stable_sort(*account.below, {}, &RelatedSession::path);
  return account;
}

std::string name_of_session(const Context& cx, const SessionAccount& account) {
  return fmt::format("session {}{}", session_text(account.session),
                     account.session == cx.client.session_id() ? " (this one)" : "");
}

void print_details(Context& cx, const SessionAccount& account) {
  print_prose(cx.out, "client: {}", cx.out.shown_lines(client_text(account)));
  print_list(cx, "ephemerals", account.ephemerals, std::identity{});
  print_list(cx, "watches", account.watches, std::identity{});
}

void print_text(Context& cx, const SessionAccount& account) {
  cx.out.line("{}", name_of_session(cx, account));
  print_details(cx, account);
}

void print_text(Context& cx, const NodeAccount& account) {
  const auto path = cx.out.shown_lines(account.path);
  if (account.owner) {
    print_prose(cx.out, "{} is an ephemeral node of {}:", path,
                name_of_session(cx, *account.owner));
    print_details(cx, *account.owner);
  } else {
    print_prose(cx.out, "{} is not ephemeral ({}): no session owns it", path, account.kind);
    print_list(cx, "ephemerals below it", account.below, [](const RelatedSession& each) {
      return fmt::format("{}  of {}  {}", each.path, session_text(each.id), each.client);
    });
  }
  print_list(cx, "watched by", account.watchers, [](const RelatedSession& each) {
    return fmt::format("{}  {}", session_text(each.id), each.client);
  });
}

/// Prints a fact on one line, with tabs between the fields.
void print_fact(Context& cx, std::vector<std::string> fields) {
  for (auto& field : fields) field = cx.out.shown(field);
  cx.out.line("{}", fmt::join(fields, "\t"));
}

void print_facts(Context& cx, const SessionAccount& account) {
  const auto& at = account.connection;
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : "-";
  };
  print_fact(cx,
             {"session", session_text(account.session),
              account.alive ? (*account.alive ? "alive" : "ended") : "-", at ? at->address : "-",
              at ? at->server : "-", at ? number(at->timeout) : "-", at ? number(at->since) : "-"});
  if (account.ephemerals)
    for (const auto& path : *account.ephemerals) print_fact(cx, {"ephemeral", path});
  if (account.watches)
    for (const auto& path : *account.watches) print_fact(cx, {"watch", path});
}

void print_facts(Context& cx, const NodeAccount& account) {
  print_fact(cx, {"node", account.path, account.kind});
  if (account.owner) print_facts(cx, *account.owner);
  if (account.below)
    for (const auto& each : *account.below)
      print_fact(cx, {"below", each.path, session_text(each.id), each.client});
  if (account.watchers)
    for (const auto& each : *account.watchers)
      print_fact(cx, {"watcher", session_text(each.id), each.client});
}

Json json_of(const SessionAccount& account) {
  const auto& at = account.connection;
  auto json = Json::object();
  json.set("session", session_text(account.session)).set("alive", account.alive);
  json.set("client", at ? Json(at->address) : Json());
  json.set("server", at ? Json(at->server) : Json());
  json.set("timeout", at ? Json(at->timeout) : Json());
  json.set_time("connectedSince", at ? at->since : std::nullopt);
  json.set("lastRequest", at ? Json(at->last_request) : Json());
  json.set("ephemerals", list_json(account.ephemerals));
  json.set("watches", list_json(account.watches));
  return json;
}

Json json_of(const NodeAccount& account) {
  return path_json(account.path)
      .set("wholePath", account.whole)
      .set("kind", account.kind)
      .set("ownerSession", account.owner ? json_of(*account.owner) : Json())
      .set("ephemeralsBelow", list_json(account.below, related_json))
      .set("watchers", list_json(account.watchers, related_json));
}

struct Args {
  std::vector<std::string> targets;
  Patience patience{std::chrono::seconds(5)};
};

void declare(Options& o, Args& a) {
  o.nodes("path|session", a.targets,
          "Nodes, or session IDs such as 0x100000abc; by default this shell's session.", false);
  a.patience.declare(o);
}

int run(Context& cx, const Args& a) {
  std::vector<std::variant<std::int64_t, std::string>> targets;  // sessions and paths
  if (a.targets.empty()) {
    cx.client.await_connection("", cx.stop);
    targets.emplace_back(cx.client.session_id());
  }
  for (const auto& word : a.targets)
    if (word.starts_with("0x"))
      targets.emplace_back(parse_session_id(word, "who"));
    else
      for (auto& path : cx.resolve_all({word})) targets.emplace_back(std::move(path));
  // The servers are asked once, when it is known that there is something to ask.
  std::optional<SessionSurvey> survey;
  const auto words = [&]() -> const SessionSurvey& {
    if (!survey)
      survey.emplace(servers_to_ask(cx), std::vector<std::string>{"cons", "dump", "wchc"},
                     a.patience.time(), cx.stop);
    return *survey;
  };
  bool first = true;
  const auto print = [&](const auto& account) {
    if (!std::exchange(first, false) && cx.out.text()) cx.out.line("");
    if (cx.out.json())
      print_json(cx, json_of(account));
    else if (cx.out.plain())
      print_facts(cx, account);
    else
      print_text(cx, account);
  };
  NodeFailures failures(cx);
  for (const auto& target : targets) {
    const auto report = [&] {
      if (const auto* const session = std::get_if<std::int64_t>(&target)) {
        const auto account = account_of(words(), *session);
        print(account);
        if (account.alive == false) failures.note(status::failure);
        return;
      }
      const auto& path = std::get<std::string>(target);
      const auto stat = cx.client.exists(path, Watch::none(), cx.stop);
      if (!stat) throw ZkError(code::no_node, path);
      const auto whole = whole_path(parse_connect_string(cx.client.server()).chroot, path);
      print(account_of(words(), path, whole, *stat));
    };
    if (targets.size() > 1)
      failures.during(report);
    else
      report();
  }
  const int unanswered = survey ? report_failures(cx, *survey) : status::ok;
  return unanswered == status::ok ? failures.first() : unanswered;
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
         "ended (there is none), client, server, timeout in ms, connected since (ms since 1970); "
         "ephemeral, path; watch, path; node, path, kind; below, path, session, client; watcher, "
         "session, client.\n\nThe status is 1 if there is no such session or a server did not "
         "answer, and 3 if none did.",
     .examples = {{"who", "Show this session."},
                  {"who /app", "Show the ephemerals below a node, and who watches it."},
                  {"who /zookeeper/*", "Show the same of several nodes."}},
     .json = "session alive client server timeout connectedSince lastRequest ephemerals watches | "
             "path wholePath kind ownerSession ephemeralsBelow watchers",
     .json_fields = {{"ephemeralsBelow", "list of Ephemeral?", "The ephemeral nodes below."},
                     {"ownerSession", "Session?", "The session that an ephemeral node belongs to."},
                     {"watchers", "list of Watcher?", "Who watches the node."},
                     {"wholePath", "string", "The path with the chroot."}},
     .needs = Needs::Nothing,
     .pages = true},
    declare, run);

}  // namespace zksh::command_who
