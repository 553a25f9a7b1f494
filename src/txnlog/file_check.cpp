// FileCheck: whether a server would start on its files, and what is wrong with them.
#include "txnlog/file_check.h"

#include "base/error.h"
#include "base/number.h"
#include "base/zlib.h"
#include "client/node_path.h"
#include "txnlog/digest_check.h"
#include "txnlog/past_tree.h"
#include "txnlog/replay.h"
#include "txnlog/transaction_reader.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

namespace zksh {
namespace {

constexpr std::string_view other_files = "take the files of another member, or a backup";
constexpr std::string_view other_member =
    "stop the server, remove its version-2 directory, and let it take the data of another member; "
    "a standalone server needs a backup";

constexpr std::int64_t max_buffer = 0xfffff;  // the default jute.maxbuffer

/// How a version of servers reads files, 3.8 unless it says otherwise, and what it would do with
/// these.
struct Release {
  std::string_view name;
  std::int64_t longest = 2 * max_buffer;  ///< BinaryInputArchive.checkLength
  bool needs_snapshot = true;             ///< exits if there are logs but no snapshot
  bool removes_empty_log = false;         ///< if the last log has no bytes
  bool reads_endings = true;              ///< takes log.5.old for log.5, and packed snapshots
  bool wants_acls = true;                 ///< of each node that is changed (CVE-2024-23944)
  bool reads_digest = true;               ///< after a snapshot's nodes, unless it is told not to
  bool wants_slash = false;               ///< in the paths of quotas: quota_words
  bool starts = true;
  std::optional<std::int64_t> base{};  ///< the zxid of the snapshot that it loads
};
using Releases = std::array<Release, 3>;

/// What servers do when they come to a flaw.
enum class Effect {
  GoOn,
  Stop,  ///< reading this log, without a word; they go on with the next
  Exit,
};

struct Verdict {
  Effect effect = Effect::GoOn;
  std::string words{};  ///< of a server that exits
};

std::string unreasonable(std::int64_t length) {
  return fmt::format("Unreasonable length = {}", length);
}

Verdict verdict_of(const Flaw& flaw, const Release& release, bool last) {
  const bool long_one = flaw.length < 0 || flaw.length > release.longest;
  Verdict too_long{Effect::Exit, unreasonable(flaw.length)};
  switch (flaw.kind) {
    case Flaw::Kind::Checksum:
      return long_one ? too_long : Verdict{Effect::Exit, "CRC check failed"};
    case Flaw::Kind::BadLength:
      if (flaw.length == -1) return {Effect::Exit, "NullPointerException"};
      return long_one ? too_long : Verdict{Effect::Stop};
    case Flaw::Kind::NoEndMark:
    case Flaw::Kind::Torn:
    case Flaw::Kind::CutOff:
      return long_one ? too_long : Verdict{Effect::Stop};
    case Flaw::Kind::Malformed:
      return {long_one ? Effect::Exit : Effect::Stop, unreasonable(flaw.length)};
    case Flaw::Kind::TooLong:
      return too_long;
    case Flaw::Kind::AfterEnd:
    case Flaw::Kind::Incomplete:
      return {Effect::Stop};
    case Flaw::Kind::UnknownType:
      return {Effect::Exit, "Unsupported Txn with type="};
    case Flaw::Kind::Empty:
      if (last && release.removes_empty_log) return {};
      return {Effect::Exit, "EOFException"};
    case Flaw::Kind::NoHeader:
      return {Effect::Exit, flaw.length == 0 ? "EOFException" : "invalid magic number"};
    case Flaw::Kind::BadHeader:
    case Flaw::Kind::Packed:
    case Flaw::Kind::NotALog:
      return {Effect::Exit, "invalid magic number"};
    case Flaw::Kind::Unordered:
    case Flaw::Kind::Repeated:
    case Flaw::Kind::BadPart:
    case Flaw::Kind::Gap:
    case Flaw::Kind::NotAgreed:
      return {};
  }
  return {};
}

/// The transactions of a log that can be read from an offset on.
struct Readable {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t count = 0;
};
Readable readable_after(const std::string& path, std::uint64_t offset) {
  Readable readable;
  LogFile log(path, {});
  while (const auto record = log.next()) {
    if (record->offset < offset) continue;
    const auto zxid = zxid_of(record->body);
    if (readable.count++ == 0) readable.from = zxid;
    readable.to = std::max(readable.to, zxid);
  }
  return readable;
}

/// "0x5 to 0x9"; "0x5".
std::string range_text(std::int64_t from, std::int64_t to) {
  return from == to ? zxid_text(from) : fmt::format("{} to {}", zxid_text(from), zxid_text(to));
}

bool is_plain(const std::string& path) {
  return !path.ends_with(".gz") && !path.ends_with(".snappy");
}

/// FileSnap.findNValidSnapshots: servers look at the end of a snapshot, or at the beginning if its
/// name says that it is packed, and pass over those where this is wrong.
bool looks_valid(const std::string& path) {
  constexpr std::string_view end("\0\0\0\1/", 5);
  constexpr std::streamoff least = 10;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(snappy_magic.size(), '\0');
  if (!is_plain(path)) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes.starts_with(path.ends_with(".gz") ? gzip_magic : snappy_magic);
  }
  bytes.resize(end.size());
  file.seekg(0, std::ios::end);
  if (file.tellg() < least) return false;
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes == end;
}

constexpr std::string_view quotas = "/zookeeper/quota";

/// The words of servers that exit when they create or delete a node with the limits of a quota:
/// DataTree keeps what is above it, less the first 16 characters, in a PathTrie, which wants a name
/// there, or one after a slash. nullopt: they go on.
std::optional<std::string_view> quota_words(const TxnOperation& op, const Release& release) {
  constexpr std::string_view limits = "/zookeeper_limits";
  if (!op.path.ends_with(limits)) return std::nullopt;
  const auto parent = op.path.substr(0, op.path.size() - limits.size());
  if (!parent.starts_with(op.deletes() ? "/zookeeper" : quotas)) return std::nullopt;
  if (parent.size() < quotas.size()) return "StringIndexOutOfBoundsException";
  const auto rest = parent.substr(quotas.size());
  if (rest.empty() || (release.wants_slash && rest.find('/') == std::string_view::npos))
    return "IllegalArgumentException: Invalid path";
  return std::nullopt;
}

/// Does the work.
class Checker {
 public:
  Checker(const DataFiles& files, const FileCheckPlan& plan) : files_(files), plan_(plan) {}

