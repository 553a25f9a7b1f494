// txns: show the transactions that servers have logged.
#include "base/named_values.h"
#include "base/number.h"
#include "base/quoting.h"
#include "base/time.h"
#include "client/acl_text.h"
#include "client/node_path.h"
#include "client/node_pattern.h"
#include "client/zk_error.h"
#include "command/command.h"
#include "command/live_picture.h"
#include "command/progress.h"
#include "command/result_lines.h"
#include "lock/past_locks.h"
#include "node/change_text.h"
#include "node/node_json.h"
#include "tree/node_filter.h"
#include "tree/tree_text.h"
#include "txnlog/file_check.h"
#include "txnlog/moment.h"
#include "txnlog/past_tree.h"
#include "txnlog/transaction_reader.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <fnmatch.h>
#include <set>
#include <unordered_map>

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

/// What a line is about.
enum class Op {
  Create,
  Set,
  Delete,
  SetAcl,
  Reconfig,
  Check,
  CreateSession,
  CloseSession,
  Error,
  Unknown
};
constexpr NamedValues<Op, 10> op_names{{{"create", Op::Create},
                                        {"set", Op::Set},
                                        {"delete", Op::Delete},
                                        {"setAcl", Op::SetAcl},
                                        {"reconfig", Op::Reconfig},
                                        {"check", Op::Check},
                                        {"createSession", Op::CreateSession},
                                        {"closeSession", Op::CloseSession},
                                        {"error", Op::Error},
                                        {"unknown", Op::Unknown}}};

/// Why a node was deleted, or a session ended.
enum class Reason { Client, Expired, Closed, Server };
constexpr NamedValues<Reason, 4> reason_names{{{"client", Reason::Client},
                                               {"expired", Reason::Expired},
                                               {"closed", Reason::Closed},
                                               {"server", Reason::Server}}};

void declare(Options& o, Args& a) {
  o.files("--in", a.places,
          "The files: a server's dataDir or dataLogDir, a copy of them, or one log. May be given "
          "several times.",
          "dir|file");
  o.flag("-R,--recursive", a.recursive, "Also what is below the paths.");
  o.text("--session", a.session, "Only what this session did: 0x100000abc0000.", "session");
  o.text("--from", a.from,
         "Only from this time (\"2026-11-25 03:10\", -2h, now, milliseconds since 1970) or zxid "
         "(0x300000005, or EPOCH:COUNTER) on.",
         "time|zxid");
  o.text("--to", a.to, "Only up to this time or zxid.", "time|zxid");
  o.text("--op", a.ops,
         "Only these, separated by commas: create, set, delete, setAcl, reconfig, check, "
         "createSession, closeSession, error.",
         "names");
  o.flag("--errors", a.errors, "Also requests that failed.");
  o.flag("-d,--data", a.data, "Show the values.");
  o.number("-n,--last", a.last, "number", "Only the last lines.");
  o.exclusive().flag("--follow", a.follow, "Continue with what is added, until Ctrl-C.");
  o.exclusive().flag("--locks", a.locks,
                     "Who held the locks and who waited, for how long, and how it ended; of the "
                     "paths, if any are given.");
  o.exclusive().text("--by", a.by,
                     "Count operations and bytes by session, by path, or by the first D names of "
                     "the path (path:D). -n is the number of lines, 20 if it is not given.",
                     "session|path[:D]");
  o.suggest({"session", "path", "path:1", "path:2"});
  o.exclusive().flag("--check", a.check,
                     "Whether a server would start on the files, and what is wrong with them.");
  o.nodes("path", a.paths,
          "Only these nodes: whole paths, whatever the chroot; *, ? and [ ] match within a name.",
          false);
}

