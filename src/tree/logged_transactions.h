// Logged transactions: selects them, formats them as lines, and counts who writes most.
#pragma once

#include "txnlog/moment.h"
#include "txnlog/transaction.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Parses names of events, separated by commas. Throws ValueError, naming `what`.
std::set<TxnEvent> parse_txn_events(std::string_view text, std::string_view what);

/// Which transactions, and which parts of them; an empty criterion selects all.
struct TransactionFilter {
  Moment from{};
  Moment to{};
  std::optional<std::int64_t> session{};
  std::vector<std::string> paths{};  ///< absolute; *, ? and [ ] match within a name
  bool recursive = false;            ///< also what is below the paths
  std::set<TxnEvent> events{};       ///< empty: all but errors
  bool errors = false;

  bool is_before(const LoggedTransaction& txn) const;
  bool is_after(const LoggedTransaction& txn) const;
  /// Whether nothing that follows is selected. Leaders' clocks may differ a little.
  bool is_done(const LoggedTransaction& txn) const;
  bool has_event(TxnEvent event) const;
  /// Whether it selects all events, errors or not.
  bool has_all_events() const { return events.empty(); }
  bool has_path(std::string_view path) const;
  /// Whether events that are about no node are selected.
  bool has_none() const { return paths.empty(); }
  bool has_session(std::int64_t id) const { return !session || id == *session; }
};

class TransactionTally {
 public:
  struct Count {
    std::size_t operations = 0;
    std::size_t creates = 0;
    std::size_t sets = 0;
    std::size_t deletes = 0;
    std::size_t bytes = 0;  ///< in the log

    void add(const Count& other);
  };
  using Row = std::pair<std::string, Count>;
  /// Calls `visit` for each part of a transaction: its operations, the ephemerals that the end of a
  /// session deletes (`ended`), and what is about no node, without a path. The bytes of the parts
  /// add up to those of its record, with its frame.
  static void visit_parts(
      const LoggedTransaction& txn, const std::vector<std::string>& ended,
      const std::function<void(std::string_view path, TxnEvent event, const Count&)>& visit);

  void add(const std::string& key, const Count& count);
  /// By bytes, the largest first.
  std::vector<Row> rows() const;
  /// The sum of the keys that were dropped because there were too many.
  const Count& dropped() const { return dropped_; }

 private:
  std::unordered_map<std::string, Count> counts_{};
  Count dropped_{};
};

/// One line: a transaction, or a part of it.
struct TransactionLine {
  /// Why a node was deleted, or a session ended.
  enum class Reason { Client, Expired, Closed, Server };

  const LoggedTransaction& txn;
  TxnEvent event = TxnEvent::Error;
  std::string_view path{};
  const TxnOperation* change = nullptr;
  std::optional<Reason> reason{};
  std::size_t part = 0;  ///< of a multi, from 1; 0: not of a multi
};

/// Calls `visit` for each line of a transaction that is selected. `ended`: the ephemerals that it
/// deletes as the end of their session (see SessionEnds).
void visit_lines(const LoggedTransaction& txn, const std::vector<std::string>& ended,
                 const TransactionFilter& filter,
                 const std::function<void(const TransactionLine& line)>& visit);

struct TransactionText {
  enum class Format { People, Plain, Json };
  Format format;
  bool data;   ///< with the values
  bool ascii;  ///< no characters beyond ASCII

  /// The text of a line, without its newline. The help of `txns` describes the fields.
  std::string text(const TransactionLine& line) const;
};

}  // namespace zksh