  FileCheckResult run() {
    result_.logs = files_.logs().size();
    newer_ = begins_as_newer();
    check_snapshots();
    check_misnamed();
    check_unusable();
    for (const auto& log : files_.logs()) check_name(log);
    if (!files_.logs().empty()) check_logs();
    settle_flaws(0);
    check_lengths();
    check_end();
    check_acls();
    check_directories();
    check_epochs();
    result_.nodes = tree_.size();
    for (const auto& release : releases_)
      if (is_judged(release))
        (release.starts ? result_.starts : result_.fails).emplace_back(release.name);
    return result_;
  }

 private:
  bool is_judged(const Release& release) const { return !newer_ || &release != releases_.data(); }

  /// Notes that the servers that `concerns` selects do not start; returns their versions.
  template <class Concerns>
  std::vector<std::string_view> exclude(Concerns&& concerns) {
    std::vector<std::string_view> names;
    for (auto& release : releases_) {
      if (!concerns(release)) continue;
      release.starts = false;
      names.push_back(release.name);
    }
    return names;
  }

  void add(const Finding& finding) {
    if (!finding.harmless) ++result_.problems;
    plan_.report(finding);
  }
  /// Adds a finding about a file as a whole.
  void add(const DataFiles::File& file, std::string problem, std::string remedy,
           bool harmless = false) {
    add({.file = file.path,
         .from = file.zxid,
         .to = file.zxid,
         .problem = std::move(problem),
         .remedy = std::move(remedy),
         .harmless = harmless});
  }

  /// "servers of 3.4 and 3.8 do not start".
  static std::string no_start(const std::vector<std::string_view>& names) {
    if (names.size() == std::tuple_size_v<Releases>) return "servers do not start";
    return fmt::format("servers of {} do not start", fmt::join(names, " and "));
  }

  /// Whether a server opens a log: all that may have what follows its snapshot.
  bool reads(std::int64_t log, const Release& release) const {
    const auto between = [&](std::int64_t other) {
      return release.base && other > log && other <= *release.base;
    };
    return std::ranges::none_of(files_.logs(), between, &DataFiles::File::zxid) &&
           std::ranges::none_of(files_.misnamed(), [&](const DataFiles::Misnamed& other) {
             return other.log && other.zxid && between(*other.zxid);
           });
  }
  bool reads(const std::string& path, const Release& release) const {
    const auto log = std::ranges::find(files_.logs(), path, &DataFiles::File::path);
    if (log != files_.logs().end())
      return (is_plain(path) || release.reads_endings) && reads(log->zxid, release);
    if (!release.reads_endings) return false;
    const auto other = std::ranges::find(files_.misnamed(), path, &DataFiles::Misnamed::path);
    return other != files_.misnamed().end() && other->zxid && reads(*other->zxid, release);
  }
  bool any_reads(const std::string& path) const {
    return std::ranges::any_of(releases_, [&](const Release& one) { return reads(path, one); });
  }

