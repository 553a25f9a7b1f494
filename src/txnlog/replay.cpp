// Replay: the tree as it was at a moment, from a snapshot and the logs after it.
#include "txnlog/replay.h"

#include "base/error.h"
#include "base/number.h"
#include "txnlog/snapshot.h"
#include "txnlog/transaction_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

namespace zksh {
namespace {

/// Loads a snapshot into the tree: the newest whose writing had ended at `until`, else the oldest.
void load_snapshot(Replay& replay, const DataFiles& files, const ReplayPlan& plan) {
  bool loaded = false;
  bool passed_over = false;
  for (const auto& file : files.newest_snapshots()) {
    if (file.zxid > plan.until) continue;
    try {
      PastTree tree;
      const auto end = tree.load(file.path, plan.stop);
      const auto complete = end.written_until(file.zxid);
      if (!was_agreed(files, file, end)) {
        if (plan.skipped)
          plan.skipped(fmt::format(
              "{} has transactions that were never agreed on; it is passed over", file.path));
        continue;
      }
      const bool in_time = complete <= plan.until;
      if (loaded && !in_time) continue;
      replay.tree = std::move(tree);
      replay.end = end;
      replay.snapshot = file;
      loaded = true;
      if (in_time) return;
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& error) {
      passed_over = true;
      if (plan.skipped) plan.skipped(fmt::format("{}; it is passed over", error.what()));
    }
  }
  if (loaded) return;
  if (begins_with_first(files)) {
    if (plan.skipped && passed_over)
      plan.skipped("no snapshot can be read; the tree is replayed from the first transaction on");
    replay.tree.load_first();
    replay.first = true;
    replay.snapshot = {.zxid = files.logs().front().zxid - 1, .path = "the first tree"};
    replay.end.digest_zxid = replay.snapshot.zxid;
    return;
  }
  if (files.snapshots().empty() || plan.until == INT64_MAX)
    throw Error(fmt::format("there is no readable snapshot in {} to begin with{}",
                            files.places_text(), files.other_half()));
  throw Error(fmt::format("there is no readable snapshot of {} or before in {} to begin with{}",
                          zxid_text(plan.until), files.places_text(), files.other_half()));
}

/// If transactions are missing after `after`: the zxid before which they are. `next` is the next
/// one that the logs have; INT64_MAX: none.
std::optional<std::int64_t> missing_before(const DataFiles& files, std::int64_t after,
                                           std::int64_t next) {
  if (next == after + 1) return std::nullopt;
  const bool end = next == INT64_MAX;
  if (!end && !begins_epoch_after(next, after)) return next;
  // The logs of an epoch do not tell whether it had more transactions, but a snapshot shows what
  // there was. A snapshot of the beginning of an epoch is of no transaction.
  for (const auto& file : files.snapshots())
    if (file.zxid > after && file.zxid < next && files.was_agreed(file.zxid) &&
        (epoch_of(file.zxid) == epoch_of(after) || counter_of(file.zxid) > 0))
      return file.zxid + 1;
  return std::nullopt;
}

std::string missing_text(std::int64_t after, std::int64_t before) {
  return fmt::format("the transactions after {} and before {} are missing", zxid_text(after),
                     zxid_text(before));
}

/// Refuses unless `next`, the next transaction that the logs have, follows the last that was
/// applied; INT64_MAX: they have none.
void require_next(const Replay& replay, const DataFiles& files, const std::vector<Flaw>& flaws,
                  std::int64_t next) {
  if (const auto missing = missing_before(files, replay.zxid, next)) {
    auto text = missing_text(replay.zxid, *missing);
    if (!flaws.empty()) text += " (" + flaw_text(flaws.back()) + ')';
    throw Error(fmt::format("{}; they are needed after {}{}", text, replay.snapshot.path,
                            files.other_half()));
  }
  if (next == replay.zxid + 1) return;
  // Before a new epoch, a log without its header is that of a server that died when it began it.
  const auto damage = std::ranges::find_if(flaws, [&](const Flaw& flaw) {
    return next == INT64_MAX || (!flaw.is_unbegun() && flaw.kind != Flaw::Kind::Unordered);
  });
  if (damage != flaws.end())
    throw Error(fmt::format("the transactions after {} cannot be read: {}", zxid_text(replay.zxid),
                            flaw_text(*damage)));
}

class PastFile {
 public:
  PastFile(const std::filesystem::path& directory, std::string_view kind, std::int64_t zxid)
      : path_(directory / fmt::format("{}.{:x}", kind, static_cast<std::uint64_t>(zxid))),
        file_(path_, std::ios::binary) {}
  void write(std::string_view bytes) {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void close() {
    file_.close();
    if (!file_)
      throw Error(fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace

std::optional<std::int64_t> begin_of(const DataFiles& files, const Moment& moment) {
  if (moment.zxid) return *moment.zxid;
  if (!moment.time) return INT64_MIN;
  std::optional<std::int64_t> zxid;
  for (const auto& file : files.logs()) {
    LogFile log(file.path, {});
    LoggedTransaction txn;
    const auto first = log.next();
    if (!first || !parse_transaction(first->body, txn)) continue;
    if (txn.time > *moment.time) break;
    zxid = file.zxid;
  }
  return zxid;
}

std::int64_t zxid_at(const DataFiles& files, const Moment& moment, const std::stop_token& stop) {
  if (moment.zxid) return *moment.zxid;
  if (!moment.time) return INT64_MAX;
  const auto begin = begin_of(files, moment);
  if (!begin)
    throw Error(fmt::format("{} has no transactions at or before {}{}", files.places_text(),
                            local_time_text(*moment.time), files.other_half()));
  bool damaged = false;
  TransactionReader reader(files, *begin, [&](const Flaw& flaw) {
    damaged = damaged || (!flaw.harmless && !flaw.is_unbegun());
  });
  LoggedTransaction txn;
  std::int64_t zxid = *begin;
  const auto require_next = [&](std::int64_t next) {
    auto missing = missing_before(files, zxid, next);
    if (damaged && next != zxid + 1) missing = missing.value_or(next);
    if (missing)
      throw Error(fmt::format("{}, so which was the last at {} is not known: give a zxid",
                              missing_text(zxid, *missing), local_time_text(*moment.time)));
  };
  while (reader.next(txn)) {
    if (stop.stop_requested()) throw Cancelled();
    if (txn.time > *moment.time) {
      require_next(txn.zxid);
      return zxid;
    }
    zxid = txn.zxid;
    damaged = false;
  }
  // At the end, replay finds damage, but a snapshot may be later than the logs.
  if (missing_before(files, zxid, INT64_MAX)) require_next(INT64_MAX);
  return INT64_MAX;
}

bool begins_with_first(const DataFiles& files) {
  if (files.logs().empty()) return false;
  const auto zxid = files.logs().front().zxid;
  return counter_of(zxid) == 1 && epoch_of(zxid) <= 1;
}

Replay replay(const DataFiles& files, const ReplayPlan& plan) {
  Replay replay;
  load_snapshot(replay, files, plan);
  const auto start = replay.snapshot.zxid;
  replay.zxid = start;
  std::vector<Flaw> flaws;
  DigestCheck digests(replay.end, start);
  TransactionReader reader(files, start, [&](const Flaw& flaw) {
    if (flaw.kind == Flaw::Kind::NotAgreed && plan.skipped) plan.skipped(flaw_text(flaw));
    const bool matters = flaw.before == 0 || flaw.before > start + 1;
    if (!flaw.harmless && matters) flaws.push_back(flaw);
  });
  LoggedTransaction txn;
  std::size_t count = 0;
  bool covered = false;  // the logs show that nothing followed
  std::int64_t next = INT64_MAX;
  while (next == INT64_MAX && reader.next(txn)) {
    if (++count % 256 == 0) {
      if (plan.stop.stop_requested()) throw Cancelled();
      if (plan.progress) plan.progress(reader.bytes_read(), reader.bytes_total());
    }
    covered = true;
    replay.end_time = txn.time;
    digests.note(txn);
    if (txn.zxid <= start) continue;
    if (txn.zxid > plan.until) {
      next = txn.zxid;
      replay.end_time.reset();
      continue;
    }
    require_next(replay, files, flaws, txn.zxid);
    if (!txn.known)
      throw Error(fmt::format("{} is of a type that this zksh does not know", zxid_text(txn.zxid)));
    replay.tree.apply(txn);
    digests.compare(txn, txn.digest && replay.tree.has_digest(*txn.digest), reader.file(),
                    reader.offset());
    replay.zxid = txn.zxid;
    flaws.clear();
    if (plan.applied) plan.applied(txn, reader.frame());
  }
  if (replay.zxid < plan.until) require_next(replay, files, flaws, next);
  if (replay.zxid < plan.until && next == INT64_MAX && plan.until != INT64_MAX)
    throw Error(fmt::format("the files end at {}, before {}{}", zxid_text(replay.zxid),
                            zxid_text(plan.until), files.other_half()));
  for (bool more = next != INT64_MAX;
       more && txn.zxid <= replay.end.written_until(replay.snapshot.zxid); more = reader.next(txn))
    replay.tree.learn_acls(txn);
  digests.finish();
  if (digests.wrong() && !digests.wrong()->ended) replay.differs = digests.wrong();
  replay.fuzzy = fuzzy_clause(replay.snapshot, replay.end, replay.zxid, covered, next != INT64_MAX);
  return replay;
}

bool was_agreed(const DataFiles& files, const DataFiles::File& snapshot, const SnapshotEnd& end) {
  return files.was_agreed(snapshot.zxid) && files.was_agreed(end.written_until(snapshot.zxid));
}

std::optional<std::string> fuzzy_clause(const DataFiles::File& snapshot, const SnapshotEnd& end,
                                        std::int64_t reached, bool covered, bool stopped_early) {
  const auto until = end.written_until(snapshot.zxid);
  if (reached < until)
    return fmt::format("was written while the tree changed up to {}, {}", zxid_text(until),
                       stopped_early ? "which is later" : "and the logs do not reach that far");
  if (covered || end.tells_end(snapshot.zxid)) return std::nullopt;
  return "may have been written while the tree changed, and there are no logs to show it";
}

std::optional<std::string> doubt_text(const Replay& replay) {
  if (!replay.fuzzy && !replay.differs) return std::nullopt;
  const auto why =
      replay.differs
          ? fmt::format(
                "its digest is not the one in {} from {} on, so transactions before it are "
                "missing or are not those of its servers",
                replay.differs->file, zxid_text(replay.differs->from))
          : fmt::format("{} {}", replay.snapshot.path, *replay.fuzzy);
  return fmt::format("the tree at {} is only about right: {}", zxid_text(replay.zxid), why);
}

std::optional<std::string> end_text(const Replay& replay, const Moment& moment) {
  if (!moment.time || !replay.end_time || *replay.end_time >= *moment.time) return std::nullopt;
  return fmt::format("the files end at {}, {}, before {}", zxid_text(replay.zxid),
                     local_time_text(*replay.end_time), local_time_text(*moment.time));
}

Replay write_past_files(const DataFiles& files, std::int64_t until,
                        const std::filesystem::path& directory,
                        std::function<void(const std::string& text)> skipped,
                        const std::stop_token& stop) {
  constexpr std::string_view header("ZKLG\0\0\0\2\0\0\0\0\0\0\0\0", 16);
  std::optional<PastFile> log;
  std::size_t longest = 0;
  auto past = replay(files, {.until = until,
                             .stop = stop,
                             .applied =
                                 [&](const LoggedTransaction& txn, std::string_view frame) {
                                   if (!log) log.emplace(directory, "log", txn.zxid).write(header);
                                   log->write(frame);
                                   longest = std::max(longest, txn.bytes);
                                 },
                             .skipped = std::move(skipped)});
  if (log) log->close();
  past.longest = std::max(longest, past.end.longest);
  if (past.first) return past;  // there is no snapshot
  PastFile snapshot(directory, "snapshot", past.snapshot.zxid);
  const auto end = read_snapshot(
      past.snapshot.path, {.copy = [&](std::string_view bytes) { snapshot.write(bytes); }}, stop);
  snapshot.close();
  std::filesystem::resize_file(snapshot.path(), end.whole);
  return past;
}

}  // namespace zksh
