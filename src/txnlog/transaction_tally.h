// TransactionTally: counts operations and bytes of the logs by a key.
#pragma once

#include "txnlog/transaction.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

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
  /// Of one operation of `txn`.
  static Count count_of(const LoggedTransaction& txn, const TxnOperation& op);
  /// Of an ephemeral that its session's end deletes.
  static Count count_of_end(std::string_view path);

  void add(const std::string& key, const Count& count);
  /// By bytes, the largest first.
  std::vector<Row> rows() const;
  /// The sum of the keys that were dropped, of which there were too many.
  const Count& dropped() const { return dropped_; }

 private:
  void drop_small();

  std::unordered_map<std::string, Count> counts_{};
  Count dropped_{};
};

}  // namespace zksh