  /// The constructor of FileTxnSnapLog since 3.4.13: a dataDir whose logs are apart has none, a
  /// dataLogDir has no snapshots. Those of members that keep both in one place are not apart.
  void check_directories() {
    using Directory = DataFiles::Directory;
    const auto& all = files_.directories();
    const auto only_logs = [](const Directory& one) { return !one.snapshots && !one.epochs; };
    const auto without_logs = [](const Directory& one) { return !one.logs; };
    const auto in_pairs = [&](const auto& half) {
      return 2 * std::ranges::count_if(all, half) == std::ssize(all);
    };
    const auto fail = [&](const Directory& one, std::string_view problem, std::string remedy) {
      exclude([](const Release&) { return true; });
      add({.file = one.path, .problem = std::string(problem), .remedy = std::move(remedy)});
    };
    if (in_pairs(only_logs)) {
      for (const auto& one : all)
        if (one.logs && !only_logs(one))
          fail(one,
               "a dataDir has logs, and servers with a dataLogDir do not start "
               "(\"Snapshot directory has log files\")",
               "move its logs to the dataLogDir");
    } else if (in_pairs(without_logs)) {
      for (const auto& one : all)
        if (one.snapshots && one.logs && !one.epochs)
          fail(one,
               "a dataLogDir has snapshots, and servers do not start "
               "(\"Log directory has snapshot files\")",
               "move its snapshots to the dataDir");
    }
  }

  void check_unusable() {
    for (const auto& one : files_.unusable()) {
      const auto refuse =
          exclude([&](const Release& release) { return one.log && reads(one.file.zxid, release); });
      add(one.file, one.problem,
          refuse.empty() ? "remove it, or bring the file back: servers pass it over"
                         : "bring the log back, or take the files of another member: servers that "
                           "read it do not start");
    }
  }

  /// Util.getZxidFromName: servers look at what is between the first two dots.
  void check_misnamed() {
    for (const auto& [path, zxid, log] : files_.misnamed()) {
      if (!zxid || (log && !any_reads(path)) || (!log && !looks_valid(path))) {
        add({.file = path,
             .problem = fmt::format("the name is that of no log and no snapshot{}",
                                    zxid ? ", but for servers, which do not need it" : ""),
             .remedy = "remove the file, or give it its name back",
             .harmless = true});
        continue;
      }
      add({.file = path,
           .from = *zxid,
           .problem = fmt::format("servers take this for {}.{:x}, whatever follows",
                                  log ? "log" : "snapshot", static_cast<std::uint64_t>(*zxid)),
           .remedy = "move the file out of the directory, or give it its name back"});
      if (!log) continue;
      LogFile file(path, [&](const Flaw& flaw) { judge(flaw); });
      while (file.next()) {
      }
    }
  }

  /// The newest intact one, which a server would load, stays in the tree.
  void check_snapshots() {
    constexpr std::size_t most_tried = 100;
    std::size_t tried = 0;
    for (const auto& file : files_.newest_snapshots()) {
      const bool valid = looks_valid(file.path);
      const bool tries = valid && tried++ < most_tried;
      try {
        const auto end =
            base_ ? read_snapshot(file.path, {}, plan_.stop) : tree_.load(file.path, plan_.stop);
        if (!was_agreed(files_, file, end)) {
          add(file, "it has transactions that were never agreed on",
              "nothing to do: the server drops it when it joins the others again", true);
          continue;
        }
        if (!base_) {
          end_ = end;
          base_ = file;
          digests_ = {end_, file.zxid};
        }
        ++result_.snapshots;
        newer_ = newer_ || end.digest_zxid || end.last_zxid || !is_plain(file.path);
        if (!valid)
          add(file, "the name does not say how it is packed, so servers pass it over",
              "end the name in .gz or .snappy as it is packed, and no other");
        else if (tries)
          take_base(file, end);
      } catch (const DamagedSnapshot& damage) {
        add_damage(file, damage, tries);
      }
    }
    if (base_) result_.zxid = base_->zxid;
    if (!base_) tree_ = {};
    check_bases(tried > 0);
    check_quota();
  }

  /// DataTree.setupQuota, as quota_words: the node has the limits of a quota of the root.
  void check_quota() {
    const std::string path = fmt::format("{}/zookeeper_limits", quotas);
    const auto* const node = tree_.find(path);
    if (!base_ || !node || tree_.below(path).size() > 1) return;
    const auto refuse = exclude(
        [&](const Release& release) { return release.base == base_->zxid && is_judged(release); });
    if (!refuse.empty())
      add(*base_,
          fmt::format("it has {}: {} (\"IllegalArgumentException: Invalid path\")", path,
                      no_start(refuse)),
          before_quota(node->stat.czxid));
  }

  static std::string before_quota(std::int64_t zxid) {
    return fmt::format(
        "other members have it, too: take a backup from before it, or apply the output of "
        "dump --at before:{} to new servers",
        zxid_text(zxid));
  }

  static bool looks_at(const Release& release, const DataFiles::File& snapshot) {
    return !release.base && (release.reads_endings || is_plain(snapshot.path));
  }

  void take_base(const DataFiles::File& file, const SnapshotEnd& end) {
    const auto length = static_cast<std::int64_t>(end.longest);
    const bool without_digest = end.last_zxid && !end.digest_zxid;
    bool passed_over = false;
    std::vector<std::string_view> refuse;
    for (auto& release : releases_) {
      if (!looks_at(release, file)) continue;
      if (without_digest && release.reads_digest)
        passed_over = true;
      else if (length > release.longest && is_judged(release))
        refuse.push_back(release.name);
      else if (length <= release.longest)
        release.base = file.zxid;
    }
    if (!refuse.empty() && file.path == base_->path) long_snapshot_ = length;
    without_digest_ = without_digest_ || (passed_over && file.path == base_->path);
  }