/// Selects transactions and their parts.
class Selection {
 public:
  Selection(const Context& cx, const Args& a) : recursive_(a.recursive), errors_(a.errors) {
    if (a.from) from_ = parse_moment(*a.from, "--from");
    if (a.to) to_ = parse_moment(*a.to, "--to");
    if (a.session) session_ = parse_session_id(*a.session, "--session");
    for (const auto& path : a.paths) paths_.push_back(cx.resolve(path));
    if (!a.ops) return;
    for (const auto name : split(*a.ops, ',')) {
      const auto known = std::ranges::find_if(
          op_names, [&](const auto& op) { return equal_ignoring_case(op.first, name); });
      if (known == op_names.end())
        throw ValueError(
            fmt::format("--op: \"{}\" is none of {}", name, fmt::join(names_of(op_names), ", ")));
      ops_.insert(known->second);
    }
  }

  bool is_before(const LoggedTransaction& txn) const {
    return (from_.time && txn.time < *from_.time) || (from_.zxid && txn.zxid < *from_.zxid);
  }
  bool is_after(const LoggedTransaction& txn) const {
    return (to_.time && txn.time > *to_.time) || (to_.zxid && txn.zxid > *to_.zxid);
  }
  /// Whether nothing that follows is selected. Leaders' clocks may differ a little.
  bool is_done(const LoggedTransaction& txn) const {
    constexpr std::int64_t ten_minutes = 600'000;
    return (to_.zxid && txn.zxid > *to_.zxid) || (to_.time && txn.time > *to_.time + ten_minutes);
  }
  bool has_op(Op op) const {
    if (!ops_.empty()) return ops_.contains(op);
    return op != Op::Error || errors_;
  }
  bool has_path(std::string_view path) const {
    if (paths_.empty()) return true;
    return std::ranges::any_of(paths_, [&](const std::string& one) {
      return is_pattern(one) ? matches(one, path)
                             : path == one || (recursive_ && is_below(path, one));
    });
  }
  /// Whether what is about no node is selected.
  bool has_none() const { return paths_.empty(); }
  const Moment& from() const { return from_; }
  /// The same without a beginning.
  Selection since_ever() const {
    auto all = *this;
    all.from_ = {};
    return all;
  }
  bool has_session(std::int64_t session) const { return !session_ || session == *session_; }

 private:
  static bool is_below(std::string_view path, std::string_view top) {
    return top == "/" || (path.starts_with(top) && path.substr(top.size()).starts_with('/'));
  }
  bool matches(const std::string& pattern, std::string_view path) const {
    std::string text(path);
    if (fnmatch(pattern.c_str(), text.c_str(), FNM_PATHNAME) == 0) return true;
    const auto names = std::ranges::count(pattern, '/');
    if (!recursive_ || std::ranges::count(text, '/') <= names) return false;
    while (std::ranges::count(text, '/') > names) text.resize(text.rfind('/'));
    return fnmatch(pattern.c_str(), text.c_str(), FNM_PATHNAME) == 0;
  }

  bool recursive_;
  bool errors_;
  Moment from_{};
  Moment to_{};
  std::optional<std::int64_t> session_{};
  std::vector<std::string> paths_{};
  std::set<Op> ops_{};
};

/// Where to begin to read: the last log whose first transaction is not later. Leaders' clocks may
/// differ a little.
std::int64_t first_zxid(const DataFiles& files, const Moment& from) {
  if (from.zxid) return *from.zxid;
  if (!from.time) return INT64_MIN;
  std::int64_t zxid = INT64_MIN;
  for (const auto& file : files.logs()) {
    LogFile log(file.path, {});
    LoggedTransaction txn;
    const auto first = log.next();
    if (!first || !parse_transaction(first->body, txn)) continue;
    if (txn.time > *from.time) break;
    zxid = file.zxid;
  }
  return zxid;
}

/// Reads the selected range of the logs, and tells of what is damaged or missing in it.
class History {
 public:
  History(Context& cx, const DataFiles& files, const Selection& selection, std::int64_t begin)
      : cx_(cx),
        selection_(selection),
        reader_(files, begin,
                [this](const Flaw& flaw) {
                  if (!flaw.harmless) flaws_.push_back(flaw);
                }),
        progress_(cx.out, cx.background, "bytes read") {}

