// locks: show who holds a lock and who waits for it.
#include "base/column_table.h"
#include "base/json.h"
#include "base/quoting.h"
#include "base/time.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/work_limits.h"
#include "command/command.h"
#include "command/live_picture.h"
#include "command/progress.h"
#include "config/settings.h"
#include "ensemble/server_poller.h"
#include "lock/lock_picture.h"
#include "lock/lock_reader.h"
#include "lock/lock_view.h"
#include "lock/nearby_locks.h"
#include "lock/own_locks.h"
#include "lock/wait_graph.h"
#include "tree/walk.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <set>

namespace zksh::command_locks {
namespace {

using namespace std::chrono_literals;

// Fast enough for people, and slow enough for the servers if a lock changes hands all the time.
constexpr auto between_looks = 100ms;
constexpr auto sessions_stay = 10s;
// A waiter sets its watch shortly after reading the queue.
constexpr auto watch_delay = 100ms;
constexpr int watch_patience = 2;
// Servers list all watches at once. With -w they do so at every change.
constexpr std::int64_t cheap_watches = 10'000;
constexpr std::int64_t cheap_watches_each_time = 1'000;
// A deadlock may arise at other locks, which are not watched, and searching costs many reads.
constexpr auto circles_stay = 2s;
constexpr auto between_circles = 5s;

/// Reads a lock repeatedly, for its viewer. Used on one thread.
class LockViewer {
 public:
  /// `watch`: look will be called repeatedly. `watchers`: ask servers who watches what, whatever it
  /// costs.
  LockViewer(Context& cx, const std::string& path, bool watch, bool watchers)
      : client_(cx.client),
        path_(path),
        watch_(watch),
        watchers_(watchers),
        reader_(client_, path, watch),
        fiber_(client_.monitor()),
        nearby_(client_, fiber_),
        words_(client_.server(), cx.services.settings.value("admin-server")) {
    const auto own = cx.services.locks.locks();
    own_paths_ = paths_of(own);
    passing_ = occupied_nodes(own);
    changes_.since = wall_clock_now();
  }

  /// The lock's present state; kind "missing" if there is no such node. Blocks. Throws ZkError
  /// (also for a missing node, unless watched), Cancelled.
  LockView look(const std::stop_token& stop) {
    LockView view;
    view.path = path_;
    view.kind = "missing";
    if (!watch_) ask_ahead(stop);
    if (const auto reading = reader_.read(stop)) {
      for (int left = watch_patience;; --left) {
        view = view_of(*reading);
        if (left == 0 || !watchers_may_come(view)) break;
        pause(watch_delay, stop);
      }
      if (!watchers_) view.account.no_watchers.clear();
      without_watch_ = without_watch(view);
    }
    somebody_waits_ = std::ranges::any_of(view.seats, [](const LockSeat& seat) {
      return seat.state == SeatState::Waits || seat.state == SeatState::Next;
    });
    if (!somebody_waits_)
      circles_.clear();
    else if (Clock::now() - circles_looked_ > circles_stay)
      look_for_circles(stop);
    view.circles = circles_;
    if (watch_) note_changes(view);
    looked_ = Clock::now();
    return view;
  }
  /// Blocks until something has changed, and a minimum time has passed since the last look; returns
  /// false at the deadline. Throws Cancelled.
  bool await_change(const std::stop_token& stop,
                    Clock::time_point deadline = Clock::time_point::max()) {
    for (;;) {
      const auto recheck = somebody_waits_ ? circles_looked_ + between_circles : Fiber::never;
      if (reader_.await_change(stop, std::min(deadline, recheck))) break;
      if (Clock::now() >= deadline) return false;
      const auto before = circles_;
      look_for_circles(stop);
      if (circles_ != before || late_watches(stop)) return true;
    }
    if (const auto left = looked_ + between_looks - Clock::now(); left > 0ms)
      pause(std::chrono::ceil<std::chrono::milliseconds>(left), stop);
    return true;
  }
  /// The changes since the first look.
  const LockChanges& changes() const { return changes_; }