  void add_damage(const DataFiles::File& file, const DamagedSnapshot& damage, bool tries) {
    const bool was_being_written =
        damage.is_cut_off() && (base_ || file.path != files_.snapshots().front().path);
    const bool exits = tries && !damage.last_words().empty();
    const auto refuse =
        exclude([&](const Release& release) { return exits && looks_at(release, file); });
    const bool ends = !refuse.empty();
    add({.file = file.path,
         .offset = damage.offset(),
         .from = file.zxid,
         .to = file.zxid,
         .problem = damage.problem() + (ends ? fmt::format(" (\"{}\")", damage.last_words()) : ""),
         .remedy = was_being_written
                       ? "nothing to do: the server was stopped while it wrote it, and servers "
                         "take another and the logs after it"
                       : snapshot_remedy(file, ends),
         .harmless = was_being_written});
  }

  std::string snapshot_remedy(const DataFiles::File& file, bool ends) const {
    if (base_) return "remove the file; there is a newer one";
    if (files_.snapshots().front().zxid == file.zxid)
      return fmt::format("{}; there is no older snapshot for servers to begin with", other_files);
    return fmt::format(
        "{}; {}servers take an older snapshot and the logs after it, and what these "
        "lack is missing",
        other_files, ends ? "without this file, " : "");
  }

  /// Whether each version has a snapshot to begin with. Without logs, none can miss one.
  void check_bases(bool tried) {
    if (files_.logs().empty() && files_.snapshots().empty()) return;
    const bool first = files_.snapshots().empty() && begins_with_first(files_);
    const auto refuse = exclude([&](const Release& release) {
      return !release.base && is_judged(release) &&
             (tried || (release.needs_snapshot && !files_.logs().empty()));
    });
    if (first) {
      tree_.load_first();
      base_ = DataFiles::File{.zxid = files_.logs().front().zxid - 1, .path = "the first tree"};
    }
    const bool begin_empty = std::ranges::any_of(
        releases_, [&](const Release& one) { return one.starts && !one.base && is_judged(one); });
    if (begin_empty && !first)
      add({.file = files_.places_text(),
           .problem = fmt::format(
               "servers{} skip snapshots that are not whole, and start with {}",
               refuse.empty() ? "" : " of 3.4",
               files_.logs().empty() ? "an empty tree" : "nothing but what the logs have"),
           .remedy = fmt::format("start none on these files: {}", other_files)});
    if (result_.snapshots > 0 && long_snapshot_ > 0) {
      add(*base_,
          fmt::format("a value of {} bytes, longer than servers take (\"{}\"): {}", long_snapshot_,
                      unreasonable(long_snapshot_), limits_text()),
          flag_text(long_snapshot_));
      return;
    }
    if (without_digest_) {
      add(*base_,
          "it has a last zxid and no digest, and servers that want one find a wrong checksum",
          "start servers with -Dzookeeper.digest.enabled=false, as the one that wrote it was");
      return;
    }
    if (refuse.empty()) return;
    add({.file = files_.places_text(),
         .problem =
             tried ? "no snapshot can be read (\"Not able to find valid snapshots\")"
             : first
                 ? "there is no snapshot yet, as at the beginning of a server up to 3.5.3; later "
                   "ones do not start (\"No snapshot found, but there are log entries\")"
                 : "there are logs, and no intact snapshot to begin with (\"No snapshot found, but "
                   "there are log entries\")",
         .remedy = first ? fmt::format("start it {}once with "
                                       "-Dzookeeper.snapshot.trust.empty=true: the logs begin with "
                                       "the first transaction",
                                       newer_ ? ""
                                              : "with 3.4 until it has written a snapshot, or a "
                                                "later one ")
                         : fmt::format("{}; without a snapshot all before the logs is missing",
                                       other_files)});
  }

  std::string limits_text() const {
    return fmt::format("{} to 3.5.5, {} later", releases_.front().longest,
                       releases_.back().longest);
  }

  /// The smallest jute.maxbuffer with which every version takes, and may be sent, such a length.
  static std::string flag_text(std::int64_t length) {
    return fmt::format(
        "start servers with -Djute.maxbuffer={} (in SERVER_JVMFLAGS), as the one that wrote it was",
        length);
  }

  /// Whether only servers since 3.5 write such a transaction.
  static bool is_newer(const LoggedTransaction& txn) {
    return txn.digest || txn.ephemerals || txn.type == TxnType::Create2 ||
           txn.type == TxnType::Reconfig || txn.type == TxnType::CreateContainer ||
           txn.type == TxnType::DeleteContainer || txn.type == TxnType::CreateTtl;
  }

