// DigestCheck: whether the digests in a log are those of the tree that is replayed from it.
#pragma once

#include "txnlog/log_file.h"
#include "txnlog/snapshot.h"
#include "txnlog/transaction.h"

#include <cstdint>
#include <optional>
#include <string>

namespace zksh {

/// What a digest proves. A snapshot's is that of a tree in which the next transaction may be half
/// applied, since the thread that writes it does not wait: so it is not compared, and the digests
/// of transactions count from that next one on. A transaction's digest is what the leader
/// computed ahead, from the requests under way (PrepRequestProcessor). Servers know the root by two
/// paths, "" and "/"; if a request for "/" itself (set, setAcl) is under way together with others
/// that change it, the leader misses its other changes, and the digests differ until none is under
/// way. The tree is right all the same: servers count that (zk_digest_mismatches_count), and go on.
///
/// Within an epoch a transaction without a gap before it makes a right tree from a right one, and
/// what one leader wrote stays one history. So digests that differ show another tree only if the
/// first of them is the first that is compared, or the first of an epoch, and no request for "/"
/// was under way (a server has at most 1000: globalOutstandingLimit). If they are right
/// again later, what differed is gone; in the first case the snapshot was fuzzier than it says.
class DigestCheck {
 public:
  /// Digests that are not those of the tree.
  struct Difference {
    std::string file{};  ///< where the first is
    std::uint64_t offset = 0;
    std::int64_t from = 0;  ///< the zxids of the first and the last
    std::int64_t to = 0;
    std::uint64_t count = 0;
    bool ended = false;  ///< a later one is right
  };

  DigestCheck() = default;
  /// `first`: the snapshot's own zxid.
  DigestCheck(const SnapshotEnd& end, std::int64_t first);

  /// Must be called for each transaction that is read, before it is applied, if it is.
  void note(const LoggedTransaction& txn);
  /// After it has been applied. `right`: whether its digest, if it has one, is the tree's.
  void compare(const LoggedTransaction& txn, bool right, const std::string& file,
               std::uint64_t offset);
  /// After missing transactions nothing is compared: the tree is another one.
  void give_up();
  /// After the last transaction.
  void finish();

  std::uint64_t right() const { return right_; }
  /// The first that show that the tree is not the one that the servers had.
  const std::optional<Difference>& wrong() const { return wrong_; }
  /// Those that show nothing, together.
  const std::optional<Difference>& harmless() const { return harmless_; }

 private:
  void end_run(bool wrong);

  std::int64_t from_ = INT64_MAX;
  bool gives_up_ = false;
  std::uint64_t right_ = 0;
  std::uint64_t since_root_ = UINT64_MAX;  ///< transactions since the last for "/"
  std::int64_t last_right_ = -1;
  bool doubtful_ = false;   ///< whether the run may show another tree
  bool new_epoch_ = false;  ///< whether it began with one
  std::optional<Difference> run_{};
  std::optional<Difference> wrong_{};
  std::optional<Difference> harmless_{};
};

}  // namespace zksh
