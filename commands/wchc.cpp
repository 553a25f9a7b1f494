// wchc: show which session watches what, on every server.
#include "base/column_table.h"
#include "base/mapped.h"
#include "base/number.h"
#include "base/text.h"
#include "client/client.h"
#include "client/node_path.h"
#include "command/command.h"
#include "command/screen.h"
#include "ensemble/server_command.h"
#include "ensemble/server_poller.h"
#include "node/node_json.h"
#include "tree/tree_record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

namespace zksh::command_wchc {
namespace {

struct Args {
  bool by_path = false;
  std::optional<std::string> under;
  Patience patience{std::chrono::seconds(5)};
};

void declare(Options& o, Args& a) {
  o.flag("-p,--by-path", a.by_path, "Print a line for each watched node instead of each session.");
  o.node("path", a.under, "Only watches at and below this node.");
  a.patience.declare(o);
}

/// The most items in a cell on a terminal; the count beside it has the total.
constexpr std::size_t shown_in_a_cell = 3;
constexpr std::size_t least_item = 12;

/// A row of the table.
struct Row {
  std::int64_t session = 0;  ///< if by session
  std::string server{};
  std::string_view path{};          ///< if by path
  std::vector<std::string> what{};  ///< paths, or sessions
};

std::vector<Row> rows_by_session(const SessionSurvey& words, const std::string& under) {
  std::vector<Row> rows;
  for (const auto& each : words.watches()) {
    Row row{.session = each.session, .server = each.server};
    for (const auto path : each.paths)
      if (is_within(path, under)) row.what.emplace_back(path);
    if (!row.what.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> rows_by_path(const SessionSurvey& words, const std::string& under) {
  std::map<std::string_view, std::vector<std::string>> sessions;
  for (const auto& each : words.watches())
    for (const auto path : each.paths)
      if (is_within(path, under)) sessions[path].push_back(session_text(each.session));
  std::vector<Row> rows;
  rows.reserve(sessions.size());
  for (auto& [path, who] : sessions) rows.push_back({.path = path, .what = std::move(who)});
  return rows;
}

/// The items, escaped; if `columns` is not 0, only as many as fit, at least one, and the number of
/// the others.
std::string listed(const std::vector<std::string>& items, std::size_t columns,
                   const std::string& mark) {
  if (columns == 0) return escape_for_terminal(fmt::format("{}", fmt::join(items, ", ")));
  std::string text;
  for (std::size_t count = std::min(shown_in_a_cell, items.size()); count > 0; --count) {
    const auto left = items.size() - count;
    auto more = left > 0 ? fmt::format(", and {} more", left) : "";
    text = escape_for_terminal(fmt::format("{}", fmt::join(std::span(items).first(count), ", ")));
    auto room = columns - std::min(columns, more.size());
    if (count == 1 && room < least_item) {  // the column before has the count
      room = columns;
      more.clear();
    }
    text = count == 1 ? cut_middle(text, room, mark) : with_short_guids(text, mark);
    text += more;
    if (text_width(text) <= columns) break;
  }
  return text;
}

class WatchTable {
  /// A contender's name with a short guid; or a session, and how many more there are.
  static constexpr std::size_t least_list = 28;

 public:
  WatchTable(const SessionSurvey& words, const std::vector<Row>& rows, bool by_path) : rows_(rows) {
    if (by_path) {
      add("watches", true, [](const Row& row) { return std::to_string(row.what.size()); });
      path_ = add("path", false, [](const Row& row) { return std::string(row.path); });
      what_ = table_.add("sessions", false, rows, [](const Row&) { return std::string(); });
    } else {
      add("session", false, [](const Row& row) { return session_text(row.session); });
      client_ = add("client", false, [&](const Row& row) { return words.address_of(row.session); });
      server_ = add("server", false, [](const Row& row) { return row.server; });
      add("watches", true, [](const Row& row) { return std::to_string(row.what.size()); });
      what_ = table_.add("paths", false, rows, [](const Row&) { return std::string(); });
    }
  }

  /// `columns`: of the terminal; 0: no limit.
  std::vector<std::string> lines(std::size_t columns, const std::string& mark) {
    const auto list_in = [&](std::size_t room) {
      table_.replace_cells(
          what_, mapped(rows_, [&](const Row& row) { return listed(row.what, room, mark); }));
    };
    if (columns > 0) {
      if (path_) shorten_paths(columns, mark);
      for (const auto column : {server_, client_})
        if (column && room_for_list(columns) < least_list) table_.drop(*column);
      list_in(room_for_list(columns));
    } else {
      list_in(0);
    }
    table_.set_elastic(what_);
    return table_.lines(columns, mark);
  }

 private:
  template <class TextOf>
  std::size_t add(const char* title, bool right, TextOf&& text_of) {
    return table_.add(title, right, rows_,
                      [&](const Row& row) { return escape_for_terminal(text_of(row)); });
  }
  /// The list keeps room for an item and the number of others.
  void shorten_paths(std::size_t columns, const std::string& mark) {
    std::size_t list = 0;
    for (const auto& row : rows_)
      list = std::max(list, text_width(listed(row.what, least_list, mark)));
    table_.replace_cells(*path_, std::vector<std::string>(rows_.size()));
    const auto room = room_for_list(columns);
    const auto most = room - std::min(room, list);
    table_.replace_cells(*path_, mapped(rows_, [&](const Row& row) {
      return cut_middle(escape_for_terminal(row.path), most, mark);
    }));
  }
  std::size_t room_for_list(std::size_t columns) const {
    const auto title = text_width(path_ ? "sessions" : "paths");
    const auto others = table_.width(std::string::npos) - title;
    return columns - std::min(columns - 1, others);
  }

  const std::vector<Row>& rows_;
  ColumnTable table_{};
  std::optional<std::size_t> path_{}, client_{}, server_{};  ///< columns
  std::size_t what_ = 0;
};

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
  const SessionSurvey words(servers_to_ask(cx), {"wchc", "cons"}, a.patience.time(), cx.stop);
  auto rows = a.by_path ? rows_by_path(words, under) : rows_by_session(words, under);
  std::ranges::stable_sort(
      rows, [](const Row& one, const Row& other) { return one.what.size() > other.what.size(); });
  if (cx.out.json())
    print_json_rows(cx, words, rows, a.by_path);
  else if (cx.out.plain())
    print_plain(cx, words, rows, a.by_path);
  else if (!rows.empty())
    cx.out.lines(WatchTable(words, rows, a.by_path).lines(result_columns(cx.out), cut_mark()));
  const int result = report_failures(cx, words);
  if (rows.empty() && cx.out.text() && result == status::ok)
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
     .pages = true},
    declare, run);
}  // namespace zksh::command_wchc