  bool begins_as_newer() const {
    TransactionReader reader(files_, INT64_MIN, {});
    LoggedTransaction txn;
    try {
      for (int looks = 100; looks > 0 && reader.next(txn); --looks)
        if (is_newer(txn)) return true;
    } catch (const TransactionReader::Contradiction&) {
      // check_logs tells of it
    }
    return false;
  }

  /// Logs that contradict each other are read up to there: which is right cannot be known.
  bool next(TransactionReader& reader, LoggedTransaction& txn) {
    try {
      return reader.next(txn);
    } catch (const TransactionReader::Contradiction& found) {
      digests_.give_up();
      add({.file = found.file(),
           .from = found.zxid(),
           .to = found.zxid(),
           .problem = found.problem(),
           .remedy = std::string(TransactionReader::Contradiction::remedy)});
      return false;
    }
  }

  void check_logs() {
    TransactionReader reader(files_, INT64_MIN,
                             [this](const Flaw& flaw) { flaws_.push_back(flaw); });
    LoggedTransaction txn;
    while (next(reader, txn)) {
      if (++result_.transactions % 256 == 0) {
        if (plan_.stop.stop_requested()) throw Cancelled();
        if (plan_.progress) plan_.progress(reader.bytes_read(), reader.bytes_total());
      }
      settle_flaws(txn.zxid);
      if (std::exchange(last_file_, reader.file()) != reader.file())
        covered_ = covered_ || (base_ && any_reads(reader.file()));
      note(reader, txn);
      result_.zxid = std::max(result_.zxid, txn.zxid);
      digests_.note(txn);
      if (!base_ || txn.zxid <= base_->zxid) continue;
      if (result_.transactions == 1) check_begin(reader, txn);
      check_paths(reader, txn);
      tree_.apply(txn);
      digests_.compare(txn, txn.digest && tree_.has_digest(*txn.digest), reader.file(),
                       reader.offset());
    }
    check_digests();
  }

  /// Notes what only later servers write, and lengths that servers refuse.
  void note(const TransactionReader& reader, const LoggedTransaction& txn) {
    newer_ = newer_ || is_newer(txn);
    const auto length = static_cast<std::int64_t>(txn.bytes);
    if (length <= releases_.front().longest || stopped_.contains(reader.file())) return;
    const auto refuse = exclude([&](const Release& release) {
      return length > release.longest && is_judged(release) && reads(reader.file(), release);
    });
    if (refuse.empty()) return;
    ++long_count_;
    if (length <= long_record_.to) return;
    long_record_ = {
        .file = reader.file(), .offset = reader.offset(), .from = txn.zxid, .to = length};
  }

  void check_lengths() {
    if (long_count_ == 0) return;
    auto finding = long_record_;
    const auto length = std::exchange(finding.to, finding.from);
    finding.problem =
        fmt::format("a record of {} bytes, longer than servers take (\"{}\"): {}{}", length,
                    unreasonable(length), limits_text(),
                    long_count_ > 1 ? fmt::format("; it is the longest of {}", long_count_) : "");
    finding.remedy = flag_text(length);
    add(finding);
  }

  void check_name(const DataFiles::File& file) {
    LogFile log(file.path, {});
    const auto record = log.next();
    if (!record || record->offset > LogFile::header_size) return;
    const auto first = zxid_of(record->body);
    if (first <= file.zxid) return;
    // A server begins with the log that by its name may have what follows the snapshot.
    const bool hides = std::ranges::any_of(releases_, [&](const Release& release) {
      if (!release.base || file.zxid > *release.base) return false;
      return reads(file.path, release) ? first > *release.base + 1 : first > *release.base;
    });
    add({.file = file.path,
         .from = file.zxid,
         .to = first - 1,
         .problem =
             fmt::format("the first transaction is {}, not the one in its name{}", zxid_text(first),
                         hides ? ", for which servers pass over transactions that they need" : ""),
         .remedy = "give the file its name back: servers find logs by it",
         .harmless = !hides});
  }

  /// Checks that the first transaction of all, if it is after the snapshot, follows it directly.
  void check_begin(const TransactionReader& reader, const LoggedTransaction& txn) {
    if (txn.zxid == base_->zxid + 1 || begins_epoch_after(txn.zxid, base_->zxid)) return;
    digests_.give_up();
    add({.file = reader.file(),
         .offset = reader.offset(),
         .from = base_->zxid + 1,
         .to = txn.zxid - 1,
         .problem =
             fmt::format("transactions between {} and the first log are missing", base_->path),
         .remedy = fmt::format("add the log, or {}; a server starts, and its tree is wrong",
                               other_files)});
  }

