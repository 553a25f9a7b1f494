// FileCheck: whether a server would start on its files, and what is wrong with them.
#include "txnlog/file_check.h"

#include "base/error.h"
#include "base/number.h"
#include "txnlog/past_tree.h"
#include "txnlog/replay.h"
#include "txnlog/transaction_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace zksh {
namespace {

constexpr std::string_view other_member =
    "stop the server, remove its version-2 directory, and let it take the data of another member; "
    "a "
    "standalone server needs a backup";

/// Does the work.
class Checker {
 public:
  Checker(const DataFiles& files, const FileCheckPlan& plan) : files_(files), plan_(plan) {}

  FileCheckResult run() {
    result_.logs = files_.logs().size();
    for (const auto& path : files_.misnamed())
      add({.file = path,
           .problem = "the name is that of no log and no snapshot",
           .remedy = "remove the file, or give it its name back",
           .harmless = true});
    check_snapshots();
    check_unusable();
    if (!files_.logs().empty()) check_logs();
    check_epochs();
    result_.nodes = tree_.size();
    return result_;
  }

 private:
  void add(const Finding& finding, bool fatal = false) {
    if (!finding.harmless) ++result_.problems;
    if (fatal) result_.starts = false;
    plan_.report(finding);
  }

  /// Whether servers open a log: all that may have what follows their snapshot.
  bool reads(std::int64_t log) const {
    return std::ranges::none_of(files_.logs(), [&](const DataFiles::File& other) {
      return base_ && other.zxid > log && other.zxid <= base_->zxid;
    });
  }
  bool reads(const std::string& log) const {
    const auto file = std::ranges::find(files_.logs(), log, &DataFiles::File::path);
    return file == files_.logs().end() || reads(file->zxid);
  }

  void check_unusable() {
    for (const auto& [file, log, problem] : files_.unusable()) {
      const bool is_read = log && reads(file.zxid);
      add({.file = file.path,
           .from = file.zxid,
           .to = file.zxid,
           .problem = problem,
           .remedy = is_read ? "bring the log back, or take the files of another member: servers "
                               "that read it do not start"
                             : "remove it, or bring the file back: servers pass it over"},
          is_read);
    }
  }

  /// The newest intact one, which a server would load, stays in the tree.
  void check_snapshots() {
    for (const auto& file : files_.newest_snapshots()) {
      try {
        if (base_) {
          read_snapshot(file.path, {}, plan_.stop);
        } else {
          end_ = tree_.load(file.path, plan_.stop);
          base_ = file;
        }
        ++result_.snapshots;
      } catch (const DamagedSnapshot& damage) {
        add({.file = file.path,
             .offset = damage.offset(),
             .from = file.zxid,
             .to = file.zxid,
             .problem = damage.problem(),
             .remedy = base_ ? "remove the file; there is a newer one"
                             : "remove the file: servers take an older snapshot, if there is one, "
                               "and the logs after it"});
      }
    }
    if (base_) {
      result_.zxid = base_->zxid;
      return;
    }
    tree_ = PastTree(true);
    if (files_.logs().empty()) return;
    // Servers since 3.6, which write digests, always have a snapshot.
    const bool first = begins_with_first(files_) && !has_digests();
    if (first) {
      tree_.load_first();
      base_ = DataFiles::File{.path = "the first tree", .zxid = files_.logs().front().zxid - 1};
    }
    add({.file = files_.places_text(),
         .problem = first ? "there is no snapshot yet, as at the beginning of a server to 3.4"
                          : "there are logs, and no intact snapshot to begin with",
         .remedy =
             "later servers do not start without one, unless "
             "zookeeper.snapshot.trust.empty=true, which is right only if there never was one",
         .harmless = first},
        !first);
  }

  bool has_digests() const {
    TransactionReader reader(files_, INT64_MIN, {});
    LoggedTransaction txn;
    for (int looks = 100; looks > 0 && reader.next(txn); --looks)
      if (txn.digest) return true;
    return false;
  }

  void check_logs() {
    TransactionReader reader(files_, INT64_MIN, [this](const Flaw& flaw) { add_flaw(flaw); });
    LoggedTransaction txn;
    while (reader.next(txn)) {
      if (++result_.transactions % 256 == 0) {
        if (plan_.stop.stop_requested()) throw Cancelled();
        if (plan_.progress) plan_.progress(reader.bytes_read(), reader.bytes_total());
      }
      if (std::exchange(last_file_, reader.file()) != reader.file()) check_name(reader, txn);
      result_.zxid = std::max(result_.zxid, txn.zxid);
      if (!base_ || txn.zxid <= base_->zxid) continue;
      if (result_.transactions == 1) check_begin(reader, txn);
      tree_.apply(txn);
      compare_digest(reader, txn);
    }
    const auto complete = std::max(end_.digest_zxid.value_or(0), end_.last_zxid.value_or(0));
    if (base_ && complete > result_.zxid)
      add({.file = base_->path,
           .from = result_.zxid + 1,
           .to = complete,
           .problem = fmt::format("the logs end at {}, before the snapshot was complete",
                                  zxid_text(result_.zxid)),
           .remedy = "add the log; without it the tree is only about right"});
  }

