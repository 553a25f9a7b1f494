// Where the history of an ensemble parts from what one of its servers wrote alone.
#include "txnlog/agreed_history.h"

#include "base/error.h"
#include "base/number.h"
#include "txnlog/data_files.h"
#include "txnlog/log_file.h"
#include "txnlog/replay.h"
#include "txnlog/transaction.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {
namespace {

using Ends = std::map<std::int64_t, std::int64_t>;

/// Stands for the last transaction of an epoch that had none.
constexpr std::int64_t none_of(std::int64_t epoch) { return epoch << 32; }

class Histories {
 public:
  Histories(const DataFiles& files, const std::stop_token& stop) : files_(files), stop_(stop) {
    for (const auto& file : files.logs()) servers_[directory_of(file)].push_back(&file);
  }

  Ends ends() {
    if (servers_.size() < 2) return {};
    for (const auto& [directory, logs] : servers_) read(directory, logs);
    for (const auto& step : steps_) {
      const auto epoch = epoch_of(step.last);
      claim(epoch, step.last, step);
      for (auto other = epochs_.upper_bound(epoch); *other < epoch_of(step.next); ++other)
        claim(*other, none_of(*other), step);
    }
    Ends ends;
    for (const auto& [epoch, claims] : claims_)
      if (const auto end = chosen(claims, ends)) ends[epoch] = *end;
    return ends;
  }

 private:
  /// From the last transaction of an epoch to the first of a later one, in a server's files.
  struct Step {
    std::int64_t last = 0;
    std::int64_t next = 0;
    bool sure = false;  ///< it wrote both
  };
  /// What servers say of the end of an epoch.
  struct Claims {
    std::map<std::int64_t, int> votes{};  ///< by the last transaction
    std::int64_t next = INT64_MAX;        ///< the first of a later epoch
  };

  static std::string directory_of(const DataFiles::File& file) {
    return std::filesystem::path(file.path).parent_path().string();
  }

  /// A server that was sent a snapshot in place of transactions is not sure of those before it.
  void read(const std::string& directory, const std::vector<const DataFiles::File*>& logs) {
    std::int64_t last = 0;
    const auto snapshot_before = [&](std::int64_t next) {
      std::int64_t zxid = 0;
      for (const auto& file : files_.snapshots())
        if (file.zxid < next && epoch_of(file.zxid) < epoch_of(next) &&
            directory_of(file) == directory)
          zxid = file.zxid;
      return zxid;
    };
    for (const auto* file : logs) {
      LogFile log(file->path, {});
      while (const auto record = log.next()) {
        if (stop_.stop_requested()) throw Cancelled();
        const auto zxid = zxid_of(record->body);
        if (begins_epoch_after(zxid, last)) {
          const auto held = snapshot_before(zxid);
          const bool lacks_more = held > last && counter_of(held) > 0;
          if (last != 0 || lacks_more)
            steps_.push_back({lacks_more ? held : last, zxid, !lacks_more});
        }
        note_digest(record->body, zxid);
        last = std::max(last, zxid);
      }
    }
  }

  void note_digest(std::string_view body, std::int64_t zxid) {
    constexpr std::int64_t most_tried = 100;
    const auto epoch = epoch_of(zxid);
    epochs_.insert(epoch);
    LoggedTransaction txn;
    if (counter_of(zxid) <= most_tried && !first_digests_.contains(epoch) &&
        parse_transaction(body, txn) && txn.digest)
      first_digests_[epoch] = zxid;
  }

  void claim(std::int64_t epoch, std::int64_t last, const Step& step) {
    auto& claims = claims_[epoch];
    claims.votes[last] += step.sure ? 1 : 0;
    claims.next = std::min(claims.next, step.next);
  }

  /// nullopt: it cannot be told.
  std::optional<std::int64_t> chosen(const Claims& claims, const Ends& before) const {
    const auto& votes = claims.votes;
    if (votes.size() == 1 && votes.begin()->second > 0) return votes.begin()->first;
    std::optional<std::int64_t> by_digest;
    std::optional<std::int64_t> by_votes;
    for (const auto& [last, count] : votes) {
      const bool proved = is_right(last, claims.next, before);
      if (proved && (!by_digest || count >= votes.at(*by_digest))) by_digest = last;
      if (count > 0 && (!by_votes || count >= votes.at(*by_votes))) by_votes = last;
    }
    return by_digest ? by_digest : by_votes;
  }

  /// Whether the first digest of the next epoch is that of the tree if this epoch ended with
  /// `last`.
  bool is_right(std::int64_t last, std::int64_t next, Ends ends) const {
    const auto proof = first_digests_.find(epoch_of(next));
    if (proof == first_digests_.end()) return false;
    ends[epoch_of(last)] = last;
    for (auto between = epochs_.upper_bound(epoch_of(last)); *between < epoch_of(next); ++between)
      ends[*between] = none_of(*between);
    std::optional<std::uint64_t> digest;
    try {
      const auto past = replay(files_.that_end(std::move(ends), last),
                               {.until = proof->second,
                                .stop = stop_,
                                .applied = [&](const LoggedTransaction& txn, std::string_view) {
                                  digest = txn.digest;
                                }});
      return digest && past.tree.has_digest(*digest);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      return false;  // what it needs is missing
    }
  }

  const DataFiles& files_;
  const std::stop_token& stop_;
  std::map<std::string, std::vector<const DataFiles::File*>> servers_{};  ///< by directory
  std::vector<Step> steps_{};
  std::set<std::int64_t> epochs_{};
  Ends first_digests_{};  ///< of each epoch, the first transaction with one
  std::map<std::int64_t, Claims> claims_{};
};

}  // namespace

Ends agreed_ends(const DataFiles& files, const std::stop_token& stop) {
  return Histories(files, stop).ends();
}

}  // namespace zksh