 private:
  LockView view_of(const LockReading& reading) {
    // Only a viewer that goes on has watches.
    return make_lock_view(reading, ask(reading), words_.chroot(),
                          watch_ ? client_.session_id() : 0);
  }

  /// Whether contenders that watched none of the others do so now.
  bool late_watches(const std::stop_token& stop) {
    if (without_watch_.empty()) return false;
    const auto reading = reader_.read(stop);
    return !reading || without_watch(view_of(*reading)) != without_watch_;
  }

  void look_for_circles(const std::stop_token& stop) {
    circles_looked_ = Clock::now();
    if (client_.current_state() != SessionState::Connected) return;
    auto paths = own_paths_;
    paths.insert(path_);
    std::vector<LockView> views;
    const auto read = [&]() -> Task<> { views = co_await nearby_.read(std::move(paths)); };
    run_task(fiber_, read(), stop);
    circles_ = WaitGraph(views, passing_).circles(path_);
  }

  /// Asks the servers what does not depend on the queue, while that is read.
  void ask_ahead(const std::stop_token& stop) {
    client_.await_connection(path_, stop);
    ahead_ = std::async(std::launch::async, [this] {
      return words_.ask({.sessions = true, .watches = true, .watchers = watchers_},
                        client_.round_trip());
    });
  }

  /// What ask_ahead has learnt; nullopt if it is not enough: a contender has come meanwhile.
  std::optional<ServersAccount> asked_ahead(const std::set<std::int64_t>& owners,
                                            std::int64_t most_watches) {
    if (!ahead_.valid()) return std::nullopt;
    auto account = ahead_.get();
    const auto is_known = [&](std::int64_t session) {
      return session == 0 || !account.sessions || account.sessions->contains(session);
    };
    if (!std::ranges::all_of(owners, is_known)) return std::nullopt;
    if (!watchers_) words_.add_watchers(account, most_watches);
    return account;
  }

  ServersAccount ask(const LockReading& reading) {
    std::set<std::int64_t> owners;
    for (const auto& [name, entry] : reading.entries) owners.insert(entry.stat.ephemeral_owner);
    if (reading.semaphore)
      for (const auto& [name, entry] : reading.semaphore->entries)
        owners.insert(entry.stat.ephemeral_owner);
    const auto now = Clock::now();
    const bool unknown = std::ranges::any_of(
        owners, [&](std::int64_t session) { return !asked_sessions_.contains(session); });
    asked_sessions_ = owners;
    const bool sessions =
        sessions_asked_ == Clock::time_point() || unknown || now - sessions_asked_ > sessions_stay;
    const auto most_watches = reading.entries.size() < 2 ? -1
                              : watch_                   ? cheap_watches_each_time
                                                         : cheap_watches;
    auto known = asked_ahead(owners, most_watches);
    auto account = known ? std::move(*known)
                         : words_.ask({.sessions = sessions,
                                       .watches = true,
                                       .watchers = watchers_,
                                       .watchers_up_to = most_watches,
                                       .events = watch_},
                                      client_.round_trip());
    if (sessions) {
      sessions_asked_ = now;
      of_sessions_ = account;
    }
    account.addresses = of_sessions_.addresses;
    account.all_addresses = of_sessions_.all_addresses;
    account.sessions = of_sessions_.sessions;
    if (account.watches)
      *account.watches -= std::min(*account.watches, static_cast<std::int64_t>(reader_.watches()));
    return account;
  }

  static ContenderKeys without_watch(const LockView& view) {
    ContenderKeys keys;
    if (!view.measured) return keys;
    for (const auto& seat : view.seats)
      if (seat.watches_no_node()) keys.emplace(seat.contender.key());
    return keys;
  }

  /// Whether there are contenders that have not been seen without a watch before.
  bool watchers_may_come(const LockView& view) const {
    return std::ranges::any_of(
        without_watch(view), [&](const std::string& key) { return !without_watch_.contains(key); });
  }

