// OnceRecord: which keys of --once were run under a lock.
#pragma once

#include "command/command.h"
#include "lock/lock_manager.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The keys stand in the node PATH.once, a line each, the latest last. It is beside the lock's node
/// and not below it: what stands among their contenders makes other libraries fail. It is
/// persistent, as the lock's own node often is not.
class OnceRecord {
 public:
  /// Of a lock with one path that is held.
  OnceRecord(Context& cx, const Lock& lock);

  /// Throws UsageError when this cannot be a key, or that lock cannot have a record.
  static void check(const std::string& path, const std::string& key);
  static std::string path_of(const std::string& path) { return path + ".once"; }

  /// Blocks. What the holders before have added is seen. Where the key is not among it, the record
  /// is written as it is: whoever may not do that is told before anything is run. Throws Error.
  bool has(const std::string& key);
  /// Adds a key, in a transaction that the servers refuse once this lock was lost: false. Blocks;
  /// asks again where it is not known whether it was added. Throws Error.
  bool add(const std::string& key);

 private:
  struct Content {
    std::vector<std::string> keys{};
    std::optional<std::int32_t> version{};  ///< nothing: there is no node
  };

  /// Nothing: the lock is gone.
  std::optional<Content> read();
  /// What the servers say, code::ok when it is written; lock_lost: the lock is.
  int write(const Content& content);
  bool await_connection();

  Context& cx_;
  const Lock& lock_;
  std::string path_;
};

}  // namespace zksh