  /// Calls `visit` for each transaction in the range. With `follows`, returns false when there is
  /// none at the moment, else at the end.
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
      if (!selection_.is_after(txn_)) visit(txn_);
    }
    progress_.end();
    tell_flaws();
    return !follows;
  }
  bool damaged() const { return damaged_; }

 private:
  void tell_flaws() {
    for (const auto& flaw : std::exchange(flaws_, {})) {
      damaged_ = true;
      progress_.end();
      cx_.out.err_line("{}", cx_.out.shown_in_error(flaw_text(flaw)));
    }
  }

  Context& cx_;
  const Selection& selection_;
  std::vector<Flaw> flaws_{};  ///< since the last transaction
  TransactionReader reader_;
  Progress progress_;
  LoggedTransaction txn_{};
  unsigned count_ = 0;
  bool damaged_ = false;
};

/// What the ends of sessions delete. Before 3.6, logs do not say it.
class SessionEnds {
 public:
  SessionEnds(const DataFiles& files, std::stop_token stop)
      : files_(files), stop_(std::move(stop)) {}

  /// Must be called for each transaction, in order.
  std::vector<std::string> ephemerals(const LoggedTransaction& txn) {
    const bool closes = txn.type == TxnType::CloseSession;
    if (closes && !txn.ephemerals && !owners_) owners_ = ephemerals_before(files_, txn.zxid, stop_);
    if (owners_) owners_->follow(txn);
    if (!closes) return {};
    auto owned = owners_ ? owners_->end(txn.session) : std::vector<std::string>();
    if (txn.ephemerals) owned.assign(txn.ephemerals->begin(), txn.ephemerals->end());
    return owned;
  }

 private:
  const DataFiles& files_;
  std::stop_token stop_;
  std::optional<EphemeralOwners> owners_{};
};

/// One line.
struct Line {
  const LoggedTransaction& txn;
  Op op = Op::Error;
  std::string_view path{};
  const TxnOperation* change = nullptr;
  std::optional<Reason> reason{};
  std::size_t part = 0;  ///< of a multi, from 1; 0: it is none
};

std::string kind_text(const TxnOperation& op) {
  return life_text({.kind = op.type == TxnType::CreateContainer ? NodeKind::Container
                            : op.type == TxnType::CreateTtl     ? NodeKind::Ttl
                            : op.ephemeral                      ? NodeKind::Ephemeral
                                                                : NodeKind::Persistent,
                    .ttl = op.ttl});
}

/// Without the hashes of digests.
std::string public_acl_text(std::string_view bytes) {
  return acl_field(without_hashes(decoded_acl(bytes)));
}

std::string_view reason_text(Reason reason, Op op) {
  const bool session = op == Op::CloseSession;
  switch (reason) {
    case Reason::Client:
      return "by the client";
    case Reason::Expired:
      return session ? "it expired" : "its session expired";
    case Reason::Closed:
      return session ? "by its client" : "its session was closed";
    case Reason::Server:
      return "by the server: an empty container or an old TTL node";
  }
  return {};
}

Data data_of(const TxnOperation& op) {
  return op.data ? Data(std::string(*op.data)) : std::nullopt;
}

/// Prints lines in the format of the output.
class LinePrinter {
 public:
  LinePrinter(Context& cx, const Args& a)
      : lines_(cx.out),
        json_(cx.out.json()),
        plain_(cx.out.plain()),
        data_(a.data),
        ascii_(!terminal_shows_utf8()) {
    if (!a.last) return;
    if (*a.last < 1) throw ValueError("--last must be at least 1");
    most_ = static_cast<std::size_t>(*a.last);
  }

