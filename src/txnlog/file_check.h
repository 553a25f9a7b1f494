// FileCheck: whether a server would start on its files, and what is wrong with them.
#pragma once

#include "txnlog/data_files.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

struct Finding {
  std::string file{};  ///< or directory
  std::uint64_t offset = 0;
  std::int64_t from = 0;  ///< the zxids that are concerned; 0: unknown
  std::int64_t to = 0;
  std::string problem{};  ///< a clause: "a wrong checksum"
  std::string remedy{};
  bool harmless = false;
};

struct FileCheckResult {
  /// The versions of servers that start on the files, such as "3.8", and those that do not: of 3.4,
  /// 3.8 and 3.9, with their default settings. Files that contain what only servers since 3.5 write
  /// are not judged for 3.4.
  std::vector<std::string> starts{};
  std::vector<std::string> fails{};
  std::size_t snapshots = 0;  ///< intact ones
  std::size_t logs = 0;
  std::uint64_t transactions = 0;
  std::int64_t zxid = 0;      ///< of the last transaction
  std::size_t nodes = 0;      ///< of the tree that a server would have
  std::uint64_t digests = 0;  ///< how often the tree's digest was compared, and was right
  std::size_t problems = 0;   ///< findings that are not harmless
};

struct FileCheckPlan {
  std::function<void(const Finding&)> report{};
  std::function<void(std::uint64_t bytes, std::uint64_t total)> progress{};
  std::stop_token stop{};
};

/// Reads all files, and replays what a server would: FileTxnSnapLog.restore, FileTxnIterator and
/// QuorumPeer.loadDataBase of 3.4.13, 3.8.0 and 3.9.3. Repairs nothing. Keeps the tree in memory.
/// Throws Error if a file cannot be read; Cancelled.
FileCheckResult check_files(const DataFiles& files, const FileCheckPlan& plan);

}  // namespace zksh
