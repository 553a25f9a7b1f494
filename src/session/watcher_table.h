// WatcherTable: who watches which nodes in one session.
#pragma once

#include "client/watch.h"

#include <cstddef>
#include <string>
#include <unordered_map>

namespace zksh {

/// The one-shot watches of a session, and the reads on their way that will leave one: what a server
/// keeps for a node and kind is one watch for all of them, so only who knows that nobody else needs
/// it may take it away there. Used under the session's monitor.
///
/// A watch begins when the answer comes, not when the read is sent: an event that comes in between
/// is that of an earlier watch, and ends only those. Answers and events are to be told in the order
/// in which they came.
class WatcherTable {
 public:
  /// The C client's context of a watcher, told apart by its address alone.
  using Who = const void*;

  /// A read that leaves a watch is sent.
  void asked(const std::string& path, WatchKind kind, Who who);
  /// Its answer came, or will not come; `left`: there is a watch now.
  void answered(const std::string& path, WatchKind kind, Who who, bool left);
  /// All watches of this kind on the node have fired.
  void fired(const std::string& path, WatchKind kind);
  /// Their owner does not want them any more.
  void forgotten(const std::string& path, WatchKind kind, Who who);
  /// Whether nobody but `who` watches this, or is about to.
  bool only(const std::string& path, WatchKind kind, Who who) const;
  std::size_t size() const { return watchers_.size(); }

 private:
  struct Watcher {
    Who who = nullptr;
    int asked = 0;  ///< reads whose answers have not come
    bool watches = false;
  };
  /// By the hash of the path and the kind: a clash only makes several of what is one.
  using Watchers = std::unordered_multimap<std::size_t, Watcher>;

  static std::size_t key_of(const std::string& path, WatchKind kind);
  Watchers::iterator find(std::size_t key, Who who);
  void drop_if_idle(Watchers::iterator place);

  Watchers watchers_;
};

}  // namespace zksh
