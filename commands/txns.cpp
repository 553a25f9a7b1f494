// txns: show the transactions that servers have logged.
#include "base/named_values.h"
#include "base/number.h"
#include "base/time.h"
#include "base/words.h"
#include "client/node_path.h"
#include "command/command.h"
#include "command/output.h"
#include "command/prose.h"
#include "command/screen.h"
#include "command/work.h"
#include "lock/past_locks.h"
#include "node/change_text.h"
#include "node/node_json.h"
#include "tree/logged_transactions.h"
#include "tree/node_filter.h"
#include "txnlog/file_check.h"
#include "txnlog/past_tree.h"
#include "txnlog/replay.h"
#include "txnlog/transaction_reader.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <functional>
#include <poll.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace zksh::command_txns {
namespace {

struct Args {
  std::vector<std::string> places;
  bool recursive = false;
  bool data = false;
  bool errors = false;
  bool follow = false;
  bool locks = false;
  bool check = false;
  std::optional<std::string> by;
  std::optional<std::string> session;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> ops;
  std::optional<std::int64_t> last;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.files("--in", a.places,
          "The files: a server's dataDir or dataLogDir, a copy of them, or one log. May be given "
          "several times.",
          "dir|file");
  o.flag("-R,--recursive", a.recursive, "Also what is below the paths.");
  o.text("--session", a.session, "Only what this session did: 0x100000abc0000.", "session");
  o.text("--from", a.from,
         "Only from this time (\"2026-11-25 03:10\", \"yesterday 03:10\", -2h, now, milliseconds "
         "since 1970) or zxid (0x300000005, or EPOCH:COUNTER; before:ZXID) on.",
         "time|zxid");
  o.text("--to", a.to, "Only up to this time or zxid.", "time|zxid");
  o.text("--op", a.ops,
         "Only these, separated by commas: create, set, delete, setAcl, reconfig, check, "
         "createSession, closeSession, error.",
         "names");
  o.flag("--errors", a.errors, "Also requests that failed.");
  o.flag("-d,--data", a.data, "Show the values.");
  o.number("-n,--last", a.last, "number", "Only the last lines; not with --check.");
  o.exclusive().flag("--follow", a.follow, "Continue with what is added, until Ctrl-C.");
  o.exclusive().flag("--locks", a.locks,
                     "Who held the locks and who waited, for how long, and how it ended; of the "
                     "paths, if any are given.");
  o.exclusive().text("--by", a.by,
                     "Count operations and bytes by session, by path, or by the first D names of "
                     "the path (path:D). -n is the number of lines, 20 if it is not given.",
                     "session|path[:D]");
  o.suggest({"session", "path", "path:1", "path:2"});
  o.exclusive().flag(
      "--check", a.check,
      "Whether servers of 3.4, 3.8 and 3.9 would start on the files, and what is wrong with them.");
  o.nodes("path", a.paths,
          "Only these nodes: whole paths, whatever the chroot; *, ? and [ ] match within a name.",
          false);
}

TransactionFilter filter_of(const Context& cx, const Args& a) {
  TransactionFilter filter{.recursive = a.recursive, .errors = a.errors};
  if (a.from) filter.from = parse_moment(*a.from, "--from");
  if (a.to) filter.to = parse_moment(*a.to, "--to");
  const auto& [from, to] = std::tie(filter.from, filter.to);
  if ((from.time && to.time && *to.time < *from.time) ||
      (from.zxid && to.zxid && *to.zxid < *from.zxid))
    throw ValueError("--to is before --from, so nothing is between them");
  if (a.session) filter.session = parse_session_id(*a.session, "--session");
  for (const auto& path : a.paths) filter.paths.push_back(cx.resolve(path));
  if (a.ops) filter.events = parse_txn_events(*a.ops, "--op");
  return filter;
}

/// The number of lines that -n requests.
std::size_t last_of(const Args& a, std::size_t usual) {
  if (a.last && *a.last < 1) throw ValueError("--last must be at least 1");
  return a.last ? static_cast<std::size_t>(*a.last) : usual;
}

/// Reads the selected range of the logs, and reports what is damaged or missing in it.
class History {
 public:
  History(Context& cx, const Args& a, const DataFiles& files, const TransactionFilter& selection,
          std::int64_t begin)
      : cx_(cx),
        selection_(selection),
        seeming_{TransactionText::Format::People, a.data, !terminal_shows_utf8()},
        logs_(files.logs().size()),
        ends_(files, cx.stop),
        reader_(files, begin,
                [this](const Flaw& flaw) {
                  if (!flaw.harmless || flaw.kind == Flaw::Kind::NotAgreed) flaws_.push_back(flaw);
                }),
        progress_(cx.out, cx.background, "bytes read") {}