  void note_changes(const LockView& view) {
    ContenderKeys there;
    for (const auto& seat : view.seats) there.emplace(seat.contender.key());
    changes_.left += static_cast<std::size_t>(std::ranges::count_if(
        there_, [&](const std::string& key) { return !there.contains(key); }));
    there_ = std::move(there);
    if (!view.account.events) return;
    const auto own = reader_.events();
    if (!own_at_first_) own_at_first_ = own;
    changes_.events = {
        .deleted = view.account.events->deleted - (own.deleted - own_at_first_->deleted),
        .children = view.account.events->children - (own.children - own_at_first_->children)};
  }

  void pause(std::chrono::milliseconds time, const std::stop_token& stop) {
    client_.monitor().sleep_until(stop, Clock::now() + time);
    if (stop.stop_requested()) throw Cancelled();
  }

  Client& client_;
  std::string path_;
  bool watch_;
  bool watchers_;
  std::set<std::string> own_paths_;  ///< of this shell's locks
  std::set<std::string> passing_;    ///< see WaitGraph
  LockReader reader_;
  Fiber fiber_;
  NearbyLocks nearby_;
  std::vector<LockCircle> circles_;  ///< as last found
  Clock::time_point circles_looked_{};
  bool somebody_waits_ = false;
  ServerPoller words_;
  std::future<ServersAccount> ahead_{};  ///< uses words_; waits for its end
  Clock::time_point looked_{};
  // Sessions rarely move, so what servers report about them is cached for a while.
  Clock::time_point sessions_asked_{};
  std::set<std::int64_t> asked_sessions_;
  ServersAccount of_sessions_;   ///< as last asked
  ContenderKeys there_;          ///< keys of the contenders at the last look
  ContenderKeys without_watch_;  ///< of those that watched none of the others
  std::optional<ServersAccount::Events> own_at_first_;
  LockChanges changes_;
};

struct LockSearch {
  std::vector<LockView> locks;          ///< by path; data are read only for holders
  std::vector<std::string> unlistable;  ///< nodes whose children may not be listed
};

/// Near the server.
constexpr std::size_t searches_in_flight = 128;

/// Searches a subtree for locks. A node is a lock if it has an ephemeral child with a contender's
/// name, and a semaphore if such children are below its `locks` and `leases`. Memory is bounded by
/// the widest level and the number of contenders. Blocks; throws ZkError, Cancelled.
class Search {
 public:
  /// `visited` is called for each node.
  Search(Client& client, std::function<void()> visited, const std::stop_token& stop)
      : client_(client), visited_(std::move(visited)), stop_(stop) {}

  LockSearch find(const std::string& top) {
    const StatVisitor visitor{
        .visit =
            [&](const std::string& path, const Stat& stat) {
              visit(path, stat);
              visited_();
            },
        .unlistable = [&](const ZkError& error) { result_.unlistable.push_back(error.path()); }};
    visit_stats(client_, {top}, visitor, stop_);
    std::erase_if(parents_, [](const auto& entry) { return !entry.second.known; });
    sort_parents();
    read_owners();
    result_.locks.reserve(readings_.size());
    for (const auto& [path, reading] : readings_)
      result_.locks.push_back(make_lock_view(reading, {}, {}, 0));
    const WaitGraph graph(result_.locks);
    for (auto& lock : result_.locks) lock.circles = graph.circles(lock.path);
    return std::move(result_);
  }

 private:
  struct Parent {
    std::vector<std::string> names{};
    LockEntries entries{};
    bool known = false;  ///< at least one name is certainly a contender's
  };

  void visit(const std::string& path, const Stat& stat) {
    const std::string above(parent_path(path));
    const std::string name(base_name(path));
    if (name == "leases") above_leases_.insert(above);
    if (stat.ephemeral_owner == 0) return;
    const auto parsed = parse_lock_name(name);
    if (!parsed) return;
    auto& parent = parents_[above];
    parent.known = parent.known || parsed->tag != LockTag::Unknown;
    parent.names.push_back(name);
    parent.entries[name] = {.data = {}, .stat = stat};
  }

