// DataFiles: the transaction logs and snapshots in the places that a user names.
#include "txnlog/data_files.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/number.h"
#include "txnlog/log_file.h"
#include "txnlog/replay.h"
#include "txnlog/snapshot.h"
#include "txnlog/transaction.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace zksh {
namespace {

namespace fs = std::filesystem;

/// The zxid that servers see in "log.2a", "snapshot.2a.gz" or "log.2a.old"; nullopt: none.
std::optional<std::int64_t> zxid_for_servers(std::string_view name, std::string_view beginning) {
  name.remove_prefix(beginning.size());
  return id_in(name.substr(0, name.find('.')));
}

/// The same; nullopt also for an ending other than that of a packed file.
std::optional<std::int64_t> zxid_in(std::string_view name, std::string_view beginning) {
  const auto dot = name.find('.', beginning.size());
  const auto ending = dot == std::string_view::npos ? "" : name.substr(dot);
  if (!ending.empty() && ending != ".gz" && ending != ".snappy") return std::nullopt;
  return zxid_for_servers(name, beginning);
}

constexpr std::string_view log_name = "log.";
constexpr std::string_view snapshot_name = "snapshot.";

/// What is in a directory and looks like a server's dataDir or dataLogDir; epochs are not looked
/// at.
std::vector<DataFiles::Directory> candidates_in(const fs::path& directory) {
  std::vector<DataFiles::Directory> found;
  std::error_code problem;
  for (fs::directory_iterator entries(directory, problem);
       !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
    std::error_code gone;
    if (!fs::is_directory(entries->path() / "version-2", gone)) continue;
    DataFiles::Directory candidate{.path = entries->path().string()};
    for (fs::directory_iterator files(entries->path() / "version-2", gone);
         !gone && files != fs::directory_iterator(); files.increment(gone)) {
      const auto name = files->path().filename().string();
      candidate.logs = candidate.logs || name.starts_with(log_name);
      candidate.snapshots = candidate.snapshots || name.starts_with(snapshot_name);
    }
    found.push_back(std::move(candidate));
  }
  std::ranges::sort(found, {}, &DataFiles::Directory::path);
  return found;
}

/// ", here A and B"; empty if there are none.
std::string here_text(const std::vector<std::string>& found) {
  constexpr std::size_t most = 4;
  if (found.empty()) return {};
  const auto shown = std::span(found).first(std::min(found.size(), most));
  return fmt::format(", here {}{}", fmt::join(shown, " and "), found.size() > most ? " and …" : "");
}

/// What to name in place of directories that have neither logs nor snapshots.
std::string advice_below(const std::vector<std::string>& places) {
  std::vector<std::string> found;
  bool logs_apart = false;
  bool snapshots_apart = false;
  for (const auto& place : places)
    for (auto& candidate : candidates_in(place)) {
      logs_apart = logs_apart || (candidate.logs && !candidate.snapshots);
      snapshots_apart = snapshots_apart || (candidate.snapshots && !candidate.logs);
      found.push_back(std::move(candidate.path));
    }
  return fmt::format(
      "name a server's {}{}",
      logs_apart && snapshots_apart ? "dataDir and its dataLogDir, both" : "dataDir or dataLogDir",
      here_text(found));
}

using Ends = std::map<std::int64_t, std::int64_t>;

/// Stands for the last transaction of an epoch that had none.
constexpr std::int64_t none_of(std::int64_t epoch) { return epoch << 32; }

/// Finds the last transaction of each epoch after which servers went on with a later one, by epoch.
/// Only for logs of several servers: a leader that was cut off may have written more, which the
/// others, who elected another, do not have. Where servers differ, takes the end whose tree has the
/// digest that the later epoch begins with; else, the end that most of them have.
class Histories {
 public:
  Histories(const DataFiles& files, const std::stop_token& stop) : files_(files), stop_(stop) {
    for (const auto& file : files.logs()) servers_[file.directory()].push_back(&file);
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

  /// A server that was sent a snapshot in place of transactions is not sure of those before it.
  void read(const std::string& directory, const std::vector<const DataFiles::File*>& logs) {
    std::int64_t last = 0;
    const auto snapshot_before = [&](std::int64_t next) {
      std::int64_t zxid = 0;
      for (const auto& file : files_.snapshots())
        if (file.zxid < next && epoch_of(file.zxid) < epoch_of(next) &&
            file.directory() == directory)
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

DataFiles::DataFiles(std::vector<std::string> places, std::stop_token stop)
    : places_(std::move(places)), stop_(std::move(stop)) {
  for (auto& place : places_) {
    place = with_home(std::move(place));
    while (place.size() > 1 && place.ends_with('/')) place.pop_back();  // as completion adds it
  }
  refresh();
  if (!logs_.empty() || !snapshots_.empty()) return;
  const auto none = fmt::format("there are no transaction logs or snapshots in {}", places_text());
  if (unusable_.empty()) throw ValueError(fmt::format("{}; {}", none, advice_below(places_)));
  throw ValueError(
      fmt::format("{}: {}: {}", none, unusable_.front().file.path, unusable_.front().problem));
}

bool DataFiles::was_agreed(std::int64_t zxid) const {
  if (!agreed_) agreed_ = Histories(*this, stop_).ends();
  const auto end = agreed_->find(epoch_of(zxid));
  return end == agreed_->end() || zxid <= end->second;
}

DataFiles DataFiles::that_end(std::map<std::int64_t, std::int64_t> ends,
                              std::int64_t last_snapshot) const {
  auto files = *this;
  std::erase_if(files.snapshots_, [&](const File& file) { return file.zxid > last_snapshot; });
  files.agreed_ = std::move(ends);
  return files;
}

std::string DataFiles::other_half() const {
  const bool logs = logs_.empty();
  if (logs == snapshots_.empty()) return {};
  std::vector<std::string> found;
  for (const auto& place : places_)
    for (const auto& directory : {fs::path(place), fs::absolute(place).parent_path()})
      for (auto& candidate : candidates_in(directory))
        if (candidate.logs == logs && candidate.snapshots != logs &&
            std::ranges::find(found, candidate.path) == found.end())
          found.push_back(std::move(candidate.path));
  if (found.size() > 1) found.clear();  // those of several servers
  return fmt::format("; if the server has its {}, name that, too{}",
                     logs ? "logs in a dataLogDir" : "snapshots in another directory, its dataDir",
                     here_text(found));
}

std::string DataFiles::places_text() const {
  return fmt::format("{}", fmt::join(places_, " and "));
}

void DataFiles::refresh() {
  // A directory that is read while logs are added may show a later one without the one before it,
  // which would then be passed over.
  std::vector<std::string> before;
  std::vector<std::string> now;
  do {
    scan();
    before = std::exchange(now, {});
    for (const auto& log : logs_) now.push_back(log.path);
  } while (now != before);
}

void DataFiles::scan() {
  logs_.clear();
  snapshots_.clear();
  misnamed_.clear();
  unusable_.clear();
  epochs_.clear();
  directories_.clear();
  for (const auto& place : places_) {
    std::error_code problem;
    const auto status = fs::status(place, problem);
    if (problem) throw ValueError(fmt::format("cannot read {}: {}", place, problem.message()));
    if (!fs::is_directory(status)) {
      if (!fs::is_regular_file(status))
        throw ValueError(fmt::format("{} is neither a file nor a directory", place));
      add_file(place);
      continue;
    }
    add_directory(place);
    if (fs::is_directory(place + "/version-2", problem)) add_directory(place + "/version-2");
  }
  std::ranges::sort(logs_);
  std::ranges::sort(snapshots_);
}

void DataFiles::add_directory(const std::string& directory) {
  std::error_code problem;
  fs::directory_iterator entries(directory, problem);
  Epochs epochs{.directory = directory};
  Directory holds{.path = directory};
  const auto first_line = [](const std::string& path) {
    const auto text = read_file(path);
    return text.substr(0, text.find_first_of("\r\n"));
  };
  for (; !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
    const auto name = entries->path().filename().string();
    const auto path = entries->path().string();
    holds.logs = holds.logs || name.starts_with(log_name);
    holds.snapshots = holds.snapshots || name.starts_with(snapshot_name);
    std::error_code gone;
    if (!entries->is_regular_file(gone)) {
      const auto type = entries->status(gone).type();
      const bool dangling = entries->is_symlink(gone) && type == fs::file_type::not_found;
      if (dangling || type != fs::file_type::not_found)
        add_unusable(path, dangling ? "it is a link to a file that does not exist"
                           : type == fs::file_type::directory ? "it is a directory"
                                                              : "it is not a regular file");
      continue;
    }
    for (const auto& [beginning, files] :
         {std::pair(log_name, &logs_), std::pair(snapshot_name, &snapshots_)}) {
      if (!name.starts_with(beginning)) continue;
      if (const auto zxid = zxid_in(name, beginning))
        files->push_back({*zxid, path});
      else
        misnamed_.push_back({path, zxid_for_servers(name, beginning), beginning == log_name});
    }
    if (name == "currentEpoch") epochs.current = first_line(path);
    if (name == "acceptedEpoch") epochs.accepted = first_line(path);
    if (name == "currentEpoch.tmp") epochs.next = first_line(path);
    epochs.updating = epochs.updating || name == "updatingEpoch";
  }
  holds.epochs = epochs.current || epochs.accepted;
  if (holds.epochs) epochs_.push_back(std::move(epochs));
  if (holds.logs || holds.snapshots || holds.epochs) directories_.push_back(std::move(holds));
  if (problem) throw ValueError(fmt::format("cannot read {}: {}", directory, problem.message()));
}

void DataFiles::add_unusable(const std::string& path, const std::string& problem) {
  const auto name = fs::path(path).filename().string();
  for (const auto beginning : {log_name, snapshot_name})
    if (const auto zxid = name.starts_with(beginning) ? zxid_in(name, beginning) : std::nullopt)
      unusable_.push_back({{*zxid, path}, beginning == log_name, problem});
}

/// A file may have any name, if it holds what it should.
void DataFiles::add_file(const std::string& path) {
  const auto name = fs::path(path).filename().string();
  if (name.starts_with(log_name) && name.ends_with(".gz"))
    throw ValueError(fmt::format("{} is packed: unpack it with gunzip first", path));
  if (is_snapshot(path)) {
    const auto zxid = name.starts_with(snapshot_name) ? zxid_in(name, snapshot_name) : std::nullopt;
    if (!zxid)
      throw ValueError(fmt::format(
          "{} is a snapshot, but its name, which is not snapshot.HEX, does not say of what", path));
    snapshots_.push_back({*zxid, path});
    return;
  }
  std::optional<Flaw::Kind> flaw;
  LogFile log(path, [&](const Flaw& one) { flaw = one.kind; });
  const auto first = log.next();
  if (flaw == Flaw::Kind::Empty) throw ValueError(path + " is empty");
  if (flaw == Flaw::Kind::NotALog)
    throw ValueError(
        fmt::format("{} is neither a transaction log nor a snapshot of ZooKeeper", path));
  logs_.push_back({first ? zxid_of(first->body) : 0, path});
}

}  // namespace zksh