  void check_name(const TransactionReader& reader, const LoggedTransaction& txn) {
    const auto file = std::ranges::find(files_.logs(), reader.file(), &DataFiles::File::path);
    if (file == files_.logs().end() || file->zxid == txn.zxid || txn.zxid < file->zxid) return;
    // The records before it are damaged, or of another log.
    if (!damaged_)
      add({.file = reader.file(),
           .from = file->zxid,
           .to = txn.zxid - 1,
           .problem = fmt::format("the first transaction is {}, not the one in its name",
                                  zxid_text(txn.zxid)),
           .remedy = "give the file its name back: servers find logs by it",
           .harmless = true});
  }

  /// The first transaction of all, if it is after the snapshot.
  void check_begin(const TransactionReader& reader, const LoggedTransaction& txn) {
    const bool next = txn.zxid == base_->zxid + 1 ||
                      (epoch_of(txn.zxid) > epoch_of(base_->zxid) && counter_of(txn.zxid) == 1);
    if (next) return;
    add({.file = reader.file(),
         .offset = reader.offset(),
         .from = base_->zxid + 1,
         .to = txn.zxid - 1,
         .problem =
             fmt::format("transactions between {} and the first log are missing", base_->path),
         .remedy = "add the log; a server starts, and its tree is wrong"});
  }

  void compare_digest(const TransactionReader& reader, const LoggedTransaction& txn) {
    if (!txn.digest || differs_ || txn.zxid < end_.digest_zxid.value_or(INT64_MAX)) return;
    if (*txn.digest == tree_.digest()) {
      ++result_.digests;
      return;
    }
    differs_ = true;
    add({.file = reader.file(),
         .offset = reader.offset(),
         .from = txn.zxid,
         .to = txn.zxid,
         .problem = "from this transaction on, the tree differs from the one that its server had",
         .remedy = std::string(other_member)});
  }

  void add_flaw(const Flaw& flaw) {
    using Kind = Flaw::Kind;
    damaged_ = damaged_ || !flaw.harmless;
    // A member that was too far behind gets the leader's snapshot in place of transactions.
    const bool bridged = flaw.kind == Kind::Gap && base_ && base_->zxid + 1 >= flaw.before;
    const bool harmless =
        bridged || (flaw.harmless && !flaw.is_unbegun());  // nothing is lost, but no start
    const bool is_read =
        !base_ || (flaw.before == 0 ? reads(flaw.file) : flaw.before > base_->zxid);
    const bool stops = flaw.kind != Kind::Gap && flaw.kind != Kind::Unordered &&
                       flaw.kind != Kind::AfterEnd && flaw.kind != Kind::Torn;
    auto text = flaw_text(flaw);
    const auto place = fmt::format("{}:{}: ", flaw.file, flaw.offset);
    add({.file = flaw.file,
         .offset = flaw.offset,
         .from = flaw.after == 0 ? 0 : flaw.after + 1,
         .to = flaw.before == 0 ? 0 : std::max(flaw.before - 1, flaw.after + 1),
         .problem = text.substr(place.size()),
         .remedy = bridged
                       ? fmt::format("nothing to do for a start, for which {} has them; another "
                                     "member may have the logs",
                                     base_->path)
                       : flaw_remedy(flaw),
         .harmless = harmless},
        !harmless && is_read && stops);
  }

  void check_epochs() {
    const auto epoch = epoch_of(result_.zxid);
    const auto current = files_.current_epoch();
    if (current && *current < epoch)
      add({.file = files_.places_text(),
           .problem = fmt::format("currentEpoch is {}, older than the epoch of the last "
                                  "transaction, {}",
                                  *current, epoch),
           .remedy = fmt::format("write {} to currentEpoch, and to acceptedEpoch if that is less: "
                                 "the server was killed while it wrote it",
                                 epoch)},
          true);
    const auto accepted = files_.accepted_epoch();
    if (current && accepted && *accepted < *current)
      add({.file = files_.places_text(),
           .problem =
               fmt::format("acceptedEpoch is {}, less than currentEpoch, {}", *accepted, *current),
           .remedy = fmt::format("write {} to acceptedEpoch", *current)},
          true);
  }

  const DataFiles& files_;
  const FileCheckPlan& plan_;
  FileCheckResult result_{};
  PastTree tree_{true};
  std::optional<DataFiles::File> base_{};
  SnapshotEnd end_{};
  std::string last_file_{};
  bool damaged_ = false;
  bool differs_ = false;
};

}  // namespace

FileCheckResult check_files(const DataFiles& files, const FileCheckPlan& plan) {
  return Checker(files, plan).run();
}

}  // namespace zksh