  void print(const Line& line) {
    any_ = true;
    auto text = json_ ? json(line) : plain_ ? plain(line) : people(line);
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
  std::string detail(const Line& line) const {
    const auto& op = line.change;
    std::string text;
    const auto add = [&](std::string_view part) {
      text += (text.empty() ? "" : ", ") + std::string(part);
    };
    if (op && op->creates()) add(kind_text(*op));
    if (op && (op->sets() || op->type == TxnType::SetAcl || op->type == TxnType::Check))
      add(fmt::format("version {}", op->version));
    if (op && (op->creates() || op->sets())) {
      if (data_)
        add(value_excerpt(data_of(*op), ascii_));
      else
        add(op->data ? counted(op->data->size(), "byte") : "null");
    }
    if (op && !op->acl.empty()) {
      const auto acl = public_acl_text(op->acl);
      if (op->type == TxnType::SetAcl || acl != "world:anyone:cdrwa") add(acl);
    }
    if (line.op == Op::CreateSession) add(fmt::format("timeout {} ms", line.txn.timeout));
    if (line.op == Op::Error)
      add(code_name(line.txn.error) +
          (line.txn.type == TxnType::Multi ? ", nothing of a multi was applied" : ""));
    if (line.op == Op::Unknown) add(fmt::format("of type {}", static_cast<int>(line.txn.type)));
    if (line.reason) add(reason_text(*line.reason, line.op));
    if (line.part > 0) add(fmt::format("{} of a multi", ordinal(line.part)));
    return text;
  }
  static std::string ordinal(std::size_t part) { return fmt::format("part {}", part); }

  std::string people(const Line& line) const {
    auto text =
        fmt::format("{}  {}  {}  {:<6}", local_time_text(line.txn.time), zxid_text(line.txn.zxid),
                    session_text(line.txn.session), name_of(op_names, line.op));
    if (!line.path.empty()) text += "  " + as_word(std::string(line.path));
    const auto details = detail(line);
    return details.empty() ? text : text + "  " + details;
  }

  std::string plain(const Line& line) const {
    const auto& op = line.change;
    const auto number = [](bool has, auto value) {
      return has ? std::to_string(value) : std::string("-");
    };
    auto text = fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", line.txn.time, zxid_text(line.txn.zxid),
        session_text(line.txn.session), line.txn.cxid, name_of(op_names, line.op),
        line.path.empty() ? "-" : plain_field(line.path),
        op && op->creates() ? kind_text(*op) : "-",
        number(op && (op->sets() || op->type == TxnType::SetAcl), op ? op->version : 0),
        number(op && op->data, op && op->data ? op->data->size() : 0),
        line.reason            ? name_of(reason_names, *line.reason)
        : line.op == Op::Error ? std::string_view(code_name_ = code_name(line.txn.error))
                               : "-",
        number(line.part > 0, line.part));
    if (!data_) return text;
    text += '\t';
    text += !op || !(op->creates() || op->sets()) ? "-" : op->data ? plain_field(*op->data) : "\\N";
    return text;
  }

  std::string json(const Line& line) const {
    const auto& op = line.change;
    auto json = Json::object();
    json.set_time("time", line.txn.time)
        .set("zxid", zxid_text(line.txn.zxid))
        .set("session", line.txn.session == 0 ? Json() : Json(session_text(line.txn.session)))
        .set("cxid", line.txn.cxid)
        .set("op", name_of(op_names, line.op))
        .set("path", Json::text_or_null(line.path))
        .set("multi", line.part > 0 ? Json(line.part) : Json());
    if (line.reason) json.set("reason", name_of(reason_names, *line.reason));
    if (line.op == Op::Error) json.set("code", code_name(line.txn.error));
    if (line.op == Op::CreateSession) json.set("timeout", line.txn.timeout);
    if (!op) return json.text();
    if (op->creates()) json.set("kind", op->type == TxnType::CreateTtl ? "ttl" : kind_text(*op));
    if (op->type == TxnType::CreateTtl) json.set("ttl", op->ttl);
    if (op->sets() || op->type == TxnType::SetAcl || op->type == TxnType::Check)
      json.set("version", op->version);
    if (op->creates() || op->sets()) {
      json.set("dataLength", op->data ? op->data->size() : 0);
      if (data_) json.set("data", op->data ? Json(*op->data) : Json());
    }
    if (!op->acl.empty()) json.set("acl", acl_json(decoded_acl(op->acl)));
    return json.text();
  }

