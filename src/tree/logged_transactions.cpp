// Logged transactions: selects them, formats them as lines, and counts who writes most.
#include "tree/logged_transactions.h"

#include "base/error.h"
#include "base/json.h"
#include "base/named_values.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "base/words.h"
#include "client/acl_text.h"
#include "client/node_pattern.h"
#include "client/zk_error.h"
#include "node/change_text.h"
#include "node/node_json.h"
#include "tree/tree_record.h"
#include "tree/tree_text.h"

#include <fmt/compile.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fnmatch.h>

namespace zksh {
namespace {

constexpr NamedValues<TxnEvent, 10> txn_event_names{{{"create", TxnEvent::Create},
                                                     {"set", TxnEvent::Set},
                                                     {"delete", TxnEvent::Delete},
                                                     {"setAcl", TxnEvent::SetAcl},
                                                     {"reconfig", TxnEvent::Reconfig},
                                                     {"check", TxnEvent::Check},
                                                     {"createSession", TxnEvent::CreateSession},
                                                     {"closeSession", TxnEvent::CloseSession},
                                                     {"error", TxnEvent::Error},
                                                     {"unknown", TxnEvent::Unknown}}};

using Reason = TransactionLine::Reason;
constexpr NamedValues<Reason, 4> reason_names{{{"client", Reason::Client},
                                               {"expired", Reason::Expired},
                                               {"closed", Reason::Closed},
                                               {"server", Reason::Server}}};

TxnEvent event_of(const TxnOperation& change) {
  if (change.creates()) return TxnEvent::Create;
  if (change.deletes()) return TxnEvent::Delete;
  if (change.type == TxnType::SetAcl) return TxnEvent::SetAcl;
  if (change.type == TxnType::Check) return TxnEvent::Check;
  return change.type == TxnType::Reconfig ? TxnEvent::Reconfig : TxnEvent::Set;
}

std::string kind_text(const TxnOperation& op) {
  return life_text({.kind = op.type == TxnType::CreateContainer ? NodeKind::Container
                            : op.type == TxnType::CreateTtl     ? NodeKind::Ttl
                            : op.ephemeral                      ? NodeKind::Ephemeral
                                                                : NodeKind::Persistent,
                    .ttl = op.ttl});
}

std::string_view reason_text(Reason reason, TxnEvent event) {
  const bool session = event == TxnEvent::CloseSession;
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

void visit_close(const LoggedTransaction& txn, const std::vector<std::string>& ended,
                 const TransactionFilter& filter,
                 const std::function<void(const TransactionLine& line)>& visit) {
  const auto reason = txn.expired() ? Reason::Expired : Reason::Closed;
  if (filter.has_none() && filter.has_event(TxnEvent::CloseSession))
    visit({.txn = txn, .event = TxnEvent::CloseSession, .reason = reason});
  if (!filter.has_event(TxnEvent::Delete)) return;
  for (const auto& path : ended)
    if (filter.has_path(path))
      visit({.txn = txn, .event = TxnEvent::Delete, .path = path, .reason = reason});
}

/// `recursive`: or what is above it.
bool matches(const std::string& pattern, std::string_view path, bool recursive) {
  std::string text(path);
  if (matches_pattern(pattern, text, FNM_PATHNAME)) return true;
  const auto names = std::ranges::count(pattern, '/');
  if (!recursive || std::ranges::count(text, '/') <= names) return false;
  while (std::ranges::count(text, '/') > names) text.resize(text.rfind('/'));
  return matches_pattern(pattern, text, FNM_PATHNAME);
}

std::string detail_text(const TransactionText& style, const TransactionLine& line) {
  const auto& op = line.change;
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (op && op->creates()) add(kind_text(*op));
  if (op && (op->sets() || op->type == TxnType::SetAcl || op->type == TxnType::Check))
    add(fmt::format(FMT_COMPILE("version {}"), op->version));
  if (op && (op->creates() || op->sets())) {
    if (style.data)
      add(value_excerpt(op->data ? Data(*op->data) : std::nullopt, style.ascii));
    else
      add(op->data ? counted(op->data->size(), "byte") : "null");
  }
  if (op && !op->acl.empty()) {
    const auto acl = acl_field(without_hashes(decoded_acl(op->acl)));
    if (op->type == TxnType::SetAcl || acl != "world:anyone:cdrwa") add(acl);
  }
  if (line.event == TxnEvent::CreateSession)
    add("timeout " + short_time(std::chrono::milliseconds(line.txn.timeout)));
  if (line.event == TxnEvent::Error)
    add(code_name(line.txn.error) +
        (line.txn.type == TxnType::Multi ? ", nothing of a multi was applied" : ""));
  if (line.event == TxnEvent::Unknown)
    add(fmt::format("of type {}", static_cast<int>(line.txn.type)));
  if (line.reason) add(reason_text(*line.reason, line.event));
  if (line.part > 0) add(fmt::format("part {} of a multi", line.part));
  return text;
}

std::string people_text(const TransactionText& style, const TransactionLine& line) {
  constexpr std::size_t usual = 160;
  constexpr std::size_t name_columns = 6;
  auto text = local_time_text(line.txn.time);
  text.reserve(usual);
  const auto add = [&](std::string_view field) { text.append("  ").append(field); };
  add(zxid_text(line.txn.zxid));
  add(session_text(line.txn.session));
  const auto name = name_of(txn_event_names, line.event);
  add(name);
  text.append(name_columns - std::min(name_columns, name.size()), ' ');
  if (!line.path.empty()) add(as_word(line.path));
  const auto details = detail_text(style, line);
  if (!details.empty()) add(details);
  return text;
}

std::string plain_text(const TransactionLine& line, bool data) {
  const auto& op = line.change;
  const auto number = [](bool has, auto value) {
    return has ? std::to_string(value) : std::string("-");
  };
  const auto error = line.event == TxnEvent::Error ? code_name(line.txn.error) : std::string();
  auto text = fmt::format(
      FMT_COMPILE("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}"), line.txn.time,
      zxid_text(line.txn.zxid), session_text(line.txn.session), line.txn.cxid,
      name_of(txn_event_names, line.event), line.path.empty() ? "-" : plain_field(line.path),
      op && op->creates() ? kind_text(*op) : "-",
      number(op && (op->sets() || op->type == TxnType::SetAcl), op ? op->version : 0),
      number(op && op->data, op && op->data ? op->data->size() : 0),
      line.reason                     ? name_of(reason_names, *line.reason)
      : line.event == TxnEvent::Error ? std::string_view(error)
                                      : "-",
      number(line.part > 0, line.part));
  if (!data) return text;
  text += '\t';
  text += !op || !(op->creates() || op->sets()) ? "-" : op->data ? plain_field(*op->data) : "\\N";
  return text;
}

void add_change(JsonLine& json, const TxnOperation& op, bool data) {
  if (op.creates()) json.set_text("kind", op.type == TxnType::CreateTtl ? "ttl" : kind_text(op));
  if (op.type == TxnType::CreateTtl) json.set_number("ttl", op.ttl);
  if (op.sets() || op.type == TxnType::SetAcl || op.type == TxnType::Check)
    json.set_number("version", std::int64_t{op.version});
  if (op.creates() || op.sets()) {
    json.set_number("dataLength", static_cast<std::int64_t>(op.data ? op.data->size() : 0));
    if (data) json.set_text("data", op.data);
  }
  if (!op.acl.empty()) json.set("acl", acl_json(decoded_acl(op.acl)));
}

std::string json_text(const TransactionLine& line, bool data) {
  const auto& op = line.change;
  std::string text;
  JsonLine json([&](std::string_view piece) { text += piece; });
  json.set_time("time", line.txn.time)
      .set_text("zxid", zxid_text(line.txn.zxid))
      .set_text_or_null("session", line.txn.session == 0 ? "" : session_text(line.txn.session))
      .set_number("cxid", std::int64_t{line.txn.cxid})
      .set_text("op", name_of(txn_event_names, line.event))
      .set_text_or_null("path", line.path)
      .set("multi", line.part > 0 ? Json(line.part) : Json());
  if (line.reason) json.set_text("reason", name_of(reason_names, *line.reason));
  if (line.event == TxnEvent::Error) json.set("code", code_name(line.txn.error));
  if (line.event == TxnEvent::CreateSession) json.set("timeout", line.txn.timeout);
  if (op) add_change(json, *op, data);
  json.end();
  text.pop_back();
  return text;
}

}  // namespace

std::set<TxnEvent> parse_txn_events(std::string_view text, std::string_view what) {
  std::set<TxnEvent> events;
  for (const auto name : split(text, ',')) {
    const auto known = std::ranges::find_if(
        txn_event_names, [&](const auto& event) { return equal_ignoring_case(event.first, name); });
    if (known == txn_event_names.end())
      throw ValueError(fmt::format("{}: \"{}\" is none of {}", what, name,
                                   fmt::join(names_of(txn_event_names), ", ")));
    events.insert(known->second);
  }
  return events;
}

bool TransactionFilter::is_before(const LoggedTransaction& txn) const {
  return (from.time && txn.time < *from.time) || (from.zxid && txn.zxid < *from.zxid);
}

bool TransactionFilter::is_after(const LoggedTransaction& txn) const {
  return (to.time && txn.time > *to.time) || (to.zxid && txn.zxid > *to.zxid);
}

bool TransactionFilter::is_done(const LoggedTransaction& txn) const {
  constexpr std::int64_t ten_minutes = 600'000;
  return (to.zxid && txn.zxid > *to.zxid) || (to.time && txn.time > *to.time + ten_minutes);
}

bool TransactionFilter::has_event(TxnEvent event) const {
  if (!events.empty()) return events.contains(event);
  return event != TxnEvent::Error || errors;
}

bool TransactionFilter::has_path(std::string_view path) const {
  if (paths.empty()) return true;
  return std::ranges::any_of(paths, [&](const std::string& one) {
    return is_pattern(one) ? matches(one, path, recursive)
                           : path == one || (recursive && is_within(path, one));
  });
}

void TransactionTally::Count::add(const Count& other) {
  operations += other.operations;
  creates += other.creates;
  sets += other.sets;
  deletes += other.deletes;
  bytes += other.bytes;
}

void TransactionTally::visit_parts(
    const LoggedTransaction& txn, const std::vector<std::string>& ended,
    const std::function<void(std::string_view, TxnEvent, const Count&)>& visit) {
  constexpr std::size_t frame = 13;
  constexpr std::size_t length = 4;
  constexpr std::size_t fields = 16;  // of an operation, besides its texts
  auto left = txn.bytes + frame;
  const auto take = [&](std::size_t bytes) {
    bytes = std::min(bytes, left);
    left -= bytes;
    return bytes;
  };
  const bool closes = txn.type == TxnType::CloseSession;
  if (closes)
    for (const auto& path : ended)
      visit(path, TxnEvent::Delete,
            {.operations = 1,
             .deletes = 1,
             .bytes = txn.ephemerals ? take(path.size() + length) : 0});
  for (auto op = txn.operations.rbegin(); op != txn.operations.rend(); ++op) {
    const auto own = op->path.size() + (op->data ? op->data->size() : 0) + op->acl.size() + fields;
    // The first gets what is left.
    visit(op->path, event_of(*op),
          {.operations = 1,
           .creates = op->creates() ? 1U : 0U,
           .sets = op->sets() ? 1U : 0U,
           .deletes = op->deletes() ? 1U : 0U,
           .bytes = take(op + 1 == txn.operations.rend() ? left : own)});
  }
  if (!txn.operations.empty()) return;
  visit({},
        txn.failed()                         ? TxnEvent::Error
        : closes                             ? TxnEvent::CloseSession
        : txn.type == TxnType::CreateSession ? TxnEvent::CreateSession
                                             : TxnEvent::Unknown,
        {.operations = 1, .bytes = left});
}

void TransactionTally::add(const std::string& key, const Count& count) {
  constexpr std::size_t most_keys = 100'000;
  counts_[key].add(count);
  if (counts_.size() <= most_keys) return;
  // Bounds the memory: the smaller half so far is added up.
  const auto all = rows();
  for (std::size_t i = all.size() / 2; i < all.size(); ++i) {
    dropped_.add(all[i].second);
    counts_.erase(all[i].first);
  }
}

std::vector<TransactionTally::Row> TransactionTally::rows() const {
  std::vector<Row> rows(counts_.begin(), counts_.end());
  std::ranges::sort(rows, [](const Row& one, const Row& other) {
    return one.second.bytes != other.second.bytes ? one.second.bytes > other.second.bytes
                                                  : one.first < other.first;
  });
  return rows;
}

void visit_lines(const LoggedTransaction& txn, const std::vector<std::string>& ended,
                 const TransactionFilter& filter,
                 const std::function<void(const TransactionLine& line)>& visit) {
  if (!filter.has_session(txn.session)) return;
  const auto visit_whole = [&](TxnEvent event) {
    if (filter.has_none() && filter.has_event(event)) visit({.txn = txn, .event = event});
  };
  if (txn.failed()) return visit_whole(TxnEvent::Error);
  if (txn.type == TxnType::CreateSession) return visit_whole(TxnEvent::CreateSession);
  if (txn.type == TxnType::CloseSession) return visit_close(txn, ended, filter, visit);
  if (!txn.known && txn.operations.empty()) return visit_whole(TxnEvent::Unknown);
  std::size_t part = 0;
  for (const auto& change : txn.operations) {
    ++part;
    const auto event = event_of(change);
    if (!filter.has_event(event) || !filter.has_path(change.path)) continue;
    TransactionLine line{.txn = txn, .event = event, .path = change.path, .change = &change};
    if (change.type == TxnType::Delete) line.reason = Reason::Client;
    if (change.type == TxnType::DeleteContainer) line.reason = Reason::Server;
    if (txn.type == TxnType::Multi) line.part = part;
    visit(line);
  }
}

std::string TransactionText::text(const TransactionLine& line) const {
  if (format == Format::Json) return json_text(line, data);
  return format == Format::Plain ? plain_text(line, data) : people_text(*this, line);
}

}  // namespace zksh
