// TransactionText: logged transactions as lines for people, pipes and programs.
#pragma once

#include "base/json.h"
#include "txnlog/transaction.h"
#include "txnlog/transaction_filter.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// One line: a transaction, or a part of it.
struct TransactionLine {
  /// Why a node was deleted, or a session ended.
  enum class Reason { Client, Expired, Closed, Server };

  const LoggedTransaction& txn;
  TxnEvent event = TxnEvent::Error;
  std::string_view path{};
  const TxnOperation* change = nullptr;
  std::optional<Reason> reason{};
  std::size_t part = 0;  ///< of a multi, from 1; 0: it is none
};

/// Calls `visit` for each line of a transaction that is selected. `ended`: the ephemerals that it
/// deletes as the end of their session (see SessionEnds).
void visit_lines(const LoggedTransaction& txn, const std::vector<std::string>& ended,
                 const TransactionFilter& filter,
                 const std::function<void(const TransactionLine& line)>& visit);

/// The text of a line, without its newline. The help of `txns` describes the fields.
class TransactionText {
 public:
  enum class Format { People, Plain, Json };

  /// `data`: with the values. `ascii`: no characters beyond ASCII.
  TransactionText(Format format, bool data, bool ascii)
      : format_(format), data_(data), ascii_(ascii) {}

  std::string text(const TransactionLine& line) const;

 private:
  std::string detail(const TransactionLine& line) const;
  std::string people(const TransactionLine& line) const;
  std::string plain(const TransactionLine& line) const;
  std::string json(const TransactionLine& line) const;
  void add_change(JsonLine& json, const TxnOperation& op) const;

  Format format_;
  bool data_;
  bool ascii_;
};

}  // namespace zksh