  ResultLines lines_;
  bool json_;
  bool plain_;
  bool data_;
  bool ascii_;
  std::size_t most_ = 0;
  std::deque<std::string> kept_{};
  mutable std::string code_name_{};
  bool any_ = false;
};

Op op_of(const TxnOperation& change) {
  if (change.creates()) return Op::Create;
  if (change.deletes()) return Op::Delete;
  if (change.type == TxnType::SetAcl) return Op::SetAcl;
  if (change.type == TxnType::Check) return Op::Check;
  return change.type == TxnType::Reconfig ? Op::Reconfig : Op::Set;
}

/// Makes lines of transactions.
class LineMaker {
 public:
  LineMaker(Context& cx, const DataFiles& files, const Selection& selection, LinePrinter& printer)
      : ends_(files, cx.stop), selection_(selection), printer_(printer) {}

  void add(const LoggedTransaction& txn) {
    const auto ended = ends_.ephemerals(txn);
    if (!selection_.has_session(txn.session)) return;
    if (txn.failed()) return add_other(txn, Op::Error);
    if (txn.type == TxnType::CreateSession) return add_other(txn, Op::CreateSession);
    if (txn.type == TxnType::CloseSession) return add_close(txn, ended);
    if (!txn.known && txn.operations.empty()) return add_other(txn, Op::Unknown);
    std::size_t part = 0;
    for (const auto& change : txn.operations) {
      ++part;
      const auto op = op_of(change);
      if (!selection_.has_op(op) || !selection_.has_path(change.path)) continue;
      Line line{.txn = txn, .op = op, .path = change.path, .change = &change};
      if (change.type == TxnType::Delete) line.reason = Reason::Client;
      if (change.type == TxnType::DeleteContainer) line.reason = Reason::Server;
      if (txn.type == TxnType::Multi) line.part = part;
      printer_.print(line);
    }
  }

 private:
  void add_other(const LoggedTransaction& txn, Op op) {
    if (selection_.has_none() && selection_.has_op(op)) printer_.print({.txn = txn, .op = op});
  }
  void add_close(const LoggedTransaction& txn, const std::vector<std::string>& ended) {
    const auto reason = txn.expired() ? Reason::Expired : Reason::Closed;
    if (selection_.has_none() && selection_.has_op(Op::CloseSession))
      printer_.print({.txn = txn, .op = Op::CloseSession, .reason = reason});
    if (!selection_.has_op(Op::Delete)) return;
    for (const auto& path : ended)
      if (selection_.has_path(path))
        printer_.print({.txn = txn, .op = Op::Delete, .path = path, .reason = reason});
  }

  SessionEnds ends_;
  const Selection& selection_;
  LinePrinter& printer_;
};

int run_lines(Context& cx, const Args& a, DataFiles& files) {
  const Selection selection(cx, a);
  LinePrinter printer(cx, a);
  LineMaker maker(cx, files, selection, printer);
  History history(cx, files, selection, first_zxid(files, selection.from()));
  const auto add = [&](const LoggedTransaction& txn) { maker.add(txn); };
  while (!history.read(a.follow, add)) {
    constexpr std::chrono::milliseconds between_looks{200};
    printer.flush();
    cx.client.monitor().sleep_until(cx.stop, Clock::now() + between_looks);
    if (cx.stop.stop_requested()) throw Cancelled();
    files.refresh();
  }
  printer.flush();
  return printer.any() && !history.damaged() ? status::ok : status::failure;
}

/// Counts by a session or a path.
class Tally {
 public:
  struct Count {
    std::size_t operations = 0;
    std::size_t creates = 0;
    std::size_t sets = 0;
    std::size_t deletes = 0;
    std::size_t bytes = 0;  ///< in the log

    void add(const Count& other) {
      operations += other.operations;
      creates += other.creates;
      sets += other.sets;
      deletes += other.deletes;
      bytes += other.bytes;
    }
  };
  using Row = std::pair<std::string, Count>;

