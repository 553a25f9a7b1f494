// WatcherTable: the one-shot watches of a session.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>

namespace zksh {

/// The one-shot watches of a session, and the unanswered reads that will set some. A server has one
/// watch per node and kind for all of them, so it may be removed there only if nobody else needs
/// it. Used under the session's monitor.
///
/// A watch begins when the answer arrives, not when the read is sent: an event in between belongs
/// to an earlier watch, and ends only that. Report answers and events in the order in which they
/// arrived.
class WatcherTable {
 public:
  /// The C client's context of a watcher, identified by its address alone.
  using Who = const void*;

  /// For `named`, paths are kept too; others may have as many watches as there are nodes.
  explicit WatcherTable(Who named = nullptr) : named_(named) {}

  /// A read that sets a watch is sent.
  void asked(const std::string& path, WatchKind kind, Who who);
  /// Its answer arrived, or will not arrive; `left`: it has set a watch.
  void answered(const std::string& path, WatchKind kind, Who who, bool left);
  /// Whether there are watches on the node, or unanswered reads that will set some.
  bool has(const std::string& path, WatchKind kind) const {
    return watchers_.contains(key_of(path, kind));
  }
  /// All watches of this kind on the node have fired.
  void fired(const std::string& path, WatchKind kind);
  /// The owner no longer wants the watch.
  void forgotten(const std::string& path, WatchKind kind, Who who);
  /// Whether only `who` watches this, or is about to.
  bool only(const std::string& path, WatchKind kind, Who who) const;
  std::size_t size() const { return watchers_.size(); }
  /// The watches of `named`, and the number of others', without those of `without`.
  OpenWatches open(Who without) const;

 private:
  struct Watcher {
    Who who = nullptr;
    int asked = 0;  ///< number of unanswered reads
    bool watches = false;
  };
  /// By hash of path and kind; nodes whose hashes collide are treated as one.
  using Watchers = std::unordered_multimap<std::size_t, Watcher>;

  static std::size_t key_of(const std::string& path, WatchKind kind);
  Watchers::iterator find(std::size_t key, Who who);
  void drop_if_idle(Watchers::iterator place);

  Who named_;
  Watchers watchers_;
  std::set<OpenWatches::Place> places_;  ///< of the watches of named_
};

}  // namespace zksh
