// wchc: show which session watches what, on every server.
#include "base/column_table.h"
#include "base/number.h"
#include "command/command.h"
#include "command/live_picture.h"
#include "ensemble/server_command.h"
#include "ensemble/server_poller.h"
#include "node/node_json.h"
#include "tree/tree_record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace zksh::command_wchc {
namespace {

struct Args {
  bool by_path = false;
  std::optional<std::string> under;
  std::optional<std::string> timeout;
};

void declare(Options& o, Args& a) {
  o.flag("-p,--by-path", a.by_path, "Print a line for each watched node instead of each session.");
  o.node("path", a.under, "Only watches at and below this node.");
  declare_patience(o, a.timeout, "5s");
}

/// The most items in a cell on a terminal; the count beside it has the total.
constexpr std::size_t shown_in_a_cell = 3;

/// A row of the table.
struct Row {
  std::int64_t session = 0;  ///< if by session
  std::string server{};
  std::string_view path{};          ///< if by path
  std::vector<std::string> what{};  ///< paths, or sessions
};

bool is_under(std::string_view path, std::string_view top) {
  return is_within(path, top == "/" ? "" : top);
}

std::vector<Row> rows_by_session(const SessionSurvey& words, const std::string& under) {
  std::vector<Row> rows;
  for (const auto& each : words.watches()) {
    Row row{.session = each.session, .server = each.server};
    for (const auto path : each.paths)
      if (is_under(path, under)) row.what.emplace_back(path);
    if (!row.what.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> rows_by_path(const SessionSurvey& words, const std::string& under) {
  std::map<std::string_view, std::vector<std::string>> sessions;
  for (const auto& each : words.watches())
    for (const auto path : each.paths)
      if (is_under(path, under)) sessions[path].push_back(session_text(each.session));
  std::vector<Row> rows;
  rows.reserve(sessions.size());
  for (auto& [path, who] : sessions) rows.push_back({.path = path, .what = std::move(who)});
  return rows;
}

void print_table(Context& cx, const SessionSurvey& words, const std::vector<Row>& rows,
                 bool by_path) {
  const bool terminal = cx.out.style().out_is_terminal;
  const auto listed = [&](const Row& row) {
    const auto count = terminal ? std::min(shown_in_a_cell, row.what.size()) : row.what.size();
    auto text = fmt::format(
        "{}",
        fmt::join(row.what.begin(), row.what.begin() + static_cast<std::ptrdiff_t>(count), ", "));
    if (count < row.what.size()) text += fmt::format(", and {} more", row.what.size() - count);
    return text;
  };
  ColumnTable table;
  const auto add = [&](const char* title, bool right, auto&& text_of) {
    return table.add(title, right, rows,
                     [&](const Row& row) { return escape_for_terminal(text_of(row)); });
  };
  if (by_path) {
    add("watches", true, [](const Row& row) { return std::to_string(row.what.size()); });
    add("path", false, [](const Row& row) { return std::string(row.path); });
    table.set_elastic(add("sessions", false, listed));
  } else {
    add("session", false, [](const Row& row) { return session_text(row.session); });
    add("client", false, [&](const Row& row) { return words.address_of(row.session); });
    add("server", false, [](const Row& row) { return row.server; });
    add("watches", true, [](const Row& row) { return std::to_string(row.what.size()); });
    table.set_elastic(add("paths", false, listed));
  }
  constexpr std::size_t least = 20;
  const auto columns = terminal ? std::max(terminal_size().columns, table.width(least)) : 0;
  cx.out.lines(table.lines(columns, terminal_shows_utf8() ? "…" : "..."));
}

void print_plain(Context& cx, const SessionSurvey& words, const std::vector<Row>& rows,
                 bool by_path) {
  for (const auto& row : rows)
    for (const auto& what : row.what) {
      if (by_path)
        cx.out.line("{}\t{}", cx.out.shown(row.path), what);
      else
        cx.out.line("{}\t{}\t{}\t{}", session_text(row.session),
                    cx.out.shown(words.address_of(row.session)), row.server, cx.out.shown(what));
    }
}

void print_json_rows(Context& cx, const SessionSurvey& words, const std::vector<Row>& rows,
                     bool by_path) {
  for (const auto& row : rows) {
    auto json = Json::object();
    if (by_path) {
      json.set("path", row.path);
    } else {
      const auto address = words.address_of(row.session);
      json.set("session", session_text(row.session));
      json.set("client", address == "-" ? Json() : Json(address)).set("server", row.server);
    }
    json.set("watchCount", row.what.size());
    json.set(by_path ? "sessions" : "paths", Json::array(row.what));
    print_json(cx, json);
  }
}

int run(Context& cx, const Args& a) {
  const auto connect_string = cx.client.server();
  const auto under =
      a.under ? whole_path(parse_connect_string(connect_string).chroot, cx.resolve(*a.under)) : "";
  const SessionSurvey words(servers_to_ask(cx), {"wchc", "cons"},
                            patience_of(a.timeout, std::chrono::seconds(5)), cx.stop);
  auto rows = a.by_path ? rows_by_path(words, under) : rows_by_session(words, under);
  std::ranges::stable_sort(
      rows, [](const Row& one, const Row& other) { return one.what.size() > other.what.size(); });
  if (cx.out.json())
    print_json_rows(cx, words, rows, a.by_path);
  else if (cx.out.plain())
    print_plain(cx, words, rows, a.by_path);
  else if (!rows.empty())
    print_table(cx, words, rows, a.by_path);
  const int result = report_failures(cx, words);
  if (rows.empty() && !cx.out.plain() && !cx.out.json() && result == status::ok)
    cx.out.err_line("no session watches {}",
                    under.empty() ? "anything" : cx.out.shown_in_error(under) + " or below it");
  return result;
}

}  // namespace

extern const Command wchc_command = make_command<Args>(
    {.name = "wchc",
     .group = "Servers",
     .summary = "Show the watches of all sessions",
     .keywords = {"watches"},
     .details = "Prints a line for each session: client address, server, and the watched paths, "
                "most watches first. Asks every member of the ensemble (wchc, cons) if its "
                "4lw.commands.whitelist allows that, or its AdminServer (see `help 4lw`). Paths "
                "are absolute, whatever the chroot. Servers report watches on data and existence, "
                "and recursive ones, but not those on children alone (ls -w). `4lw wchc` shows the "
                "raw answers. A server with very many watches is slow to answer.\n\nOn a terminal, "
                "long lists are cut off. -o plain prints a line for each watch with tabs between "
                "the fields: session, client, server, path; with -p, path and session.\n\nThe "
                "status is 1 if a server did not answer (named on stderr), and 3 if none did.",
     .examples = {{"wchc", "Show who watches what."},
                  {"wchc -p /app", "Show who watches /app and the nodes below it."},
                  {"wchc -o plain", "Print a line for each watch."}},
     .json = "session client server watchCount paths | path watchCount sessions",
     .needs = Needs::Nothing,
     .strict = true,
     .pages = true},
    declare, run);
}  // namespace zksh::command_wchc