  /// Checks for what makes a server exit while it replays.
  void check_paths(const TransactionReader& reader, const LoggedTransaction& txn) {
    if (stopped_.contains(reader.file())) return;
    const auto fail = [&](const auto& concerns, const std::string& problem, std::string_view words,
                          const std::string& remedy) {
      const auto refuse = exclude([&](const Release& release) {
        return release.starts && concerns(release) && is_judged(release) &&
               reads(reader.file(), release);
      });
      if (refuse.empty()) return;
      add({.file = reader.file(),
           .offset = reader.offset(),
           .from = txn.zxid,
           .to = txn.zxid,
           .problem = fmt::format("{}: {} (\"{}\")", problem, no_start(refuse), words),
           .remedy = remedy});
    };
    const auto require_acl = [&](std::string_view path) {
      if (const auto acl = missing_acl(path))
        fail([](const Release& release) { return release.wants_acls; },
             fmt::format("{} is changed, whose ACL, number {}, is in no list", path, *acl),
             fmt::format("Failed to fetch acls for {}", *acl), std::string(other_files));
    };
    const auto require_both = [&](std::string_view path, bool removes) {
      const auto parent = parent_path(path);
      if (!tree_.find(parent)) return;
      if (removes && !tree_.find(path)) return;
      if (removes) require_acl(path);
      require_acl(parent);
    };
    for (const auto& op : txn.operations) {
      if (!op.creates() && !op.deletes()) {
        if (op.sets()) require_acl(op.path);
      } else if (op.path.find('/') == std::string_view::npos) {
        fail([](const Release&) { return true; }, "a transaction of a path without a slash",
             "StringIndexOutOfBoundsException", std::string(other_files));
      } else {
        require_both(op.path, op.deletes());
        const auto words = quota_words(op, releases_.front());
        if (words && applies(op))
          fail([&](const Release& release) { return quota_words(op, release).has_value(); },
               fmt::format("{} is {}", op.path, op.creates() ? "created" : "deleted"), *words,
               before_quota(txn.zxid));
      }
    }
    if (txn.ephemerals)
      for (const auto path : *txn.ephemerals) require_both(path, true);
  }

  /// Whether a creation or deletion changes the tree.
  bool applies(const TxnOperation& op) const {
    return tree_.find(parent_path(op.path)) && !tree_.find(op.path) == op.creates();
  }

  /// The number of the node's ACL, if the snapshot did not list it.
  std::optional<std::int64_t> missing_acl(std::string_view path) const {
    const auto* const node = tree_.find(path);
    if (!node || tree_.knows_acl(*node)) return std::nullopt;
    return node->acl;
  }

  /// A server does not look at the ACLs that it loads, and fails at a request that needs one.
  void check_acls() {
    std::size_t count = 0;
    std::string_view first;
    for (const auto path : tree_.below("/")) {
      if (!missing_acl(path)) continue;
      ++count;
      if (first.empty() || path < first) first = path;
    }
    if (count == 0) return;
    add(*base_,
        fmt::format(
            "{} {} an ACL that is in no list, as {}: requests for {} fail (\"Failed to fetch acls "
            "for {}\")",
            counted(count, "node"), count == 1 ? "has" : "have", first, count == 1 ? "it" : "them",
            *missing_acl(first)),
        std::string(other_files));
  }

  void check_end() {
    if (!base_ || base_->path == "the first tree") return;
    const auto fuzzy = fuzzy_clause(*base_, end_, result_.zxid, covered_);
    if (fuzzy)
      add({.file = base_->path,
           .from = result_.zxid + 1,
           .problem = "the snapshot " + *fuzzy,
           .remedy = "add the logs; without them the tree is only about right"});
  }

  void check_digests() {
    digests_.finish();
    result_.digests = digests_.right();
    const auto tell = [&](const DigestCheck::Difference& digests, const std::string& problem,
                          std::string_view remedy, bool harmless) {
      add({digests.file, digests.offset, digests.from, digests.to, problem, std::string(remedy),
           harmless});
    };
    if (const auto& wrong = digests_.wrong())
      tell(*wrong,
           wrong->ended
               ? "the tree differs from the one that its server had, but later no more"
               : "from this transaction on, the tree differs from the one that its server had",
           other_member, false);
    if (const auto& harmless = digests_.harmless())
      tell(*harmless,
           fmt::format("{} not of the tree{}",
                       harmless->count == 1 ? "a digest is" : "some digests are",
                       harmless->ended ? ", and later ones are right" : ""),
           "nothing to do: the server computed them ahead, and counts them when it starts", true);
  }

  /// What a file lacks at its end is known when the next has begun.
  void settle_flaws(std::int64_t next) {
    for (auto& flaw : std::exchange(flaws_, {})) {
      const auto clause = flaw_clause(flaw);
      if (flaw.after == 0) flaw.after = last_read_;
      if (flaw.before == 0) flaw.before = next;
      add_flaw(flaw, clause);
    }
    last_read_ = next;
  }

  /// The worst that any version does at a flaw; a version that exits counts as not starting.
  Verdict judge(const Flaw& flaw) {
    Verdict worst;
    if (stopped_.contains(flaw.file)) return worst;
    const bool last = !files_.logs().empty() && flaw.file == files_.logs().back().path;
    for (auto& release : releases_) {
      if (!is_judged(release) || !reads(flaw.file, release)) continue;
      auto verdict = verdict_of(flaw, release, last);
      if (verdict.effect == Effect::Exit) release.starts = false;
      if (verdict.effect > worst.effect) worst = std::move(verdict);
    }
    if (worst.effect == Effect::Stop) stopped_.insert(flaw.file);
    return worst;
  }

