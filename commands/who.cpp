// who: show the client behind a session or an ephemeral node, and what it owns and watches.
#include "base/time.h"
#include "command/command.h"
#include "command/live_picture.h"
#include "ensemble/server_command.h"
#include "ensemble/who_account.h"
#include "node/node_json.h"

#include <charconv>
#include <system_error>

namespace zksh::command_who {
namespace {

struct Args {
  std::optional<std::string> target;
  std::optional<std::string> timeout;
  std::optional<Format> output;
};

void declare(Options& o, Args& a) {
  o.node(
      "path|session", a.target,
      "A node; or a session as servers write it, 0x100000abc. Without it, this shell's session.");
  declare_patience(o, a.timeout, "5s");
  declare_format(o, a.output, "text");
}

/// On a terminal, of each list.
constexpr std::size_t most_on_a_screen = 20;

std::optional<std::int64_t> session_in(const std::string& text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t id = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data() + 2, end, id, 16);
  if (problem != std::errc() || stop != end || id == 0)
    throw ValueError(text + ": a session is 0x and up to 16 hexadecimal digits");
  return static_cast<std::int64_t>(id);
}

void print(Context& cx, const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += cx.out.shown_lines(line) + '\n';
  cx.out.out(text);
}

/// Tabs stand between the fields; all else is untrusted.
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

/// The account of a session or of a node, in the form that is wanted.
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
  print(cx, account_lines(account, more..., style));
}

SessionSurvey ask(Context& cx, const Args& a) {
  return SessionSurvey(asked_servers(cx), {"cons", "dump", "wchc"},
                       patience_of(a.timeout, std::chrono::seconds(5)), cx.stop);
}

int finish(Context& cx, const SessionSurvey& words) {
  for (const auto& untold : words.untold()) cx.out.err_line("{}", cx.out.shown_in_error(untold));
  if (!words.heard()) return status::no_connection;
  return words.untold().empty() ? status::ok : status::failure;
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
  if (a.output) cx.out.set_format(*a.output);
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
     .summary = "Show the client behind a session or an ephemeral",
     .keywords = {"session", "client", "connection", "owner"},
     .details = "Of a session: its client's address, the server that it is connected to, its "
                "ephemerals and what it watches. Of an ephemeral node: the same of the session "
                "that owns it, and who watches the node. Of another node: the ephemerals below it "
                "with their owners, and who watches it; `locks` tells more of a lock.\n\n"
                "Every member of the ensemble is asked (cons, dump, wchc), where its "
                "4lw.commands.whitelist allows that, else its AdminServer (see `help 4lw`); zksh "
                "says on stderr which server did not answer. No session is needed for one that is "
                "named. Paths are whole, as the servers tell them, whatever the chroot. On a "
                "terminal, of a long list only the first are shown.\n\n"
                "Servers tell the watches of a node's data and existence, and recursive ones, but "
                "not those of its children alone (ls -w).\n\n"
                "-o plain: a line for each fact, its fields separated by tabs: session, id, alive "
                "or ended, client, server, timeout in ms, connected since (ms since 1970); "
                "ephemeral, path; watch, path; node, path, kind; below, path, session, client; "
                "watcher, session, client. -o json: one object: session, alive, client, server, "
                "timeout_ms, connected_since, last_request, ephemerals, watches; of a node: path, "
                "whole_path, kind (persistent, ephemeral, container, ttl), owner (such an object), "
                "ephemerals_below, watchers. What is not told is null.\n\n"
                "Status 1 when the session has ended or a server did not tell, 3 when none did.",
     .examples = {{"who", "This session."},
                  {"who /app", "Who has ephemerals below a node, and who watches it."}},
     .needs = Needs::Nothing,
     .strict = true,
     .pages = true},
    declare, run);
}  // namespace zksh::command_who
