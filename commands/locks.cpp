// locks: show who holds a lock and who waits for it.
#include "base/time.h"
#include "base/words.h"
#include "client/client.h"
#include "command/command.h"
#include "command/record.h"
#include "command/screen.h"
#include "command/work.h"
#include "lock/manager.h"
#include "lock/picture.h"
#include "lock/text.h"
#include "lock/viewer.h"
#include "node/node_failures.h"
#include "node/node_json.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace zksh::command_locks {
namespace {

struct Args {
  bool recursive = false;
  bool watch = false;
  bool watchers = false;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-r,-R,--recursive", a.recursive, "List all locks below the path, one a line.");
  o.flag("-w,--watch", a.watch, "Update the view on every change, until q or Ctrl-C.");
  o.flag("--watchers", a.watchers,
         "Ask the servers who watches whom (wchp), however many watches they have.");
  o.nodes("path", a.paths,
          "The locks, or with -r the tops of the subtrees; at a terminal also a node with locks "
          "below it.",
          false);
}

/// How often to redraw if nothing changes: ages advance, and the terminal may have been resized.
constexpr std::chrono::seconds between_drawings{1};

PictureStyle style_of(const Context& cx) {
  PictureStyle style{.ascii = !terminal_shows_utf8(), .now = wall_clock_now()};
  if (cx.out.style().out_is_terminal) {
    style.columns = terminal_size().columns;
    style.ascii = style.ascii || !terminal_can_redraw();
  }
  return style;
}

void print(Context& cx, const LockView& view, const PictureStyle& style) {
  if (cx.out.json())
    print_json(cx, lock_json(view, style));
  else
    cx.out.lines(cx.out.plain() ? plain_lock(view) : lock_picture(view, style));
}

/// Prints what is missing, and warnings that plain output does not contain, to stderr.
void warn(Context& cx, const LockView& view) {
  for (const auto& server : view.account.silent)
    cx.out.err_line("{} has not answered in time; addresses and watches may be missing",
                    cx.out.shown_in_error(server));
  if (!view.account.no_watchers.empty())
    cx.out.err_line("watchers are derived from the lock recipe: {}",
                    cx.out.shown_in_error(view.account.no_watchers));
  if (!cx.out.plain()) return;
  for (const auto& deadlock : view.deadlocks) cx.out.err_line("{}", deadlock_text(deadlock));
  for (const auto& flaw : view.flaws) cx.out.err_line("warning: {}", cx.out.shown_in_error(flaw));
}

/// Redraws the picture until something changes, or until Ctrl-Z moved the command to the
/// background.
void draw_until_changed(Context& cx, LivePicture& picture, LockViewer& viewer,
                        const LockView& view) {
  do {
    if (cx.was_suspended()) continue;  // the prompt is there now
    // Without a connection the state is not known, so ages stand still.
    if (!is_connected(cx.client.current_state())) continue;
    auto style = style_of(cx);
    style.lines = LivePicture::room();
    picture.draw(lock_picture(view, style));
  } while (!viewer.await_change(cx.stop, Clock::now() + between_drawings));
}

int show_live(Context& cx, const std::string& path, const Args& a) {
  LockViewer viewer(cx, path, true, a.watchers);
  LivePicture picture(cx.out);
  const bool in_place = LivePicture::possible(cx.out, cx.background);
  cx.allow_move();
  for (bool first = true;; first = false) {
    const auto view = viewer.look(cx.stop);
    if (first) warn(cx, view);
    if (in_place && !cx.was_suspended()) {
      draw_until_changed(cx, picture, viewer, view);
      continue;
    }
    if (!first && !cx.out.json()) cx.out.line("");
    print(cx, view, style_of(cx));
    viewer.await_change(cx.stop);
  }
}

std::string holder_text(const LockView& view) {
  if (view.kind == "semaphore")
    return view.limit ? fmt::format("{} of {}", leases_taken(view), *view.limit)
                      : fmt::format("{}", leases_taken(view));
  const auto holders = std::ranges::count(view.seats, SeatState::Holds, &Seat::state);
  if (holders > 1) return fmt::format("{} readers", holders);
  const auto holder = std::ranges::find(view.seats, SeatState::Holds, &Seat::state);
  return holders == 0 ? "-" : escape_for_terminal(short_owner(holder->owner));
}

std::size_t waiting(const LockView& view) {
  return static_cast<std::size_t>(std::ranges::count_if(
      view.seats, [](const Seat& seat) { return seat.state != SeatState::Holds; }));
}

Record<LockView> found_record() {
  constexpr std::size_t least = 20;
  return {
      {{}, [](const LockView& view) { return escape_for_terminal(view.path); }},
      {{},
       [](const LockView& view) { return as_word(view.path); },
       {.title = "path", .plain = false, .least_width = least, .cut = ColumnTable::Cut::Middle}},
      {{}, &LockView::kind, {.title = "kind", .gives_way = 1}},
      {{}, waiting, {.title = "waiting", .right = true}},
      {{}, holder_text, {.title = "held by", .least_width = least}},
  };
}

void print_found(Context& cx, const std::vector<LockView>& locks) {
  const auto style = style_of(cx);
  if (cx.out.json()) {
    for (const auto& view : locks) print_json(cx, lock_json(view, style));
    return;
  }
  std::set<std::string> deadlocks;  // each is found at all of its locks
  for (const auto& view : locks)
    for (const auto& deadlock : view.deadlocks) deadlocks.insert(deadlock_text(deadlock));
  for (const auto& deadlock : deadlocks) cx.out.err_line("{}", deadlock);
  if (cx.out.plain())
    print_rows(cx.out, "", found_record(), locks);
  else if (!locks.empty())
    cx.out.lines(table_lines(found_record(), locks, style.columns, style.ascii ? "..." : "…"));
}

LockSearch found_below(Context& cx, const std::string& path) {
  Progress progress(cx.out, cx.background, "nodes");
  auto found = search_locks(
      cx.client, path, [&] { progress.advance(); }, cx.stop);
  progress.end();
  return found;
}

int report_found(Context& cx, const LockSearch& found) {
  print_found(cx, found.locks);
  if (found.unlistable.empty()) return status::ok;
  cx.out.err_line(
      "incomplete: no permission to list {}{}", cx.out.shown_in_error(found.unlistable.front()),
      found.unlistable.size() > 1 ? fmt::format(" and {} more", found.unlistable.size() - 1) : "");
  return status::not_authorised;
}

int search(Context& cx, const std::string& path) {
  if (!cx.client.exists(path, Watch::none(), cx.stop)) throw ZkError(code::no_node, path);
  return report_found(cx, found_below(cx, path));
}

int show(Context& cx, const std::string& path, const Args& a) {
  const auto view = LockViewer(cx, path, false, a.watchers).look(cx.stop);
  // Not a lock, but perhaps the directory of some.
  if (view.seats.empty() && !view.others.empty() && cx.input == Input::Terminal && !cx.out.json()) {
    const auto found = found_below(cx, path);
    if (!found.locks.empty()) return report_found(cx, found);
  }
  print(cx, view, style_of(cx));
  warn(cx, view);
  return status::ok;
}

/// Shows several locks, with a blank line between pictures.
template <class Show>
int show_each(Context& cx, const std::vector<std::string>& paths, Show&& show_one) {
  if (paths.size() == 1) return show_one(paths.front());
  bool first = true;
  return each_node(cx, paths, [&](const std::string& path) {
    if (!std::exchange(first, false) && cx.out.text()) cx.out.line("");
    return show_one(path);
  });
}

int show_own(Context& cx) {
  const auto locks = cx.services.locks.locks();
  const auto style = style_of(cx);
  if (cx.out.json()) {
    for (const auto& lock : locks) print_json(cx, own_lock_json(*lock));
  } else if (cx.out.plain()) {
    cx.out.lines(plain_own_locks(locks));
  } else {
    if (locks.empty()) cx.out.err_line("this shell neither holds nor waits for a lock");
    cx.out.lines(own_locks_table(locks, style.columns, style.ascii));
  }
  return status::ok;
}

int run(Context& cx, const Args& a) {
  if (a.recursive && (a.watch || a.watchers))
    throw UsageError("-r cannot be combined with -w or --watchers");
  if (a.paths.empty() && (a.recursive || a.watch || a.watchers))
    throw UsageError("-r, -w and --watchers need a path");
  if (a.paths.empty()) return show_own(cx);
  const auto paths = cx.resolve_all(a.paths);
  if (a.watch && paths.size() > 1) throw UsageError("-w needs one path");
  if (a.watch) return run_until_q(cx, [&] { return show_live(cx, paths.front(), a); });
  return show_each(cx, paths, [&](const std::string& path) {
    return a.recursive ? search(cx, path) : show(cx, path, a);
  });
}

}  // namespace