  /// Calls `visit` for each transaction in the range, with what it deletes as a session's end. With
  /// `follows`, returns false when there is none at the moment, else at the end.
  template <class Visit>
  bool read(bool follows, Visit&& visit) {
    constexpr unsigned between_looks = 256;
    while (reader_.next(txn_, follows)) {
      if (++count_ % between_looks == 0) {
        if (cx_.stop.stop_requested()) throw Cancelled();
        progress_.reach(reader_.bytes_read(), reader_.bytes_total());
      }
      if (selection_.is_before(txn_)) {
        flaws_.clear();
        continue;
      }
      tell_flaws();
      if (selection_.is_done(txn_)) return true;
      if (!selection_.is_after(txn_)) visit(txn_, ends_.ephemerals(txn_));
    }
    progress_.end();
    tell_flaws();
    return !follows;
  }
  bool damaged() const { return damaged_; }
  /// The bytes of the logs' headers, and of what was passed over.
  std::uint64_t bytes_around() const {
    return LogFile::header_size * logs_ + reader_.bytes_passed_over();
  }
  /// Call it before printing results.
  void give_way() { progress_.give_way(); }

 private:
  void tell_flaws() {
    for (const auto& flaw : std::exchange(flaws_, {})) {
      damaged_ = damaged_ || !flaw.harmless;
      progress_.end();
      cx_.out.err_line("{}", cx_.out.shown_in_error(flaw_text(flaw)));
      // A flipped bit leaves most of a record readable.
      LoggedTransaction txn;
      if (flaw.body.size() < txn_header_size || !parse_transaction(flaw.body, txn)) continue;
      visit_lines(txn, {}, {.errors = true}, [&](const TransactionLine& line) {
        cx_.out.err_line("  it seems to hold: {}", cx_.out.shown_in_error(seeming_.text(line)));
      });
    }
  }

