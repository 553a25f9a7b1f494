// Snapshot: reads a snapshot of a tree, plain or packed, and checks it.
#pragma once

#include "base/error.h"
#include "client/nodes.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace zksh {

struct SnapshotNode {
  std::string path{};  ///< empty for the root
  std::optional<std::string> data{};
  std::int64_t acl = 0;  ///< as in SnapshotVisitor::acl; -1: world:anyone:cdrwa
  /// StatPersisted: its cversion counts only creations, and it has no lengths.
  Stat stat{};
};

/// Called in this order, each any number of times. May be empty.
struct SnapshotVisitor {
  std::function<void(std::int64_t id, std::string_view bytes)> acl{};
  std::function<void(SnapshotNode&& node)> node{};
  /// All bytes as they are when unpacked, piece by piece.
  std::function<void(std::string_view bytes)> copy{};
};

/// The end of a snapshot.
struct SnapshotEnd {
  std::int64_t newest_zxid = 0;  ///< of any node
  /// The zxid that the tree reached while it was written; since 3.6, with a digest.
  std::optional<std::int64_t> digest_zxid{};
  std::optional<std::int64_t> last_zxid{};  ///< the same zxid; since 3.9
  std::uint64_t nodes = 0;
  std::size_t longest = 0;  ///< of its texts and values, in bytes
  /// The length up to the checksum after the nodes. What follows depends on the server's version
  /// and settings; no server needs it, and some refuse what others have written.
  std::uint64_t whole = 0;

  /// The zxid that the tree had reached when the snapshot was complete, so far as it tells;
  /// `begun`: its own.
  std::int64_t written_until(std::int64_t begun) const {
    return std::max({begun, digest_zxid.value_or(0), last_zxid.value_or(0), newest_zxid});
  }
  /// Whether it says that: up to 3.5, deletions leave no trace in what was written before them. The
  /// very first snapshot is written before the server serves.
  bool tells_end(std::int64_t begun) const {
    return digest_zxid || last_zxid || written_until(begun) == 0;
  }
};

/// A snapshot is damaged or cut off; the message names the file and the place.
class DamagedSnapshot final : public Error {
 public:
  DamagedSnapshot(const std::string& file, std::uint64_t offset, const std::string& problem,
                  std::string last_words = {});
  std::uint64_t offset() const { return offset_; }
  const std::string& problem() const { return problem_; }
  /// Whether it ends too early, as when a server is stopped while it writes it.
  bool is_cut_off() const { return problem_ == cut_off || problem_ == "it is truncated"; }
  static constexpr std::string_view cut_off = "it is cut off";
  /// What servers say when they exit because of it; empty if they take an older snapshot.
  const std::string& last_words() const { return last_words_; }

 private:
  std::uint64_t offset_;
  std::string problem_;
  std::string last_words_;
};

/// The first bytes of a packed snapshot, unless it is gzip's.
inline constexpr std::string_view snappy_magic("\x82SNAPPY\0", 8);

/// Whether a file begins as a snapshot, packed or not. Throws ValueError if it cannot be read.
bool is_snapshot(const std::string& path);

/// Reads a whole snapshot, of at most 8 GiB when unpacked, node by node. Throws DamagedSnapshot,
/// and what was visited must then be discarded; Cancelled on a stop.
SnapshotEnd read_snapshot(const std::string& path, const SnapshotVisitor& visitor,
                          const std::stop_token& stop);

}  // namespace zksh