  /// Sorts the parents into locks and the two parts of semaphores.
  void sort_parents() {
    for (auto& [path, parent] : parents_) {
      const auto last = base_name(path);
      const std::string above(parent_path(path));
      const bool leases = last == "leases" && std::ranges::all_of(parent.names, is_lease);
      const bool queue = last == "locks" && above_leases_.contains(above);
      auto& reading = readings_[leases || queue ? above : path];
      reading.path = leases || queue ? above : path;
      if ((leases || queue) && !reading.semaphore) reading.semaphore.emplace();
      (leases ? reading.semaphore->leases : reading.names) = std::move(parent.names);
      (leases ? reading.semaphore->entries : reading.entries) = std::move(parent.entries);
    }
  }

  static bool is_lease(const std::string& name) {
    const auto parsed = parse_lock_name(name);
    return parsed && parsed->tag == LockTag::Lease;
  }

  struct Question {
    std::string path;
    LockEntry* entry;        ///< the entry that gets the data; null: the limit
    LockReading* semaphore;  ///< the semaphore that gets the limit
  };

  void read_owners() {
    std::vector<Question> questions;
    for (auto& [path, reading] : readings_) {
      if (reading.semaphore) questions.push_back({path, nullptr, &reading});
      for (const auto& seat : make_lock_view(reading, {}, {}, 0).seats) {
        if (seat.state != SeatState::Holds) continue;
        const auto& name = seat.contender.nodes.front().text;
        auto& entries = seat.lease ? reading.semaphore->entries : reading.entries;
        const auto parent = seat.lease ? join_path(path, "leases") : path;
        questions.push_back({join_path(parent, name), &entries[name], nullptr});
      }
    }
    ask_in_order(
        questions, FlightWindow(client_, {.least = searches_in_flight}).now(),
        [&](const Question& question) { return client_.start_get(question.path, Watch::none()); },
        [&](const Question& question, const Pending<Node>& pending) {
          take(question, client_.await(pending, stop_));
          return true;
        });
  }

  static void take(const Question& question, Outcome<Node> outcome) {
    if (outcome.code != code::ok && outcome.code != code::no_node && outcome.code != code::no_auth)
      throw ZkError(outcome.code, question.path);
    if (question.entry) {
      question.entry->readable = outcome.code != code::no_auth;
      question.entry->data = owner_beginning(std::move(outcome.value.data));
    } else {
      question.semaphore->semaphore->limit = semaphore_limit(outcome.value.data);
    }
  }

