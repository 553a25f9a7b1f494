// txns: show the transactions that servers have logged.
#include "base/named_values.h"
#include "base/number.h"
#include "base/quoting.h"
#include "client/acl_text.h"
#include "client/node_pattern.h"
#include "client/zk_error.h"
#include "command/command.h"
#include "command/live_picture.h"
#include "command/progress.h"
#include "command/result_lines.h"
#include "node/change_text.h"
#include "node/node_json.h"
#include "tree/node_filter.h"
#include "tree/tree_text.h"
#include "txnlog/moment.h"
#include "txnlog/past_tree.h"
#include "txnlog/transaction_reader.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <fnmatch.h>
#include <set>

namespace zksh::command_txns {
namespace {

struct Args {
  std::vector<std::string> places;
  bool recursive = false;
  bool data = false;
  bool errors = false;
  bool follow = false;
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
  o.flag("--follow", a.follow, "Continue with what is added, until Ctrl-C.");
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

  bool is_before(const Transaction& txn) const {
    return (from_.time && txn.time < *from_.time) || (from_.zxid && txn.zxid < *from_.zxid);
  }
  bool is_after(const Transaction& txn) const {
    return (to_.time && txn.time > *to_.time) || (to_.zxid && txn.zxid > *to_.zxid);
  }
  /// Whether nothing that follows is selected. Leaders' clocks may differ a little.
  bool is_done(const Transaction& txn) const {
    constexpr std::int64_t ten_minutes = 600'000;
    return (to_.zxid && txn.zxid > *to_.zxid) || (to_.time && txn.time > *to_.time + ten_minutes);
  }
  bool has_session(const Transaction& txn) const { return !session_ || txn.session == *session_; }
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
    Transaction txn;
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
  History(Context& cx, const DataFiles& files, const Selection& selection)
      : cx_(cx),
        selection_(selection),
        reader_(files, first_zxid(files, selection.from()),
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
  Transaction txn_{};
  unsigned count_ = 0;
  bool damaged_ = false;
};

/// One line.
struct Line {
  const Transaction& txn;
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

/// Makes lines of transactions.
class LineMaker {
 public:
  LineMaker(Context& cx, const DataFiles& files, const Selection& selection, LinePrinter& printer)
      : cx_(cx), files_(files), selection_(selection), printer_(printer) {}

  void add(const Transaction& txn) {
    const bool closes = txn.type == TxnType::CloseSession;
    // Before 3.6, logs do not say what the end of a session deletes.
    if (closes && !txn.ephemerals && !owners_)
      owners_ = ephemerals_before(files_, txn.zxid, cx_.stop);
    if (owners_) owners_->follow(txn);
    const auto owned = owners_ && closes ? owners_->end(txn.session) : std::vector<std::string>();
    if (!selection_.has_session(txn)) return;
    if (txn.failed()) return add_other(txn, Op::Error);
    if (txn.type == TxnType::CreateSession) return add_other(txn, Op::CreateSession);
    if (closes) return add_close(txn, owned);
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
  static Op op_of(const TxnOperation& change) {
    if (change.creates()) return Op::Create;
    if (change.deletes()) return Op::Delete;
    if (change.type == TxnType::SetAcl) return Op::SetAcl;
    if (change.type == TxnType::Check) return Op::Check;
    return change.type == TxnType::Reconfig ? Op::Reconfig : Op::Set;
  }
  void add_other(const Transaction& txn, Op op) {
    if (selection_.has_none() && selection_.has_op(op)) printer_.print({.txn = txn, .op = op});
  }
  void add_close(const Transaction& txn, const std::vector<std::string>& owned) {
    const auto reason = txn.expired() ? Reason::Expired : Reason::Closed;
    if (selection_.has_none() && selection_.has_op(Op::CloseSession))
      printer_.print({.txn = txn, .op = Op::CloseSession, .reason = reason});
    if (!selection_.has_op(Op::Delete)) return;
    const auto add = [&](std::string_view path) {
      if (selection_.has_path(path))
        printer_.print({.txn = txn, .op = Op::Delete, .path = path, .reason = reason});
    };
    if (txn.ephemerals)
      std::ranges::for_each(*txn.ephemerals, add);
    else
      std::ranges::for_each(owned, add);
  }

  Context& cx_;
  const DataFiles& files_;
  const Selection& selection_;
  LinePrinter& printer_;
  std::optional<EphemeralOwners> owners_{};
};

int run(Context& cx, const Args& a) {
  if (a.places.empty())
    throw SyntaxError("--in DIR says where the files are: a server's dataDir or dataLogDir");
  const Selection selection(cx, a);
  DataFiles files(a.places);
  if (files.logs().empty())
    throw Error(fmt::format("there are no transaction logs in {}", files.places_text()));
  LinePrinter printer(cx, a);
  LineMaker maker(cx, files, selection, printer);
  History history(cx, files, selection);
  const auto add = [&](const Transaction& txn) { maker.add(txn); };
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

}  // namespace

extern const Command txns_command = make_command<Args>(
    {.name = "txns",
     .group = "Past",
     .summary = "Show logged transactions: who changed or deleted a node, and when",
     .keywords = {"log", "history", "past", "audit", "transaction", "deleted", "zxid"},
     .details =
         "Reads the transaction logs of a server, running or not, or a copy of them; asks no "
         "server, and writes nothing. Logs of several places are joined. A line is the time, the "
         "zxid, the session, what was done, the node, and details. A deletion says why: by the "
         "client (of the session in the line), its session expired or was closed, or by the server "
         "(an empty container, an old TTL node). A multi that failed has changed nothing: it is "
         "shown with --errors only. Reads, addresses and users are in no log.\n\nDamage is named "
         "on stderr and passed over, and so are gaps. The status is 1 if nothing matched, or "
         "something was damaged or missing in the range, and 2 if the files cannot be read.\n\n-o "
         "plain prints fields separated by tabs, a dash for an empty one: time (milliseconds since "
         "1970), zxid, session, cxid, op, path, kind, version, length of the value, reason "
         "(client, "
         "expired, closed, server; of an error, its code), number within a multi, and with -d the "
         "value (\\N: null).",
     .json =
         "time zxid session cxid op path multi [reason] [code] [timeout] [kind] [ttl] [version] "
         "[dataLength] [data] [acl]",
     .needs = Needs::Nothing,
     .strict = true,
     .pages = true,
     .endless = {"--follow"}},
    declare, run);

}  // namespace zksh::command_txns