  void add(const std::string& key, const Count& count) {
    counts_[key].add(count);
    if (counts_.size() > most_keys) drop_small();
  }
  /// By bytes, the largest first.
  std::vector<Row> rows() const {
    std::vector<Row> rows(counts_.begin(), counts_.end());
    std::ranges::sort(rows, [](const Row& one, const Row& other) {
      return one.second.bytes != other.second.bytes ? one.second.bytes > other.second.bytes
                                                    : one.first < other.first;
    });
    return rows;
  }
  const Count& dropped() const { return dropped_; }

 private:
  static constexpr std::size_t most_keys = 100'000;
  /// Bounds the memory: the smaller half so far is added up.
  void drop_small() {
    auto all = rows();
    for (std::size_t i = all.size() / 2; i < all.size(); ++i) {
      dropped_.add(all[i].second);
      counts_.erase(all[i].first);
    }
  }
  std::unordered_map<std::string, Count> counts_{};
  Count dropped_{};
};

/// The first `depth` names of a path.
std::string beginning_of(std::string_view path, std::size_t depth) {
  std::size_t end = 0;
  for (; depth > 0 && end < path.size(); --depth)
    end = std::min(path.find('/', end + 1), path.size());
  return std::string(path.substr(0, end));
}

Tally::Count count_of(const TxnOperation& op) {
  constexpr std::size_t fields = 16;
  return {.operations = 1,
          .creates = op.creates() ? 1U : 0U,
          .sets = op.sets() ? 1U : 0U,
          .deletes = op.deletes() ? 1U : 0U,
          .bytes = op.path.size() + (op.data ? op.data->size() : 0) + op.acl.size() + fields};
}

void print_row(Context& cx, bool session, const Tally::Row& row) {
  const auto& [key, count] = row;
  if (cx.out.json())
    print_json(cx, Json::object()
                       .set(session ? "session" : "path", Json::text_or_null(key))
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
                key.empty() ? "(all others)" : as_word(key));
}

int run_by(Context& cx, const Args& a, const DataFiles& files) {
  constexpr std::int64_t usual_rows = 20;
  const bool session = *a.by == "session";
  std::size_t depth = std::string::npos;
  if (a.by->starts_with("path:"))
    depth = static_cast<std::size_t>(parse_number(a.by->substr(5), "--by path", 1, INT32_MAX));
  else if (!session && *a.by != "path")
    throw ValueError(fmt::format("--by: \"{}\" is none of session, path and path:DEPTH", *a.by));
  const auto most = a.last.value_or(usual_rows);
  if (most < 1) throw ValueError("--last must be at least 1");
  const Selection selection(cx, a);
  Tally tally;
  SessionEnds ends(files, cx.stop);
  History history(cx, files, selection, first_zxid(files, selection.from()));
  history.read(false, [&](const LoggedTransaction& txn) {
    const auto ended = ends.ephemerals(txn);
    if (!selection.has_session(txn.session) || txn.failed()) return;
    const auto count = [&](std::string_view path, Op op, Tally::Count one) {
      if (!selection.has_op(op) || !selection.has_path(path)) return;
      constexpr std::size_t frame = txn_header_size + 13;
      if (txn.operations.size() == 1) one.bytes = txn.bytes + frame - txn_header_size;
      tally.add(session ? session_text(txn.session) : beginning_of(path, depth), one);
    };
    for (const auto& op : txn.operations) count(op.path, op_of(op), count_of(op));
    for (const auto& path : ended)
      count(path, Op::Delete, {.operations = 1, .deletes = 1, .bytes = path.size() + 4});
  });
  auto rows = tally.rows();
  if (!cx.out.json() && !cx.out.plain() && !rows.empty())
    cx.out.line("{:>10}  {:>9}  {:>9}  {:>9}  {:>10}  {}", "operations", "creates", "sets",
                "deletes", "log", session ? "session" : "path");
  auto others = tally.dropped();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < static_cast<std::size_t>(most))
      print_row(cx, session, rows[i]);
    else
      others.add(rows[i].second);
  }
  if (others.operations > 0) print_row(cx, session, {"", others});
  return rows.empty() || history.damaged() ? status::failure : status::ok;
}

