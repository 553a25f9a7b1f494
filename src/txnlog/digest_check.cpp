// DigestCheck: whether the digests in a log are those of the tree that is replayed from it.
#include "txnlog/digest_check.h"

#include "base/number.h"

#include <algorithm>
#include <utility>

namespace zksh {

DigestCheck::DigestCheck(const SnapshotEnd& end, std::int64_t first) {
  // Without a digest the snapshot is of a server to 3.5, or one that was told to write none.
  if (end.digest_zxid) from_ = std::max({first + 1, *end.digest_zxid + 1, end.newest_zxid});
}

void DigestCheck::note(const LoggedTransaction& txn) {
  if (since_root_ != UINT64_MAX) ++since_root_;
  for (const auto& op : txn.operations)
    if (op.path == "/" && op.type != TxnType::Check) since_root_ = 0;
}

void DigestCheck::compare(const LoggedTransaction& txn, bool right, const std::string& file,
                          std::uint64_t offset) {
  constexpr std::uint64_t most_under_way = 1000;
  if (!txn.digest || gives_up_ || txn.zxid < from_) return;
  if (right) {
    ++right_;
    last_right_ = txn.zxid;
    if (run_) run_->ended = true;
    end_run(new_epoch_);
    return;
  }
  if (!run_) {
    run_ = Difference{.file = file, .offset = offset, .from = txn.zxid};
    new_epoch_ = last_right_ >= 0 && epoch_of(txn.zxid) != epoch_of(last_right_);
    doubtful_ = (last_right_ < 0 || new_epoch_) && since_root_ > most_under_way;
  }
  run_->to = txn.zxid;
  ++run_->count;
}

void DigestCheck::give_up() {
  end_run(false);
  gives_up_ = true;
}

void DigestCheck::finish() { end_run(true); }

/// `wrong`: what a doubtful run is.
void DigestCheck::end_run(bool wrong) {
  const auto run = std::exchange(run_, std::nullopt);
  if (!run) return;
  auto& kind = doubtful_ && wrong ? wrong_ : harmless_;
  if (!kind) {
    kind = run;
    return;
  }
  kind->to = run->to;
  kind->count += run->count;
  kind->ended = run->ended;
}

}  // namespace zksh