  void add_flaw(const Flaw& flaw, const std::string& clause) {
    const auto verdict = judge(flaw);
    const bool last = flaw.before == 0;
    const bool next_epoch = !last && begins_epoch_after(flaw.before, flaw.after);
    const Circumstances how{
        .read = any_reads(flaw.file),
        // A member that was too far behind gets the leader's snapshot in place of transactions.
        .bridged = base_ && !last && base_->zxid + 1 >= flaw.before,
        .whole = !last && flaw.before == flaw.after + 1,
        .known_end = !last && !next_epoch};
    const bool begun_only = flaw.is_unbegun() && flaw.length == 0 && (!how.known_end || how.whole);
    const bool harmless = flaw.harmless || (flaw.kind == Flaw::Kind::Gap && how.bridged) ||
                          (flaw.kind == Flaw::Kind::CutOff && how.whole);
    if (!flaw.harmless && !how.bridged && !how.whole && !begun_only) digests_.give_up();
    Finding finding{.file = flaw.file,
                    .offset = flaw.offset,
                    .problem = clause,
                    .harmless = harmless && verdict.effect != Effect::Exit};
    if (flaw.after != 0 && !how.whole && !begun_only) {
      finding.from = flaw.after + 1;
      finding.to = how.known_end ? std::max(flaw.before - 1, flaw.after + 1) : 0;
    }
    if (flaw.kind == Flaw::Kind::NotAgreed) {
      finding.from = flaw.after;
      finding.to = flaw.before;
    }
    if (verdict.effect == Effect::Exit && how.read)
      finding.problem += fmt::format(" (\"{}\")", verdict.words);
    finding.remedy = begun_only ? "remove the file: the server was stopped when it began it, and "
                                  "no transactions are in it; servers do not start with it"
                                : remedy_of(flaw, verdict.effect, how, finding);
    if (begun_only && flaw.kind == Flaw::Kind::Empty)
      finding.remedy += ", except 3.9.3 and later, which remove it themselves";
    add(finding);
  }

  struct Circumstances {
    bool read = false;       ///< servers read the file
    bool bridged = false;    ///< the snapshot has what is missing
    bool whole = false;      ///< nothing is missing, since the next log goes on
    bool known_end = false;  ///< it is known what follows in the same epoch
  };

  /// What to do, and what would be missing otherwise.
  std::string remedy_of(const Flaw& flaw, Effect effect, const Circumstances& how,
                        Finding& finding) const {
    switch (flaw.kind) {
      case Flaw::Kind::Torn:
        return "nothing to do: it was being written when the server stopped, and was not "
               "acknowledged";
      case Flaw::Kind::NotAgreed:
        return "nothing to do: the server drops it when it joins the others again";
      case Flaw::Kind::Repeated:
        return "nothing to do: to apply it again changes nothing";
      case Flaw::Kind::Gap:
        if (how.bridged)
          return fmt::format(
              "nothing to do for a start, for which {} has them; another member may have the logs",
              base_->path);
        return fmt::format("add the missing logs, or {}: servers start, and their tree is wrong",
                           other_files);
      case Flaw::Kind::Unordered:
      case Flaw::Kind::BadPart:
        return fmt::format("{}: servers go on all the same", other_files);
      case Flaw::Kind::UnknownType:
        return "read it with a newer zksh, and a newer server";
      case Flaw::Kind::Packed:
        return "gunzip it: servers do not read packed logs";
      default:
        break;
    }
    if (!how.read)
      return "nothing to do for a start, for which servers do not read this log; another member "
             "may have it whole";
    if (how.whole && effect != Effect::Exit)
      return "nothing to do: the next transaction follows the last one before it";
    return fmt::format("{}; {}", other_files, losses_text(flaw, effect, finding));
  }

  /// What is missing without the other files.
  static std::string losses_text(const Flaw& flaw, Effect effect, Finding& finding) {
    const auto rest = readable_after(flaw.file, flaw.offset);
    std::string missing = finding.from == 0 ? ""
                          : finding.to == 0
                              ? fmt::format("what followed {}", zxid_text(finding.from - 1))
                              : range_text(finding.from, finding.to);
    if (rest.count > 0) {
      finding.to = rest.to;
      if (finding.from == 0 || flaw.kind == Flaw::Kind::BadHeader) finding.from = rest.from;
      missing = fmt::format("{} ({} can be read)", range_text(finding.from, finding.to),
                            counted(rest.count, "transaction"));
    } else if (!missing.empty() && effect == Effect::Exit)
      return fmt::format("without them {} {} missing, whether this file is removed or not", missing,
                         finding.from == finding.to ? "is" : "are");
    if (missing.empty()) missing = "what was in it";
    if (flaw.kind == Flaw::Kind::BadHeader)
      return fmt::format(
          "without any, copy the first 16 bytes of an intact log over its own; "
          "without this file, {} would be missing",
          missing);
    if (effect == Effect::Stop)
      return fmt::format(
          "servers start, read no further in this log, and say nothing: {} would be missing",
          missing);
    return fmt::format("without this file, {} would be missing", missing);
  }