  Context& cx_;
  const TransactionFilter& selection_;
  TransactionText seeming_;
  std::uint64_t logs_;
  SessionEnds ends_;
  std::vector<Flaw> flaws_{};  ///< since the last transaction
  TransactionReader reader_;
  Progress progress_;
  LoggedTransaction txn_{};
  unsigned count_ = 0;
  bool damaged_ = false;
};

/// Whether nobody reads the pipe that the results go to: `txns --follow | head -1`.
bool is_reader_gone(const Output& out) {
  pollfd pipe{.fd = out.redirected() ? out.descriptor() : STDOUT_FILENO, .events = 0, .revents = 0};
  return poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

/// Prints lines, or keeps the last ones.
class LinePrinter {
 public:
  LinePrinter(Context& cx, const Args& a) : lines_(cx.out), most_(last_of(a, 0)) {}

  /// As ResultLines::before_first.
  void before_first(std::function<void()> call) { lines_.before_first(std::move(call)); }
  void print(std::string text) {
    any_ = true;
    if (most_ == 0) return lines_.add(text);
    if (kept_.size() == most_) kept_.pop_front();
    kept_.push_back(std::move(text));
  }
  /// Prints the last lines that were kept; from now on, all.
  void flush() {
    for (const auto& text : std::exchange(kept_, {})) lines_.add(text);
    most_ = 0;
    lines_.flush();
  }
  bool any() const { return any_; }

 private:
  ResultLines lines_;
  std::size_t most_;
  std::deque<std::string> kept_{};
  bool any_ = false;
};

int run_lines(Context& cx, const Args& a, DataFiles& files) {
  const auto selection = filter_of(cx, a);
  using Format = TransactionText::Format;
  const auto format = cx.out.json()    ? Format::Json
                      : cx.out.plain() ? Format::Plain
                                       : Format::People;
  const TransactionText text{format, a.data, !terminal_shows_utf8()};
  LinePrinter printer(cx, a);
  History history(cx, a, files, selection, begin_of(files, selection.from).value_or(INT64_MIN));
  printer.before_first([&] { history.give_way(); });
  const auto add = [&](const LoggedTransaction& txn, const std::vector<std::string>& ended) {
    visit_lines(txn, ended, selection,
                [&](const TransactionLine& line) { printer.print(text.text(line)); });
  };
  while (!history.read(a.follow, add)) {
    constexpr std::chrono::milliseconds between_looks{200};
    printer.flush();
    if (is_reader_gone(cx.out)) return status::signal_base + SIGPIPE;
    cx.monitor().pause_until(cx.stop, Clock::now() + between_looks);
    files.refresh();
  }
  printer.flush();
  return printer.any() && !history.damaged() ? status::ok : status::failure;
}

/// The first `depth` names of a path.
std::string beginning_of(std::string_view path, std::size_t depth) {
  std::size_t end = 0;
  for (; depth > 0 && end < path.size(); --depth)
    end = std::min(path.find('/', end + 1), path.size());
  return std::string(path.substr(0, end));
}

/// The row for events that concern no node. No path begins with a parenthesis.
std::string_view row_of(TxnEvent event) {
  return event == TxnEvent::Error     ? "(failed requests)"
         : event == TxnEvent::Unknown ? "(unknown)"
                                      : "(sessions)";
}

std::uint64_t bytes_of(const std::vector<DataFiles::File>& files) {
  std::uint64_t bytes = 0;
  for (const auto& file : files) {
    std::error_code gone;
    const auto size = std::filesystem::file_size(file.path, gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

void print_row(Context& cx, bool session, const TransactionTally::Row& row) {
  const auto& [key, count] = row;
  if (cx.out.json())
    print_json(cx, Json::object()
                       .set(session ? "session" : "path",
                            session && !key.starts_with("0x") ? Json() : Json::text_or_null(key))
                       .set("operations", count.operations)
                       .set("creates", count.creates)
                       .set("sets", count.sets)
                       .set("deletes", count.deletes)
                       .set("bytes", count.bytes));
  else if (cx.out.plain())
    cx.out.line("{}\t{}\t{}\t{}\t{}\t{}", count.operations, count.creates, count.sets,
                count.deletes, count.bytes, key.empty() ? "-" : plain_field(key));
  else
    cx.out.line("{:>10}  {:>9}  {:>9}  {:>9}  {:>10}  {}", count.operations, count.creates,
                count.sets, count.deletes, size_text(static_cast<std::int64_t>(count.bytes)),
                key.empty()            ? "(all others)"
                : key.starts_with('(') ? key
                                       : as_word(key));
}

int run_by(Context& cx, const Args& a, const DataFiles& files) {
  constexpr std::size_t usual_rows = 20;
  const bool session = *a.by == "session";
  std::size_t depth = std::string::npos;
  if (a.by->starts_with("path:"))
    depth = static_cast<std::size_t>(parse_number(a.by->substr(5), "--by path", 1, INT32_MAX));
  else if (!session && *a.by != "path")
    throw ValueError(fmt::format("--by: \"{}\" is none of session, path and path:DEPTH", *a.by));
  const auto most = last_of(a, usual_rows);
  const auto selection = filter_of(cx, a);
  TransactionTally tally;
  History history(cx, a, files, selection, begin_of(files, selection.from).value_or(INT64_MIN));
  history.read(false, [&](const LoggedTransaction& txn, const std::vector<std::string>& ended) {
    if (!selection.has_session(txn.session)) return;
    TransactionTally::visit_parts(
        txn, ended, [&](std::string_view path, TxnEvent event, const auto& one) {
          if (!selection.has_all_events() && !selection.has_event(event)) return;
          if (path.empty() ? !selection.has_none() : !selection.has_path(path)) return;
          tally.add(session        ? session_text(txn.session)
                    : path.empty() ? std::string(row_of(event))
                                   : beginning_of(path, depth),
                    one);
        });
  });
  const bool all =
      selection.has_none() && selection.has_all_events() && !a.session && !a.from && !a.to;
  if (all) tally.add("(headers, damage)", {.bytes = history.bytes_around()});
  auto rows = tally.rows();
  if (cx.out.text() && !rows.empty())
    cx.out.line("{:>10}  {:>9}  {:>9}  {:>9}  {:>10}  {}", "operations", "creates", "sets",
                "deletes", "log", session ? "session" : "path");
  auto others = tally.dropped();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < most)
      print_row(cx, session, rows[i]);
    else
      others.add(rows[i].second);
  }
  if (others.operations > 0 || others.bytes > 0) print_row(cx, session, {"", others});
  if (all && cx.out.text())
    print_prose(cx.out, "beside the logs: {}, {}", counted(files.snapshots().size(), "snapshot"),
                size_text(static_cast<std::int64_t>(bytes_of(files.snapshots()))));
  return rows.empty() || history.damaged() ? status::failure : status::ok;
}

constexpr NamedValues<PastTurn::End, 5> end_names{{{"open", PastTurn::End::Open},
                                                   {"released", PastTurn::End::Released},
                                                   {"deleted", PastTurn::End::Removed},
                                                   {"closed", PastTurn::End::Closed},
                                                   {"expired", PastTurn::End::Expired}}};

std::string end_text(const PastTurn& turn) {
  using End = PastTurn::End;
  const std::string beginning = turn.acquired ? "" : "gave up: ";
  switch (turn.end) {
    case End::Open:
      return turn.acquired ? "still held" : "still waiting";
    case End::Released:
      return turn.acquired ? "released" : "gave up";
    case End::Removed:
      return fmt::format("its node was deleted by session {}", session_text(turn.ended_by));
    case End::Closed:
      return beginning + "its session was closed";
    case End::Expired:
      return beginning + "its session expired";
  }
  return {};
}

std::string_view mode_text(const PastTurn& turn) {
  if (turn.lease) return "lease";
  return turn.mode == LockMode::Shared ? "read" : "exclusive";
}

/// ", held 2.06 s from 09:41:44.625 to 09:41:46.685, with 2 others".
std::string held_text(const PastTurn& turn, std::int64_t held_for) {
  const auto from = local_time_text(*turn.acquired);
  const auto date = from.substr(0, from.find(' ') + 1);
  const auto clock = [&](const std::string& text) {
    return text.starts_with(date) ? text.substr(date.size()) : text;
  };
  auto text = fmt::format(", held {} from {}", short_time(std::chrono::milliseconds(held_for)),
                          local_time_text(turn.asked).starts_with(date) ? clock(from) : from);
  if (turn.ended) text += " to " + clock(local_time_text(*turn.ended));
  if (turn.overlaps > 0) text += ", with " + counted(turn.overlaps, "other");
  return text;
}

/// A line about a turn. `now` is where the logs end.
std::string turn_text(const Context& cx, const PastTurn& turn, std::int64_t now) {
  const auto waited = turn.acquired.value_or(turn.ended.value_or(now)) - turn.asked;
  const bool held = turn.acquired.has_value();
  const std::int64_t held_for = held ? turn.ended.value_or(now) - *turn.acquired : 0;
  const auto path = join_path(turn.lock, turn.node);
  if (cx.out.json()) {
    auto json = Json::object();
    json.set_time("time", turn.asked)
        .set("path", turn.lock)
        .set("node", turn.node)
        .set("session", session_text(turn.session))
        .set("mode", mode_text(turn))
        .set("token", zxid_text(turn.token))
        .set("waitedMs", waited)
        .set("heldMs", held ? Json(held_for) : Json())
        .set("overlaps", turn.overlaps)
        .set("outcome", name_of(end_names, turn.end))
        .set("endedBy", turn.ended_by == 0 ? Json() : Json(session_text(turn.ended_by)))
        .set_time("acquired", turn.acquired)
        .set_time("ended", turn.ended);
    return json.text();
  }
  if (cx.out.plain())
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", turn.asked,
                       zxid_text(turn.token), session_text(turn.session), plain_field(path),
                       mode_text(turn), waited, held ? std::to_string(held_for) : "-",
                       name_of(end_names, turn.end), held ? std::to_string(*turn.acquired) : "-",
                       turn.ended ? std::to_string(*turn.ended) : "-", turn.overlaps);
  return fmt::format("{}  {}  {}  {}, waited {}{}, {}", local_time_text(turn.asked),
                     session_text(turn.session), as_word(path), mode_text(turn),
                     short_time(std::chrono::milliseconds(waited)),
                     held ? held_text(turn, held_for) : "", end_text(turn));
}

struct Ephemerals {
  DataFiles::File snapshot{};
  std::vector<SnapshotNode> nodes{};  ///< without their values
};

/// The ephemerals of the newest snapshot up to a zxid, or else of the oldest. What cannot be read
/// or was never agreed on is passed over; none, and no path of a file, if that is so of all.
Ephemerals ephemerals_at(const DataFiles& files, std::int64_t zxid, const std::stop_token& stop) {
  auto snapshots = files.newest_snapshots();
  const auto newest = std::ranges::find_if(
      snapshots, [&](const DataFiles::File& file) { return file.zxid <= zxid; });
  std::reverse(snapshots.begin(), newest);
  std::rotate(snapshots.begin(), newest, snapshots.end());
  for (const auto& file : snapshots) {
    Ephemerals found{.snapshot = file};
    const SnapshotVisitor visitor{.node = [&](SnapshotNode&& node) {
      if (!is_session_owner(node.stat.ephemeral_owner)) return;
      node.data.reset();
      found.nodes.push_back(std::move(node));
    }};
    try {
      if (was_agreed(files, file, read_snapshot(file.path, visitor, stop))) return found;
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      continue;  // servers pass it over
    }
  }
  return {};
}

int run_locks(Context& cx, const Args& a, const DataFiles& files) {
  const auto wanted = filter_of(cx, a);
  auto all = wanted;
  all.from = {};
  auto begin = begin_of(files, wanted.from).value_or(INT64_MIN);
  std::int64_t now = 0;
  LinePrinter printer(cx, a);
  PastLocks locks([&](std::string_view lock) { return wanted.has_path(lock); }, !a.paths.empty(),
                  [&](const PastTurn& turn) {
                    const LoggedTransaction end{.zxid = INT64_MAX,
                                                .time = turn.ended.value_or(now)};
                    if (!wanted.has_session(turn.session) || wanted.is_before(end)) return;
                    printer.print(turn_text(cx, turn, now));
                  });
  // A snapshot tells who was there at the beginning.
  const auto base = ephemerals_at(files, begin, cx.stop);
  const bool before = !base.snapshot.path.empty() && base.snapshot.zxid <= begin;
  begin = before ? base.snapshot.zxid : INT64_MIN;
  const auto known_from = before ? begin + 1 : files.logs().front().zxid;
  for (const auto& node : base.nodes)
    if (node.stat.czxid < known_from)
      locks.add_present(node.path, node.stat.ephemeral_owner, node.stat.czxid, node.stat.ctime);
  History history(cx, a, files, all, begin);
  printer.before_first([&] { history.give_way(); });
  history.read(false, [&](const LoggedTransaction& txn, const std::vector<std::string>& ended) {
    now = txn.time;
    if (txn.zxid >= known_from) locks.apply(txn, ended);
  });
  locks.report_open();
  printer.flush();
  return printer.any() && !history.damaged() ? status::ok : status::failure;
}

void print_finding(Context& cx, const Finding& finding) {
  if (cx.out.json()) {
    const auto zxid = [](std::int64_t value) {
      return value == 0 ? Json() : Json(zxid_text(value));
    };
    return print_json(cx, Json::object()
                              .set("file", finding.file)
                              .set("offset", finding.offset)
                              .set("fromZxid", zxid(finding.from))
                              .set("toZxid", zxid(finding.to))
                              .set("problem", finding.problem)
                              .set("remedy", finding.remedy)
                              .set("harmless", finding.harmless));
  }
  if (cx.out.plain())
    return cx.out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}", plain_field(finding.file), finding.offset,
                       zxid_text(finding.from), zxid_text(finding.to), finding.harmless ? 1 : 0,
                       plain_field(finding.problem), plain_field(finding.remedy));
  // Offset 0 stands for the file as a whole.
  const auto place = finding.offset == 0 ? "" : fmt::format(":{}", finding.offset);
  print_prose(cx.out, "{}{}{}: {}\n  {}", finding.harmless ? "harmless: " : "",
              cx.out.shown(finding.file), place, cx.out.shown(finding.problem),
              cx.out.shown(finding.remedy));
}

