// TransactionTally: counts operations and bytes of the logs.
#include "txnlog/transaction_tally.h"

#include <algorithm>

namespace zksh {

void TransactionTally::Count::add(const Count& other) {
  operations += other.operations;
  creates += other.creates;
  sets += other.sets;
  deletes += other.deletes;
  bytes += other.bytes;
}

TransactionTally::Count TransactionTally::count_of(const LoggedTransaction& txn,
                                                   const TxnOperation& op) {
  constexpr std::size_t frame = 13;
  constexpr std::size_t fields = 16;
  const auto own = op.path.size() + (op.data ? op.data->size() : 0) + op.acl.size() + fields;
  return {.operations = 1,
          .creates = op.creates() ? 1U : 0U,
          .sets = op.sets() ? 1U : 0U,
          .deletes = op.deletes() ? 1U : 0U,
          .bytes = txn.operations.size() == 1 ? txn.bytes + frame : own};
}

TransactionTally::Count TransactionTally::count_of_end(std::string_view path) {
  return {.operations = 1, .deletes = 1, .bytes = path.size() + 4};
}

void TransactionTally::add(const std::string& key, const Count& count) {
  constexpr std::size_t most_keys = 100'000;
  counts_[key].add(count);
  if (counts_.size() > most_keys) drop_small();
}

std::vector<TransactionTally::Row> TransactionTally::rows() const {
  std::vector<Row> rows(counts_.begin(), counts_.end());
  std::ranges::sort(rows, [](const Row& one, const Row& other) {
    return one.second.bytes != other.second.bytes ? one.second.bytes > other.second.bytes
                                                  : one.first < other.first;
  });
  return rows;
}

/// Bounds the memory: the smaller half so far is added up.
void TransactionTally::drop_small() {
  auto all = rows();
  for (std::size_t i = all.size() / 2; i < all.size(); ++i) {
    dropped_.add(all[i].second);
    counts_.erase(all[i].first);
  }
}

}  // namespace zksh
