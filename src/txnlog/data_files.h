// DataFiles: the transaction logs and snapshots in the places that a user names.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// FileTxnLog and FileSnap of ZooKeeper: log.HEX and snapshot.HEX, in a directory or its version-2.
class DataFiles {
 public:
  struct File {
    std::int64_t zxid = 0;  ///< of a log's first transaction, or a snapshot's last
    std::string path{};

    std::string directory() const { return std::filesystem::path(path).parent_path(); }
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes what is generated for a 0
    auto operator<=>(const File&) const = default;
  };

  /// Each place is a directory or a file. Throws ValueError if one does not exist or cannot be
  /// read, or there is neither log nor snapshot in any. `stop` ends was_agreed.
  explicit DataFiles(std::vector<std::string> places, std::stop_token stop = {});

  /// Looks again, for what has been added.
  void refresh();

  /// In the order of their zxids.
  const std::vector<File>& logs() const { return logs_; }
  const std::vector<File>& snapshots() const { return snapshots_; }
  /// The same, the newest first.
  std::vector<File> newest_snapshots() const { return {snapshots_.rbegin(), snapshots_.rend()}; }
  /// What members of an ensemble keep beside their snapshots.
  struct Epochs {
    std::string directory{};
    std::optional<std::string> current{};  ///< the first line of currentEpoch
    std::optional<std::string> accepted{};
    std::optional<std::string> next{};  ///< of currentEpoch.tmp, which servers since 3.5 leave
    bool updating = false;              ///< the same for earlier servers: updatingEpoch exists
  };
  /// One for each directory with a currentEpoch or acceptedEpoch; none for a standalone server.
  const std::vector<Epochs>& epochs() const { return epochs_; }
  /// A directory, not one of a file that was named itself, and what there is by its name.
  struct Directory {
    std::string path{};
    bool logs = false;
    bool snapshots = false;
    bool epochs = false;
  };
  /// Those that are not empty.
  const std::vector<Directory>& directories() const { return directories_; }
  /// What has the name of a log or a snapshot and is not a file: a directory, or a link to nothing.
  struct Unusable {
    File file{};
    bool log = false;
    std::string problem{};  ///< a clause: "it is a directory"
  };
  const std::vector<Unusable>& unusable() const { return unusable_; }
  /// Files such as log.x and log.5.bak: servers read the latter as log.5, zksh reads neither.
  struct Misnamed {
    std::string path{};
    std::optional<std::int64_t> zxid{};  ///< as servers take it
    bool log = false;
  };
  const std::vector<Misnamed>& misnamed() const { return misnamed_; }
  /// False for what one server wrote in an epoch, and the others, which elected another leader,
  /// went on without. Reads the logs of several servers at the first call; may throw as LogFile,
  /// and Cancelled.
  bool was_agreed(std::int64_t zxid) const;
  /// The same files, as if `ends` were the last transactions of their epochs that were agreed on,
  /// without the snapshots after `last_snapshot`.
  DataFiles that_end(std::map<std::int64_t, std::int64_t> ends, std::int64_t last_snapshot) const;
  /// What to say where something is missing that a server's other directory may have; empty if
  /// there are both logs and snapshots.
  std::string other_half() const;
  /// "DIR" or "DIR and DIR", for messages.
  std::string places_text() const;

 private:
  void scan();
  void add_directory(const std::string& directory);
  void add_unusable(const std::string& path, const std::string& problem);
  void add_file(const std::string& path);

  std::vector<std::string> places_;
  std::stop_token stop_;
  std::vector<File> logs_{};
  std::vector<File> snapshots_{};
  std::vector<Misnamed> misnamed_{};
  std::vector<Unusable> unusable_{};
  std::vector<Epochs> epochs_{};
  std::vector<Directory> directories_{};
  /// The last transactions of epochs that were agreed on, by epoch.
  mutable std::optional<std::map<std::int64_t, std::int64_t>> agreed_{};
};

}  // namespace zksh