  struct EpochFault {
    std::string problem{};
    std::string remedy{};
    std::vector<std::string_view> versions{};
  };

  /// QuorumPeer.loadDataBase. `epoch` is the last transaction's; it stands in for a missing file.
  static std::optional<EpochFault> epoch_fault(const DataFiles::Epochs& epochs, std::int64_t epoch,
                                               const Release& release) {
    auto current = epoch;
    auto accepted = epoch;
    for (const auto& [name, text, number] :
         {std::tuple("currentEpoch", &epochs.current, &current),
          std::tuple("acceptedEpoch", &epochs.accepted, &accepted),
          std::tuple("currentEpoch.tmp", &epochs.next, &current)}) {
      if (!*text || (text == &epochs.next && (!release.reads_endings || current >= epoch)))
        continue;
      const auto read = java_number_in<std::int64_t>(**text);
      if (!read)
        return EpochFault{fmt::format("{} holds \"{}\", not a number", name, **text),
                          fmt::format("write {} to it, the epoch of the last transaction", epoch)};
      *number = *read;
    }
    if (!release.reads_endings && epochs.updating) current = std::max(current, epoch);
    const bool completed = release.reads_endings && epochs.next;
    if (current < epoch && !completed)
      return EpochFault{
          fmt::format("currentEpoch is {}, older than the epoch of the last transaction, {}",
                      current, epoch),
          fmt::format("write {} to currentEpoch, and to acceptedEpoch if that is less: the "
                      "server was killed while it wrote it",
                      epoch)};
    if (accepted < current)
      return EpochFault{
          fmt::format("acceptedEpoch is {}{}, less than {}{}, {}", accepted,
                      epochs.accepted ? "" : " for servers, since it is missing",
                      epochs.current ? "currentEpoch" : "the epoch of the last transaction",
                      completed ? " will be" : "", current),
          fmt::format("write {} to acceptedEpoch", current)};
    return std::nullopt;
  }

  void check_epochs() {
    for (const auto& epochs : files_.epochs()) {
      const auto epoch = epoch_of(last_zxid_of(epochs.directory));
      std::vector<EpochFault> faults;
      std::size_t judged = 0;
      for (auto& release : releases_) {
        if (!is_judged(release)) continue;
        ++judged;
        auto fault = epoch_fault(epochs, epoch, release);
        if (!fault) continue;
        release.starts = false;
        auto same = std::ranges::find(faults, fault->problem, &EpochFault::problem);
        if (same == faults.end()) same = faults.insert(same, std::move(*fault));
        same->versions.push_back(release.name);
      }
      for (auto& fault : faults) {
        if (fault.versions.size() < judged) fault.problem += ": " + no_start(fault.versions);
        add({.file = epochs.directory, .problem = fault.problem, .remedy = fault.remedy});
      }
    }
  }

  /// The last zxid in the files beside an epoch, or in all files if they are of one server.
  std::int64_t last_zxid_of(const std::string& directory) const {
    if (files_.epochs().size() == 1) return result_.zxid;
    std::int64_t zxid = 0;
    for (const auto& file : files_.snapshots())
      if (file.directory() == directory) zxid = std::max(zxid, file.zxid);
    const DataFiles::File* last = nullptr;
    for (const auto& file : files_.logs())
      if (file.directory() == directory) last = &file;
    return std::max(zxid, last ? readable_after(last->path, 0).to : 0);
  }

  const DataFiles& files_;
  const FileCheckPlan& plan_;
  Releases releases_{{{.name = "3.4",
                       .longest = max_buffer + 1024,
                       .needs_snapshot = false,
                       .reads_endings = false,
                       .wants_acls = false,
                       .reads_digest = false,
                       .wants_slash = true},
                      {.name = "3.8"},
                      {.name = "3.9", .removes_empty_log = true}}};
  FileCheckResult result_{};
  PastTree tree_{};
  std::optional<DataFiles::File> base_{};
  SnapshotEnd end_{};
  std::string last_file_{};
  std::vector<Flaw> flaws_{};  ///< since the last transaction
  std::int64_t last_read_ = 0;
  std::set<std::string> stopped_{};  ///< where servers stop reading
  std::int64_t long_snapshot_ = 0;   ///< the longest value of the newest, if it is too long
  bool without_digest_ = false;      ///< the newest has a last zxid, but no digest
  Finding long_record_{};            ///< the longest that is too long; `to` is its length
  std::size_t long_count_ = 0;
  bool newer_ = false;    ///< there is what servers to 3.4 do not write
  bool covered_ = false;  ///< a log was read that servers would read
  DigestCheck digests_{};
};

}  // namespace

FileCheckResult check_files(const DataFiles& files, const FileCheckPlan& plan) {
  return Checker(files, plan).run();
}

}  // namespace zksh
