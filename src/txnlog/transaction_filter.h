// TransactionFilter: selects logged transactions and their parts by the user's criteria.
#pragma once

#include "base/named_values.h"
#include "txnlog/moment.h"
#include "txnlog/transaction.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// What a line about a transaction, or a part of it, is about.
enum class TxnEvent {
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
inline constexpr NamedValues<TxnEvent, 10> txn_event_names{
    {{"create", TxnEvent::Create},
     {"set", TxnEvent::Set},
     {"delete", TxnEvent::Delete},
     {"setAcl", TxnEvent::SetAcl},
     {"reconfig", TxnEvent::Reconfig},
     {"check", TxnEvent::Check},
     {"createSession", TxnEvent::CreateSession},
     {"closeSession", TxnEvent::CloseSession},
     {"error", TxnEvent::Error},
     {"unknown", TxnEvent::Unknown}}};

TxnEvent event_of(const TxnOperation& change);

/// The criteria; what is empty selects all.
struct TransactionCriteria {
  Moment from{};
  Moment to{};
  std::optional<std::int64_t> session{};
  std::vector<std::string> paths{};  ///< absolute; *, ? and [ ] match within a name
  bool recursive = false;            ///< also what is below the paths
  std::set<TxnEvent> events{};       ///< empty: all but errors
  bool errors = false;
};
/// Parses names of events, separated by commas. Throws ValueError, naming `what`.
std::set<TxnEvent> parse_txn_events(std::string_view text, std::string_view what);

class TransactionFilter {
 public:
  explicit TransactionFilter(TransactionCriteria criteria) : criteria_(std::move(criteria)) {}

  bool is_before(const LoggedTransaction& txn) const;
  bool is_after(const LoggedTransaction& txn) const;
  /// Whether nothing that follows is selected. Leaders' clocks may differ a little.
  bool is_done(const LoggedTransaction& txn) const;
  bool has_event(TxnEvent event) const;
  bool has_path(std::string_view path) const;
  /// Whether what is about no node is selected.
  bool has_none() const { return criteria_.paths.empty(); }
  bool has_session(std::int64_t session) const {
    return !criteria_.session || session == *criteria_.session;
  }
  const Moment& from() const { return criteria_.from; }
  /// The same without a beginning.
  TransactionFilter since_ever() const;

 private:
  bool matches(const std::string& pattern, std::string_view path) const;

  TransactionCriteria criteria_;
};

}  // namespace zksh