  Client& client_;
  std::function<void()> visited_;
  const std::stop_token& stop_;
  std::map<std::string, Parent> parents_;
  std::set<std::string> above_leases_;  ///< nodes with a child `leases`
  std::map<std::string, LockReading> readings_;
  LockSearch result_;
};

struct Args {
  bool recursive = false;
  bool watch = false;
  bool watchers = false;
  std::optional<std::string> path;
};

void declare(Options& o, Args& a) {
  o.flag("-r,-R,--recursive", a.recursive, "List all locks below the path, one a line.");
  o.flag("-w,--watch", a.watch, "Update the view on every change, until Ctrl-C.");
  o.flag("--watchers", a.watchers,
         "Ask the servers who watches whom (wchp), however many watches they have.");
  o.node("path", a.path, "The lock, or with -r the top of the subtree.");
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
    cx.out.line("{}", lock_json(view, style).text());
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
  for (const auto& circle : view.circles) cx.out.err_line("{}", circle_text(circle));
  for (const auto& flaw : view.flaws) cx.out.err_line("warning: {}", cx.out.shown_in_error(flaw));
}

int show(Context& cx, const std::string& path, const Args& a) {
  const auto view = LockViewer(cx, path, false, a.watchers).look(cx.stop);
  print(cx, view, style_of(cx));
  warn(cx, view);
  return status::ok;
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
    style.changes = viewer.changes();
    style.lines = std::max<std::size_t>(terminal_size().lines, 2) - 1;
    picture.draw(lock_picture(view, style));
  } while (!viewer.await_change(cx.stop, Clock::now() + between_drawings));
}

int show_live(Context& cx, const std::string& path, const Args& a) {
  LockViewer viewer(cx, path, true, a.watchers);
  LivePicture picture(cx.out);
  const bool in_place = cx.out.style().format == Format::Zkcli && !cx.background &&
                        cx.out.style().out_is_terminal && terminal_can_redraw();
  cx.allow_move();
  for (bool first = true;; first = false) {
    const auto view = viewer.look(cx.stop);
    if (first) warn(cx, view);
    if (in_place && !cx.was_suspended()) {
      draw_until_changed(cx, picture, viewer, view);
      continue;
    }
    if (!first && !cx.out.json()) cx.out.line("");
    auto style = style_of(cx);
    style.changes = viewer.changes();
    print(cx, view, style);
    viewer.await_change(cx.stop);
  }
}

std::string holder_text(const LockView& view) {
  std::vector<const LockSeat*> holders;
  for (const auto& seat : view.seats)
    if (seat.state == SeatState::Holds) holders.push_back(&seat);
  if (view.kind == "semaphore")
    return view.limit ? fmt::format("{} of {}", holders.size(), *view.limit)
                      : fmt::format("{}", holders.size());
  if (holders.size() > 1) return fmt::format("{} readers", holders.size());
  return holders.empty() ? "-" : escape_for_terminal(short_owner(holders.front()->owner));
}

std::size_t waiting(const LockView& view) {
  return static_cast<std::size_t>(std::ranges::count_if(
      view.seats, [](const LockSeat& seat) { return seat.state != SeatState::Holds; }));
}

void print_found(Context& cx, const std::vector<LockView>& locks) {
  const auto style = style_of(cx);
  if (cx.out.json()) {
    for (const auto& view : locks) cx.out.line("{}", lock_json(view, style).text());
    return;
  }
  std::set<std::string> circles;  // each is found at all of its locks
  for (const auto& view : locks)
    for (const auto& circle : view.circles) circles.insert(circle_text(circle));
  for (const auto& circle : circles) cx.out.err_line("{}", circle);
  if (cx.out.plain()) {
    for (const auto& view : locks)
      cx.out.line("{}\t{}\t{}\t{}", escape_for_terminal(view.path), view.kind, waiting(view),
                  holder_text(view));
    return;
  }
  if (locks.empty()) return;
  ColumnTable table({{.title = "path"},
                     {.title = "kind"},
                     {.title = "waiting", .right = true},
                     {.title = "held by"}});
  table.set_elastic(3);
  for (const auto& view : locks)
    table.add_row(
        {as_word(view.path), view.kind, std::to_string(waiting(view)), holder_text(view)});
  // Paths are never cut; long lines wrap.
  const auto columns = style.columns == 0 ? 0 : std::max(style.columns, table.width(8));
  cx.out.lines(table.lines(columns, style.ascii ? "..." : "…"));
}

int search(Context& cx, const std::string& path) {
  if (!cx.client.exists(path, Watch::none(), cx.stop)) throw ZkError(code::no_node, path);
  Progress progress(cx.out, cx.background, "nodes");
  const auto found = Search(
                         cx.client, [&] { progress.advance(); }, cx.stop)
                         .find(path);
  progress.end();
  print_found(cx, found.locks);
  if (found.unlistable.empty()) return status::ok;
  cx.out.err_line(
      "incomplete: no permission to list {}{}", cx.out.shown_in_error(found.unlistable.front()),
      found.unlistable.size() > 1 ? fmt::format(" and {} more", found.unlistable.size() - 1) : "");
  return status::not_authorised;
}

int show_own(Context& cx) {
  const auto locks = cx.services.locks.locks();
  const auto style = style_of(cx);
  if (cx.out.json()) {
    for (const auto& lock : locks) cx.out.line("{}", own_lock_json(*lock).text());
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
  if (!a.path && (a.recursive || a.watch || a.watchers))
    throw UsageError("-r, -w and --watchers need a path");
  if (!a.path) return show_own(cx);
  const auto path = cx.resolve(*a.path);
  if (a.recursive) return search(cx, path);
  return a.watch ? show_live(cx, path, a) : show(cx, path, a);
}

}  // namespace

extern const Command locks_command = make_command<Args>(
    {.name = "locks",
     .group = "Locks",
     .summary = "Show who holds a lock and who is waiting for it",
     .keywords = {"queue", "holder", "contention", "deadlock"},
     .details =
         "Lists all contenders in queue order, those of zksh, Curator, kazoo, go-zookeeper, "
         "zoo_lock.c and WriteLock: state, mode, name, client address, session, age, fencing token "
         "(czxid of the node), and whom each waits for. Below come the chain, in which each waits "
         "for the one on its left, and warnings where different libraries do not exclude each "
         "other. HOLDS? is a contender whose library does not see the one before it. A semaphore "
         "(a node with the children `locks` and `leases`) shows its leases first. Without a path, "
         "shows the locks that this shell holds or waits for.\n\nOn a terminal, columns that do "
         "not fit are left out; -o plain and -o json have all of them. -o plain prints a line of "
         "fields separated by tabs: number, state, mode, library, session, address, creation time "
         "(milliseconds since 1970), fencing token, the number of the contender it waits for, the "
         "numbers of those that watch it, node, name; and for the locks of this shell: state, "
         "kind, tokens, session, path, nodes. Ages go by this machine's "
         "clock. Addresses (cons), dead sessions (dump), the number of watches (wchs) and watch "
         "events (mntr) come from the servers of the connect string, if their "
         "4lw.commands.whitelist allows it, or from their AdminServers (see `help 4lw`); a dash "
         "means unknown.\n\nIf anybody waits, who watches whom comes from the servers, too (wchp), "
         "if all of them "
         "report it, and together have at most 10,000 watches, with -w 1,000; --watchers asks "
         "however many there are. They do not report watches on the list of contenders: \"list?\" "
         "is one that watches no other one's node, so that perhaps each change wakes it (the herd "
         "effect). \"#1?\" should watch #1, but is connected to none of the servers asked. "
         "Otherwise the column \"should watch it\", and the chain, follow from the lock recipe; "
         "waitsFor in JSON always does.\n\n-w redraws on each change; on a terminal the ages keep "
         "counting "
         "without further requests. The line below the chain counts the contenders that have left "
         "and the watch events that the servers have sent meanwhile, without those of this view; "
         "servers count events for all nodes together. A shell that holds a lock watches its own "
         "node, too, so its release fires two events, one of them for the next contender.\n\nA "
         "circle is a deadlock: sessions that each wait for a lock of the next one. zksh looks for "
         "circles when somebody waits: at this lock, at its sibling locks (at most 64 below one "
         "parent), and at the locks of this shell; with -r at all locks found. Everything that one "
         "session holds and waits for counts together, whichever thread does it.",
     .examples = {{"locks /app", "Show the queue of a lock."},
                  {"locks -r /app", "List all locks below a path."},
                  {"locks -o json /app", "For scripts."},
                  {"locks", "Show the locks of this shell."}},
     .json = "path kind limit counter contenders otherNodes warnings circles watcherSource "
             "serverWatches time changes | paths kind state ageMs token tokens session "
             "contenderNodes nested askedToRelease position contenderCount behind circle reason",
     .needs = Needs::Nothing,
     .strict = true,
     .pages = true,
     .endless = {"--watch"}},
    declare, run);

}  // namespace zksh::command_locks
