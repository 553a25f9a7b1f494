// DataFiles: the transaction logs and snapshots in the places that a user names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// FileTxnLog and FileSnap of ZooKeeper: log.HEX and snapshot.HEX, in a directory or its version-2.
class DataFiles {
 public:
  struct File {
    std::string path;
    std::int64_t zxid = 0;  ///< of a log's first transaction, or a snapshot's last
  };

  /// Each place is a directory or a file. Throws ValueError if one does not exist or cannot be
  /// read, or there is neither log nor snapshot in any.
  explicit DataFiles(std::vector<std::string> places);

  /// Looks again, for what has been added.
  void refresh();

  /// In the order of their zxids.
  const std::vector<File>& logs() const { return logs_; }
  const std::vector<File>& snapshots() const { return snapshots_; }
  /// The same, the newest first.
  std::vector<File> newest_snapshots() const { return {snapshots_.rbegin(), snapshots_.rend()}; }
  /// The number in the file currentEpoch; nullopt if there is none, as for a standalone server.
  std::optional<std::int64_t> current_epoch() const { return current_epoch_; }
  std::optional<std::int64_t> accepted_epoch() const { return accepted_epoch_; }
  /// What has the name of a log or a snapshot and is no file: a directory, or a link to nothing.
  struct Unusable {
    File file{};
    bool log = false;
    std::string problem{};  ///< a clause: "it is a directory"
  };
  const std::vector<Unusable>& unusable() const { return unusable_; }
  /// The files of a name of which a part is no number, such as log.x.
  const std::vector<std::string>& misnamed() const { return misnamed_; }
  /// "DIR" or "DIR and DIR", for messages.
  std::string places_text() const;

 private:
  void look();
  void add_directory(const std::string& directory);
  void add_unusable(const std::string& path, const std::string& problem);
  void add_file(const std::string& path);

  std::vector<std::string> places_;
  std::vector<File> logs_{};
  std::vector<File> snapshots_{};
  std::vector<std::string> misnamed_{};
  std::vector<Unusable> unusable_{};
  std::optional<std::int64_t> current_epoch_{};
  std::optional<std::int64_t> accepted_epoch_{};
};

}  // namespace zksh
