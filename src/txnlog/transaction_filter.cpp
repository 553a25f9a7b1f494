// TransactionFilter: selects logged transactions and their parts.
#include "txnlog/transaction_filter.h"

#include "base/error.h"
#include "base/text.h"
#include "client/node_pattern.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fnmatch.h>

namespace zksh {
namespace {

bool is_below(std::string_view path, std::string_view top) {
  return top == "/" || (path.starts_with(top) && path.substr(top.size()).starts_with('/'));
}

}  // namespace

TxnEvent event_of(const TxnOperation& change) {
  if (change.creates()) return TxnEvent::Create;
  if (change.deletes()) return TxnEvent::Delete;
  if (change.type == TxnType::SetAcl) return TxnEvent::SetAcl;
  if (change.type == TxnType::Check) return TxnEvent::Check;
  return change.type == TxnType::Reconfig ? TxnEvent::Reconfig : TxnEvent::Set;
}

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
  const auto& from = criteria_.from;
  return (from.time && txn.time < *from.time) || (from.zxid && txn.zxid < *from.zxid);
}

bool TransactionFilter::is_after(const LoggedTransaction& txn) const {
  const auto& to = criteria_.to;
  return (to.time && txn.time > *to.time) || (to.zxid && txn.zxid > *to.zxid);
}

bool TransactionFilter::is_done(const LoggedTransaction& txn) const {
  constexpr std::int64_t ten_minutes = 600'000;
  const auto& to = criteria_.to;
  return (to.zxid && txn.zxid > *to.zxid) || (to.time && txn.time > *to.time + ten_minutes);
}

bool TransactionFilter::has_event(TxnEvent event) const {
  if (!criteria_.events.empty()) return criteria_.events.contains(event);
  return event != TxnEvent::Error || criteria_.errors;
}

bool TransactionFilter::has_path(std::string_view path) const {
  if (criteria_.paths.empty()) return true;
  return std::ranges::any_of(criteria_.paths, [&](const std::string& one) {
    return is_pattern(one) ? matches(one, path)
                           : path == one || (criteria_.recursive && is_below(path, one));
  });
}

TransactionFilter TransactionFilter::since_ever() const {
  auto all = *this;
  all.criteria_.from = {};
  return all;
}

bool TransactionFilter::matches(const std::string& pattern, std::string_view path) const {
  std::string text(path);
  if (fnmatch(pattern.c_str(), text.c_str(), FNM_PATHNAME) == 0) return true;
  const auto names = std::ranges::count(pattern, '/');
  if (!criteria_.recursive || std::ranges::count(text, '/') <= names) return false;
  while (std::ranges::count(text, '/') > names) text.resize(text.rfind('/'));
  return fnmatch(pattern.c_str(), text.c_str(), FNM_PATHNAME) == 0;
}

}  // namespace zksh