int run_check(Context& cx, const DataFiles& files) {
  Progress progress(cx.out, cx.background, "bytes read");
  const auto result = check_files(
      files,
      {.report =
           [&](const Finding& finding) {
             progress.end();
             print_finding(cx, finding);
           },
       .progress = [&](std::uint64_t bytes, std::uint64_t total) { progress.reach(bytes, total); },
       .stop = cx.stop});
  progress.end();
  const bool starts = result.fails.empty();
  if (cx.out.json()) {
    print_json(cx, Json::object()
                       .set("starts", starts)
                       .set("versions", Json::array(result.starts))
                       .set("zxid", zxid_text(result.zxid))
                       .set("snapshots", result.snapshots)
                       .set("logs", result.logs)
                       .set("transactions", result.transactions)
                       .set("nodes", result.nodes)
                       .set("digests", result.digests)
                       .set("problemCount", result.problems));
  } else if (cx.out.plain()) {
    cx.out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", starts ? "starts" : "fails",
                zxid_text(result.zxid), result.snapshots, result.logs, result.transactions,
                result.nodes, result.digests, result.problems,
                result.starts.empty() ? "-" : fmt::format("{}", fmt::join(result.starts, ",")));
  } else {
    const auto verdict =
        starts ? fmt::format("a server starts on these files ({})", fmt::join(result.starts, ", "))
        : result.starts.empty()
            ? fmt::format("a server does not start on these files ({})",
                          fmt::join(result.fails, ", "))
            : fmt::format("a server of {} starts on these files, one of {} does not",
                          fmt::join(result.starts, " or "), fmt::join(result.fails, " or "));
    print_prose(cx.out, "{}: {}, {}, {} up to {}, {}; the tree's digest was right {} times{}",
                verdict, counted(result.snapshots, "intact snapshot"), counted(result.logs, "log"),
                counted(result.transactions, "transaction"), zxid_text(result.zxid),
                counted(result.nodes, "node"), result.digests,
                result.problems > 0 ? "; " + counted(result.problems, "problem") : "");
  }
  return result.problems == 0 && starts ? status::ok : status::failure;
}