/// "850 ms", "4.56 s", "12m05s".
std::string length_text(std::int64_t milliseconds) {
  constexpr std::int64_t a_minute = 60'000;
  return milliseconds < a_minute ? short_time(std::chrono::milliseconds(milliseconds))
                                 : short_age(milliseconds);
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

/// `now` is where the logs end.
void print_turn(Context& cx, const PastTurn& turn, std::int64_t now) {
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
        .set("outcome", name_of(end_names, turn.end))
        .set("endedBy", turn.ended_by == 0 ? Json() : Json(session_text(turn.ended_by)));
    return print_json(cx, json);
  }
  if (cx.out.plain())
    return cx.out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", turn.asked, zxid_text(turn.token),
                       session_text(turn.session), plain_field(path), mode_text(turn), waited,
                       held ? std::to_string(held_for) : "-", name_of(end_names, turn.end));
  cx.out.line("{}  {}  {}  {}, waited {}{}, {}", local_time_text(turn.asked),
              session_text(turn.session), as_word(path), mode_text(turn), length_text(waited),
              held ? ", held " + length_text(held_for) : "", end_text(turn));
}

int run_locks(Context& cx, const Args& a, const DataFiles& files) {
  const Selection wanted(cx, a);
  const auto all = wanted.since_ever();
  auto begin = first_zxid(files, wanted.from());
  std::int64_t now = 0;
  bool any = false;
  PastLocks locks([&](std::string_view lock) { return wanted.has_path(lock); }, !a.paths.empty(),
                  [&](const PastTurn& turn) {
                    const LoggedTransaction end{.zxid = INT64_MAX,
                                                .time = turn.ended.value_or(now)};
                    if (!wanted.has_session(turn.session) || wanted.is_before(end)) return;
                    any = true;
                    print_turn(cx, turn, now);
                  });
  // Who was there at the beginning is in a snapshot.
  const DataFiles::File* base = nullptr;
  for (const auto& file : files.snapshots())
    if (!base || file.zxid <= begin) base = &file;
  const bool before = base && base->zxid <= begin;
  if (before) begin = base->zxid;
  const auto known_from = before ? begin + 1 : files.logs().front().zxid;
  const SnapshotVisitor visitor{.node = [&](SnapshotNode&& node) {
    if (is_session_owner(node.stat.ephemeral_owner) && node.stat.czxid < known_from)
      locks.add_present(node.path, node.stat.ephemeral_owner, node.stat.czxid, node.stat.ctime);
  }};
  if (base) read_snapshot(base->path, visitor, cx.stop);
  SessionEnds ends(files, cx.stop);
  History history(cx, files, all, begin);
  history.read(false, [&](const LoggedTransaction& txn) {
    const auto ended = ends.ephemerals(txn);
    now = txn.time;
    if (txn.zxid >= known_from) locks.apply(txn, ended);
  });
  locks.report_open();
  return any && !history.damaged() ? status::ok : status::failure;
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
  cx.out.line("{}{}:{}: {}\n  {}", finding.harmless ? "harmless: " : "", cx.out.shown(finding.file),
              finding.offset, cx.out.shown(finding.problem), cx.out.shown(finding.remedy));
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
  if (cx.out.json())
    print_json(cx, Json::object()
                       .set("starts", result.starts)
                       .set("zxid", zxid_text(result.zxid))
                       .set("snapshots", result.snapshots)
                       .set("logs", result.logs)
                       .set("transactions", result.transactions)
                       .set("nodes", result.nodes)
                       .set("digests", result.digests)
                       .set("problemCount", result.problems));
  else if (cx.out.plain())
    cx.out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", result.starts ? "starts" : "fails",
                zxid_text(result.zxid), result.snapshots, result.logs, result.transactions,
                result.nodes, result.digests, result.problems);
  else
    cx.out.line(
        "a server {} on these files: {}, {}, {} up to {}, {}; the tree's digest was right "
        "{} times{}",
        result.starts ? "starts" : "does not start", counted(result.snapshots, "intact snapshot"),
        counted(result.logs, "log"), counted(result.transactions, "transaction"),
        zxid_text(result.zxid), counted(result.nodes, "node"), result.digests,
        result.problems > 0 ? "; " + counted(result.problems, "problem") : "");
  return result.problems == 0 && result.starts ? status::ok : status::failure;
}

