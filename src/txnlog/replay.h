// Replay: the tree as it was at a moment, from a snapshot and the logs after it.
#pragma once

#include "txnlog/data_files.h"
#include "txnlog/digest_check.h"
#include "txnlog/log_file.h"
#include "txnlog/moment.h"
#include "txnlog/past_tree.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

struct ReplayPlan {
  std::int64_t until = INT64_MAX;  ///< the last zxid to apply; see zxid_at
  std::stop_token stop{};
  /// Called after each transaction is applied, with its record as it stands in the log.
  std::function<void(const LoggedTransaction& txn, std::string_view frame)> applied{};
  /// Called now and then.
  std::function<void(std::uint64_t bytes, std::uint64_t total)> progress{};
  /// Called for what cannot be used, a snapshot or transactions that were never agreed on, with a
  /// sentence.
  std::function<void(const std::string& text)> skipped{};
};

struct Replay {
  PastTree tree;
  DataFiles::File snapshot{};
  SnapshotEnd end{};
  std::int64_t zxid = 0;  ///< the last that was applied
  /// For write_past_files: the length of the longest record, text or value.
  std::size_t longest = 0;
  /// The time of the last transaction, if the logs have none after it.
  std::optional<std::int64_t> end_time{};
  /// The snapshot was written while the tree changed, and not all of that was applied: some nodes
  /// may be newer, or missing.
  std::optional<std::string> fuzzy{};
  bool first = false;  ///< there is no snapshot, see begins_with_first
  /// The digests that show that the tree is not the one that its server had.
  std::optional<DigestCheck::Difference> differs{};
};

/// The last transaction at or before a moment; INT64_MAX if the moment is later than all.
/// Throws Error if the logs begin later, or transactions are missing that may have been before it.
std::int64_t zxid_at(const DataFiles& files, const Moment& moment, const std::stop_token& stop);

/// The zxid of the last log whose first transaction is not later than a moment: where to begin to
/// read. nullopt if there is none, INT64_MIN if the moment is empty. Leaders' clocks may differ a
/// little.
std::optional<std::int64_t> begin_of(const DataFiles& files, const Moment& moment);

/// Whether the logs begin with the first transaction of all. Servers to 3.4 have no snapshot then.
bool begins_with_first(const DataFiles& files);

/// Loads the newest snapshot that is not too new, and applies what follows. Throws Error if there
/// is none, or transactions are missing or damaged between it and `until`, naming their zxids, or
/// if nothing shows that there was none between the last one and `until`.
Replay replay(const DataFiles& files, const ReplayPlan& plan);

/// Whether everything in a snapshot was agreed on; throws as DataFiles::was_agreed.
bool was_agreed(const DataFiles& files, const DataFiles::File& snapshot, const SnapshotEnd& end);

/// What to say of a snapshot ("was written while …") if the tree with it is only about right, since
/// it was written while others changed the tree: `reached` is the last transaction applied,
/// `covered` whether the logs would show what followed, `stopped_early` whether they go on after
/// it, and no more was asked for. nullopt: the tree is right.
std::optional<std::string> fuzzy_clause(const DataFiles::File& snapshot, const SnapshotEnd& end,
                                        std::int64_t reached, bool covered,
                                        bool stopped_early = false);

/// "the tree at 0x5 is only about right: …", for a fuzzy one, or one that differs from the servers'
/// own; nullopt for any other.
std::optional<std::string> doubt_text(const Replay& replay);

/// "the files end at 0x5, 2026-…, before 2030-…"; nullopt unless the time that was asked for is
/// later than all transactions.
std::optional<std::string> end_text(const Replay& replay, const Moment& moment);

/// Writes a snapshot, unpacked, and one log of what follows it into `directory`, which must exist.
/// Returns what they hold. `skipped`: as in ReplayPlan. Blocks; throws as replay, and Error if they
/// cannot be written.
Replay write_past_files(const DataFiles& files, std::int64_t until,
                        const std::filesystem::path& directory,
                        std::function<void(const std::string& text)> skipped,
                        const std::stop_token& stop);

}  // namespace zksh