/// Refuses options that would be ignored.
void require_used(const Args& a) {
  const std::string_view how = a.check ? "--check" : a.locks ? "--locks" : a.by ? "--by" : "";
  if (how.empty()) return;
  const bool selects = a.check;  // files can only be checked as a whole
  for (const auto& [given, name] : {std::pair(a.data, "--data"),
                                    {a.errors, "--errors"},
                                    {a.ops.has_value() && !a.by, "--op"},
                                    {a.recursive && selects, "--recursive"},
                                    {a.session && selects, "--session"},
                                    {a.from && selects, "--from"},
                                    {a.to && selects, "--to"},
                                    {!a.paths.empty() && selects, "a path"}})
    if (given) throw SyntaxError(fmt::format("{} cannot be used with {}", name, how));
}

int run(Context& cx, const Args& a) {
  if (a.places.empty())
    throw SyntaxError("--in DIR says where the files are: a server's dataDir or dataLogDir");
  require_used(a);
  DataFiles files(a.places, cx.stop);
  if (a.check && a.last) throw UsageError("--check names all problems: no -n with it");
  if (a.check) return run_check(cx, files);
  if (files.logs().empty())
    throw Error(fmt::format("there are no transaction logs in {}{}", files.places_text(),
                            files.other_half()));
  if (a.by) return run_by(cx, a, files);
  return a.locks ? run_locks(cx, a, files) : run_lines(cx, a, files);
}

}  // namespace