extern const Command locks_command = make_command<Args>(
    {.name = "locks",
     .group = "Locks",
     .summary = "Show who holds a lock and who is waiting for it",
     .keywords = {"queue", "holder", "contention", "deadlock"},
     .details =
         "Shows the lock's kind, and lists all contenders in queue order, those of zksh, Curator, "
         "kazoo, go-zookeeper, zoo_lock.c and WriteLock: state, mode, name, client address, "
         "session, age, fencing token (czxid of the node), and whom each waits for. Below come the "
         "chain, in which each waits for the one on its left, and warnings where different "
         "libraries do not exclude each other. HOLDS? is a contender whose library does not see "
         "the one before it. A semaphore (a node with the children `locks` and `leases`) shows its "
         "leases first. Without a path, shows the locks that this shell holds or waits for. If the "
         "client of a contender is gone, says when its session expires, where the servers tell "
         "(dump).\n\nOn a terminal, columns that do not fit are left out; -o plain and -o json "
         "have all of them. -o plain prints a line of fields separated by tabs: number, state, "
         "mode, library, session, address, creation time (milliseconds since 1970), fencing token, "
         "the number of the contender it waits for, the numbers of those that watch it, node, "
         "name; and for the locks of this shell: state, kind, tokens, session, path, nodes. Ages "
         "go by this machine's clock. Addresses (cons), dead sessions (dump) and watch events "
         "(mntr) come from the servers of the connect string, if their 4lw.commands.whitelist "
         "allows it, or from their AdminServers (see `help 4lw`); a dash means unknown.\n\nIf "
         "anybody waits, who watches whom comes from the servers, too (wchp), if all of them "
         "report it, and together have at most 10,000 watches, with -w 1,000; --watchers asks "
         "however many there are. They do not report watches on the list of contenders: \"list?\" "
         "is one that watches no other one's node, so that perhaps each change wakes it (the herd "
         "effect). \"#1?\" should watch #1, but is connected to none of the servers asked. "
         "Otherwise the column \"should watch it\", and the chain, follow from the lock recipe; "
         "waitsFor in JSON always does.\n\n-w redraws on each change; on a terminal the ages keep "
         "counting without further requests. The line below the chain counts the contenders that "
         "have left and the watch events that the servers have sent meanwhile, without those of "
         "this view; servers count events for all nodes together. A shell that holds a lock "
         "watches its own node, too, so its release fires two events, one of them for the next "
         "contender.\n\nA circle is a deadlock: sessions that each wait for a lock of the next "
         "one. zksh looks for circles when somebody waits: at this lock, at its sibling locks (at "
         "most 64 below one parent), and at the locks of this shell; with -r at all locks found. "
         "Everything that one session holds and waits for counts together, whichever thread does "
         "it.",
     .examples = {{"locks /app", "Show the queue of a lock."},
                  {"locks -r /app", "List all locks below a path."},
                  {"locks -o json /app", "For scripts."},
                  {"locks", "Show the locks of this shell."}},
     .json = "path kind limit counter contenders otherNodes warnings circles watcherSource "
             "serverWatches time changes | paths kind state ageMs token tokens session "
             "contenderNodes nested askedToRelease position contenderCount behind circle reason",
     .json_fields =
         {{"changes", "Changes?", "What has happened since -w started."},
          {"circle", "list of Link?", "The deadlock that this contender is part of."},
          {"circles", "list of Circle", "Deadlocks: circles of sessions that wait for each other."},
          {"contenderCount", "integer?", "How many contenders the lock has."},
          {"contenders", "list of Contender",
           "Who holds the lock or waits for it, in queue order."},
          {"counter", "integer?", "The number of the next sequential node."},
          {"nested", "integer",
           "How often this shell has acquired the lock that it holds (--nest)."},
          {"otherNodes", "list of string", "Children of the lock that are not contenders."},
          {"position", "integer?", "The place in the queue."},
          {"serverWatches", "integer?", "The number of watches on all servers."},
          {"warnings", "list of string", "What is wrong with the lock."},
          {"watcherSource", "string",
           "measured: the servers reported the watchers; inferred: derived from the recipe."}},
     .needs = Needs::Nothing,
     .pages = true,
     .endless = {"--watch"}},
    declare, run);

}  // namespace zksh::command_locks