int run(Context& cx, const Args& a) {
  if (a.places.empty())
    throw SyntaxError("--in DIR says where the files are: a server's dataDir or dataLogDir");
  DataFiles files(a.places);
  if (a.check) return run_check(cx, files);
  if (files.logs().empty())
    throw Error(fmt::format("there are no transaction logs in {}", files.places_text()));
  if (a.by) return run_by(cx, a, files);
  return a.locks ? run_locks(cx, a, files) : run_lines(cx, a, files);
}

}  // namespace

extern const Command txns_command = make_command<Args>(
    {.name = "txns",
     .group = "Past",
     .summary = "Show who changed or deleted a node, from the logs",
     .keywords = {"log", "txn", "history", "past", "audit", "transaction", "deleted", "zxid"},
     .details =
         "Reads the transaction logs of a server, running or not, or a copy of them; asks no "
         "server, and writes nothing. Logs of several places are joined. A line is the time, "
         "the zxid, the session, what was done, the node, and details. A deletion says why: "
         "by the client (of the session in the line), its session expired or was closed, or "
         "by the server (an empty container, an old TTL node). A multi that failed has "
         "changed nothing: it is shown with --errors only. Reads, addresses and users are in "
         "no log. zksh-txnlog(5) has walkthroughs, and describes the files.\n\n"
         "Damage is named on stderr and passed over, and so are gaps. The status is 1 if "
         "nothing matched, or something was damaged or missing in the range, and 2 if the "
         "files cannot be read.\n\n"
         "-o plain prints fields separated by tabs, a dash for an empty one: time "
         "(milliseconds since 1970), zxid, session, cxid, op, path, kind, version, length of "
         "the value, reason (client, expired, closed, server; of an error, its code), number "
         "within a multi, and with -d the value (\\N: null).\n\n"
         "--locks prints a line when a contender's turn ends, and at the end for those that "
         "are still there: when it asked, its session, its node, for how long it waited and "
         "held the lock, and how that ended. -o plain: time, zxid, session, node, mode, "
         "waited and held in ms, and open, released, deleted (by another session), closed or "
         "expired.\n\n"
         "--by prints the largest first. -o plain: operations, creates, sets, deletes, bytes "
         "of the log, and the session or path; a dash for all others. If there are more than "
         "100 000, those that were small so far are added up with the others.\n\n"
         "--check reads all files, replays them as a server does, compares the tree's digest "
         "after each transaction, and names each problem with its place and a remedy. The "
         "status is 1 if there is one. -o plain: file, offset, first and last zxid concerned, "
         "harmless (0 or 1), problem, remedy; at the end starts or fails, last zxid, "
         "snapshots, logs, transactions, nodes, digests compared, problems.",
     .examples = {{"txns --in /var/lib/zookeeper -R /app", "What happened below /app."},
                  {"txns --in /var/lib/zookeeper --op delete --from -2h",
                   "Who deleted what in the last two hours."},
                  {"txns --in /var/lib/zookeeper --by path:2", "What fills the disk."},
                  {"txns --in /var/lib/zookeeper --locks /app/lock", "Who held a lock."},
                  {"txns --in /var/lib/zookeeper --check", "Would a server start on this?"}},
     .json = "time zxid session cxid op path multi [reason] [code] [timeout] [kind] [ttl] "
             "[version] [dataLength] [data] [acl] | time path node session mode token waitedMs "
             "heldMs outcome endedBy | session operations creates sets deletes bytes | path "
             "operations creates sets deletes bytes | file offset fromZxid toZxid problem remedy "
             "harmless | starts zxid snapshots logs transactions nodes digests problemCount",
     .needs = Needs::Nothing,
     .strict = true,
     .pages = true,
     .endless = {"--follow"}},
    declare, run);

}  // namespace zksh::command_txns
