// watch: print the changes of nodes until Ctrl-C.
#include "base/monitor.h"
#include "base/process.h"
#include "base/time.h"
#include "client/change_stream.h"
#include "command/command.h"
#include "command/output.h"
#include "command/screen.h"
#include "node/change_text.h"
#include "tree/walk.h"

namespace zksh::command_watch {
namespace {

struct Args {
  bool recursive = false;
  bool data = false;
  bool initial = false;
  std::optional<std::int64_t> count;
  std::optional<std::string> timeout;
  std::optional<std::string> program;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-R,--recursive", a.recursive, "Also watch everything below the nodes.");
  o.flag("-d,--data", a.data, "Show the old and the new value.");
  o.flag("-i,--initial", a.initial, "First show the existing nodes, as \"present\" events.");
  o.number("-n,--count", a.count, "number", "Stop after this many events.");
  o.text("-t,--timeout", a.timeout,
         "Stop after this time (500ms, 5s, 2m), with status 124; 0: when it has looked once.",
         "time");
  o.text("-x,--exec", a.program, "Run this with sh -c for each event, one at a time.", "command");
  o.nodes("path", a.paths, "The nodes; they need not exist.");
}

/// The state of a running watch.
struct Progress {
  bool ascii = false;
  std::int64_t left = 0;  ///< number of events left to print
  bool failed = false;    ///< a program failed
};

void run_program(Context& cx, const Args& a, const NodeChange& change, Progress& progress) {
  const int result = run_piped(cx.monitor(),
                               {.words = {"/bin/sh", "-c", *a.program},
                                .environment = change_environment(change),
                                .input = change_json(change).text() + '\n',
                                .out = [&](std::string_view bytes) { cx.out.out(bytes); },
                                .err = [&](std::string_view bytes) { cx.out.err(bytes); }},
                               cx.stop);
  if (result == status::ok) return;
  progress.failed = true;
  cx.out.err_line("{}: status {}, for {} {}", cx.out.shown_in_error(*a.program), result,
                  change_name(change.type), cx.out.shown_in_error(change.path));
}

/// Prints changes; returns whether to continue.
bool print(Context& cx, const Args& a, const std::vector<NodeChange>& changes, Progress& progress) {
  ResultLines lines(cx.out);
  for (const auto& change : changes) {
    lines.add_result([&] { return change_json(change); },
                     [&] {
                       return cx.out.plain() ? plain_change(change)
                                             : change_line(change, progress.ascii);
                     });
    const bool last = a.count && --progress.left == 0;
    if (a.program || last) lines.flush();
    if (a.program) run_program(cx, a, change, progress);
    if (last) return false;
  }
  lines.flush();
  return true;
}

void warn(Context& cx, ChangeStream& stream) {
  const auto unlistable = stream.take_unlistable();
  if (unlistable.empty()) return;
  cx.out.err_line("no permission to list {}{}: nodes created below are not seen",
                  cx.out.shown_in_error(unlistable.front()),
                  unlistable.size() > 1 ? fmt::format(" and {} more", unlistable.size() - 1) : "");
}

/// Tells a person that it is waiting.
void announce(Context& cx, const Args& a) {
  if (cx.input != Input::Terminal || cx.background || !cx.out.style().err_is_terminal) return;
  cx.out.err_line("watching {}{}; press Ctrl-C to stop",
                  a.paths.size() == 1 ? cx.out.shown_in_error(a.paths.front())
                                      : fmt::format("{} nodes", a.paths.size()),
                  a.recursive ? " and everything below" : "");
}

/// `once`: returns after the first look. Returns whether it has printed all that it was to print.
bool follow(Context& cx, const Args& a, ChangeStream& stream, Progress& progress, bool once,
            const std::stop_token& stop) {
  const auto present = stream.begin(stop);
  warn(cx, stream);
  if (!a.program) cx.allow_move();
  announce(cx, a);  // who has read it may press Ctrl-Z
  bool more = !a.initial || print(cx, a, present, progress);
  while (more && !once) {
    const auto changes = stream.next(stop);
    warn(cx, stream);
    more = print(cx, a, changes, progress);
  }
  return !more;
}

int run(Context& cx, const Args& a) {
  if (a.count && *a.count < 1) throw ValueError("--count must be at least 1");
  // A program that pipes commands waits until all of them have ended.
  if (cx.input == Input::Pipe && !a.count && !a.timeout)
    throw ValueError(
        "watch would never end, and the piped lines after it not be run; use --count or --timeout, "
        "or `zksh watch`");
  ChangeStream::Options options{
      .recursive = a.recursive, .values = a.data, .initial = a.initial, .survey = survey_subtree};
  options.paths = cx.resolve_all(a.paths);
  const auto time =
      a.timeout ? std::optional(parse_duration(*a.timeout, "--timeout")) : std::nullopt;
  const bool once = time && time->count() == 0;
  ChangeStream stream(cx.client, std::move(options));
  Progress progress{.ascii = !terminal_shows_utf8(), .left = a.count.value_or(0)};
  bool is_done = false;
  in_time(cx.monitor(), once ? std::nullopt : time, cx.stop, [&](const std::stop_token& stop) {
    is_done = follow(cx, a, stream, progress, once, stop);
  });
  return progress.failed ? status::failure : is_done ? status::ok : status::timed_out;
}

}  // namespace

extern const Command watch_command = make_command<Args>(
    {.name = "watch",
     .group = "Watches",
     .summary = "Print changes of nodes as they happen",
     .keywords = {"follow", "monitor", "event", "notify", "subscribe", "tail", "recursive"},
     .details =
         "Prints a line for each event until Ctrl-C: created, changed, deleted, and children (the "
         "list of children has changed) with the added (+) and removed (-) names. -R watches "
         "everything below instead of the list of children. -d shows values, and keeps all of them "
         "in memory.\n\n-R needs a server of 3.6 or later, which reports each change as it "
         "happens. The node is then read, so the version and the other details may be those of a "
         "later write, and are missing where it is gone by then; without -d, the version before is "
         "not known. For single nodes, ordinary watches are set again after each event. There, and "
         "with -d, several quick writes may show as one event (the version tells how many there "
         "were), and a node that came and went between two reads is reported without details. -R "
         "-d fails when the values take more than 1 GiB of memory.\n\nAfter a lost connection or "
         "an expired session the nodes are read again: a \"gap\" event comes first, then the "
         "missed changes. With -R and without -d, a \"children\" event without names says below "
         "which node something was deleted, and if the servers were restored meanwhile, all that "
         "they have is reported as created.\n\nOn piped input it needs --count or --timeout.\n\n-x "
         "runs a program for each event. It gets the event as a line of JSON on standard input, "
         "and in its environment: ZKSH_EVENT_TYPE, ZKSH_EVENT_PATH, ZKSH_EVENT_TIME, "
         "ZKSH_EVENT_ZXID, ZKSH_EVENT_VERSION, ZKSH_EVENT_EPHEMERAL and ZKSH_EVENT_MISSED (0 or "
         "1); with -d also ZKSH_EVENT_OLD and ZKSH_EVENT_NEW (values up to 64 KiB without NUL "
         "bytes). Unknown values are empty. If a program fails, zksh reports it on stderr and goes "
         "on.\n\nThe status is 0 when --count is reached, 124 when the time is up, and 130 after "
         "Ctrl-C; in the first two cases it is 1 if a program failed.\n\n-o plain prints fields "
         "separated by tabs, with a dash for an empty one: time (milliseconds since 1970), type, "
         "path, zxid (0x…), version, ephemeral owner (0x0: none), missed (0 or 1), old value, new "
         "value, added children, removed children. Control characters, backslashes, and commas in "
         "children's names are escaped; a null value is \\N.",
     .examples = {{"watch --initial --count 1 /app",
                   "Show the node, then stop. Without --count it continues until Ctrl-C."},
                  {"watch -R -d -i -n 3 -o json /app",
                   "Watch a subtree with its values, for scripts."},
                  {"watch -i -n 1 -x 'echo $ZKSH_EVENT_TYPE $ZKSH_EVENT_PATH' /app",
                   "Run a program for each event."}},
     .json = "time type path missed zxid version [oldVersion] ephemeralOwner dataLength "
             "[childrenAdded] [childrenRemoved] [old] [new] | time type reason since",
     .json_fields = {{"childrenAdded", "list of string", "Children that were added."},
                     {"childrenRemoved", "list of string", "Children that were removed."},
                     {"missed", "boolean", "The change happened while there was no connection."},
                     {"new", "data", "The value after the change."},
                     {"old", "data", "The value before the change."},
                     {"oldVersion", "integer?", "The version before the change."}}},
    declare, run);
}  // namespace zksh::command_watch
