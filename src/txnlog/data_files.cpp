// DataFiles: the transaction logs and snapshots in the places that a user names.
#include "txnlog/data_files.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/number.h"
#include "txnlog/agreed_history.h"
#include "txnlog/log_file.h"
#include "txnlog/snapshot.h"
#include "txnlog/transaction.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace zksh {
namespace {

namespace fs = std::filesystem;

/// The zxid that servers see in "log.2a", "snapshot.2a.gz" or "log.2a.old"; nullopt: none.
std::optional<std::int64_t> zxid_for_servers(std::string_view name, std::string_view beginning) {
  constexpr int hexadecimal = 16;
  name.remove_prefix(beginning.size());
  const auto zxid = number_in<std::uint64_t>(name.substr(0, name.find('.')), hexadecimal);
  return zxid ? std::optional(static_cast<std::int64_t>(*zxid)) : std::nullopt;
}

/// The same; nullopt also for an ending other than that of a packed file.
std::optional<std::int64_t> zxid_in(std::string_view name, std::string_view beginning) {
  const auto dot = name.find('.', beginning.size());
  const auto ending = dot == std::string_view::npos ? "" : name.substr(dot);
  if (!ending.empty() && ending != ".gz" && ending != ".snappy") return std::nullopt;
  return zxid_for_servers(name, beginning);
}

void sort_files(std::vector<DataFiles::File>& files) {
  std::ranges::sort(files, [](const auto& a, const auto& b) {
    return std::pair(a.zxid, std::string_view(a.path)) <
           std::pair(b.zxid, std::string_view(b.path));
  });
}

constexpr std::string_view log_name = "log.";
constexpr std::string_view snapshot_name = "snapshot.";

/// A directory that looks like a server's dataDir or dataLogDir.
struct Candidate {
  std::string path{};
  bool logs = false;
  bool snapshots = false;
};

/// Those in a directory.
std::vector<Candidate> candidates_in(const fs::path& directory) {
  std::vector<Candidate> found;
  std::error_code problem;
  for (fs::directory_iterator entries(directory, problem);
       !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
    std::error_code gone;
    if (!fs::is_directory(entries->path() / "version-2", gone)) continue;
    Candidate candidate{.path = entries->path().string()};
    for (fs::directory_iterator files(entries->path() / "version-2", gone);
         !gone && files != fs::directory_iterator(); files.increment(gone)) {
      const auto name = files->path().filename().string();
      candidate.logs = candidate.logs || name.starts_with(log_name);
      candidate.snapshots = candidate.snapshots || name.starts_with(snapshot_name);
    }
    found.push_back(std::move(candidate));
  }
  std::ranges::sort(found, {}, &Candidate::path);
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
  if (!agreed_) agreed_ = agreed_ends(*this, stop_);
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
  sort_files(logs_);
  sort_files(snapshots_);
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
        files->push_back({path, *zxid});
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
      unusable_.push_back({{path, *zxid}, beginning == log_name, problem});
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
    snapshots_.push_back({path, *zxid});
    return;
  }
  std::optional<Flaw::Kind> flaw;
  LogFile log(path, [&](const Flaw& one) { flaw = one.kind; });
  const auto first = log.next();
  if (flaw == Flaw::Kind::Empty) throw ValueError(path + " is empty");
  if (flaw == Flaw::Kind::NotALog)
    throw ValueError(
        fmt::format("{} is neither a transaction log nor a snapshot of ZooKeeper", path));
  logs_.push_back({path, first ? zxid_of(first->body) : 0});
}

}  // namespace zksh