extern const Command txns_command = make_command<Args>(
    {.name = "txns",
     .group = "Past",
     .summary = "Show who changed or deleted a node, from the logs",
     .keywords = {"undo", "undelete", "recover", "log", "txn", "history", "past", "audit",
                  "transaction", "deleted", "zxid"},
     .details =
         "Reads the transaction logs of a server, running or not, or a copy of them; asks no "
         "server, and writes nothing. Logs of several places are joined. A line is the time, the "
         "zxid, the session, what was done, the node, and details. A deletion says why: by the "
         "client (of the session in the line), its session expired or was closed, or by the server "
         "(an empty container, an old TTL node). A multi that failed has changed nothing: it is "
         "shown with --errors only. Reads, addresses and users are in no log: `who ID` shows the "
         "client of a session that lives, and servers with audit.enable=true (3.6) write the "
         "others to their audit log. zksh-txnlog(5) has walkthroughs, and describes the files.\n\n"
         "Damage is named on stderr and passed over, and so are gaps. The status is 1 if nothing "
         "matched, or something was damaged or missing in the range, and 2 if the files cannot be "
         "read.\n\n"
         "-o plain prints fields separated by tabs, a dash for an empty one: time (milliseconds "
         "since 1970), zxid, session, cxid, op, path, kind, version, length of the value, reason "
         "(client, expired, closed, server; of an error, its code), number within a multi, and "
         "with -d the value (\\N: null).\n\n"
         "--locks prints a line when a contender's turn ends, and at the end for those that are "
         "still there: when it asked, its session, its node, for how long it waited and held the "
         "lock, from when to when, with how many others at the same time, and how that ended. -o "
         "plain: time, zxid, session, node, mode, waited and held in ms, open, released, deleted "
         "(by another session), closed or expired, the times when it was acquired and ended, and "
         "the number of others.\n\n"
         "--by prints the largest first. The rows add up to the logs: by path, what is about no "
         "node is in the rows (sessions), (failed requests) and (headers, damage). -o plain: "
         "operations, creates, sets, deletes, bytes of the log, and the session or path; a dash "
         "for all others. If there are more than 100 000, those that were small so far are added "
         "up with the others.\n\n"
         "--check reads all files, replays them as a server does, compares the tree's digest after "
         "each transaction, and names each problem with its place, a server's words, and what to "
         "do. The verdict is that of servers of 3.4.13, 3.8.0 and 3.9.3 with their default "
         "settings, or of the last two, if there is what 3.4 does not write. The status is 1 if "
         "there is a problem. -o plain: file, offset, first and last zxid concerned, harmless (0 "
         "or 1), problem, remedy; at the end starts or fails, last zxid, snapshots, logs, "
         "transactions, nodes, digests compared, problems, and the versions that start.",
     .examples = {{"txns --in /var/lib/zookeeper -R /app", "What happened below /app."},
                  {"txns --in /var/lib/zookeeper --op delete --from -2h",
                   "Who deleted what in the last two hours."},
                  {"txns --in /var/lib/zookeeper --by path:2", "What fills the disk."},
                  {"txns --in /var/lib/zookeeper --locks /app/lock", "Who held a lock."},
                  {"txns --in /var/lib/zookeeper --check", "Would a server start on this?"}},
     .json =
         "time zxid session cxid op path multi [reason] [code] [timeout] [kind] [ttl] [version] "
         "[dataLength] [data] [acl] | time path node session mode token waitedMs heldMs acquired "
         "ended overlaps outcome endedBy | session operations creates sets deletes bytes | path "
         "operations creates sets deletes bytes | file offset fromZxid toZxid problem remedy "
         "harmless | starts versions zxid snapshots logs transactions nodes digests problemCount",
     .json_fields =
         {{"acquired", "time?", "When the lock was got; null: never."},
          {"creates", "integer", "Operations that created a node."},
          {"cxid", "integer", "The number that the client gave its request; 0: the server's own."},
          {"deletes", "integer", "Operations that deleted a node."},
          {"digests", "integer", "How often the tree's digest was compared, and was right."},
          {"ended", "time?", "When its turn ended; null: it has not."},
          {"endedBy", "hex?", "The session that deleted the node of another; else null."},
          {"file", "text", "The file."},
          {"fromZxid", "hex?", "The first transaction concerned."},
          {"harmless", "boolean", "Nothing is lost by it, and servers start."},
          {"heldMs", "integer?", "For how long the lock was held, in milliseconds; null: never."},
          {"logs", "integer", "Transaction logs."},
          {"multi", "integer?", "The number of the operation within its multi, from 1."},
          {"offset", "integer", "The place in the file."},
          {"operations", "integer", "Operations."},
          {"outcome", "string",
           "How it ended: released, deleted, closed or expired; open: it has not."},
          {"overlaps", "integer", "How many others held the lock at the same time."},
          {"problemCount", "integer", "How many problems."},
          {"sets", "integer", "Operations that set a value."},
          {"snapshots", "integer", "Intact snapshots."},
          {"starts", "boolean", "Whether servers start on the files."},
          {"toZxid", "hex?", "The last transaction concerned."},
          {"transactions", "integer", "Transactions."},
          {"versions", "list of string", "Of the servers that start."},
          {"waitedMs", "integer", "For how long it waited, in milliseconds."}},
     .needs = Needs::Nothing,
     .pages = true,
     .endless = {"--follow"}},
    declare, run);

}  // namespace zksh::command_txns
