// Judge: what clients of the simulated ensemble have seen, compared with what it agreed on.
#pragma once

#include "client/client.h"
#include "ensemble.h"
#include "tree/walk.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace simulation {

/// A fault was found; ends the run.
struct Fault {
  std::string text;
};

/// Under the run's baton, as everything here: no locks.
class Judge {
 public:
  void agreed(const Transaction& done);
  void wiped();
  /// What is agreed on by now.
  const std::set<std::string>& names_below(const std::string& path) {
    return children_of(path).back().names;
  }
  std::int64_t created(const std::string& path) { return history_of(path).back().czxid; }
  std::optional<std::string> data(const std::string& path) { return history_of(path).back().data; }
  std::uint64_t wipes() const { return wipes_; }

  void note(std::string line);
  const std::deque<std::string>& notes() const { return notes_; }
  void print_notes(bool on) { prints_ = on; }
  [[noreturn]] void fault(std::string text);

  /// What a session has seen: no read of it may show an older state.
  struct Seen {
    std::int64_t session = 0;
    std::int64_t zxid = 0;
  };
  // They return the last moment at which what was seen was so, as far as the history goes by now.
  std::int64_t saw_node(const std::string& who, Seen& seen, const std::string& path, int code,
                        const zksh::Node& node, bool with_data);
  std::int64_t saw_children(const std::string& who, Seen& seen, const std::string& path, int code,
                            const std::vector<std::string>& names);
  /// Of a whole walk from the root, within one session. Each node of it was so at some moment, and
  /// nodes that were there all the time are in it.
  void walked(const std::string& who, Seen& seen, const std::vector<zksh::TreeNode>& nodes,
              bool with_data);

  std::int64_t saw_acl(const std::string& who, Seen& seen, const std::string& path, int code,
                       const zksh::NodeAcl& read);

  /// A write, and its answer.
  struct Write {
    enum class What { Create, CreateSequential, Set, SetInMulti, SetAcl, Remove };
    What what = What::Set;
    std::string path{};
    std::string value{};  ///< unique: of the node's data, or an id in its ACL; empty: Remove
    int code = 0;
    bool is_unknown = false;
    bool may_be_unknown = false;
    std::int32_t version = -1;  ///< asked for
    std::int64_t began = 0;     ///< `last_zxid` when it was sent
    std::optional<zksh::Stat> stat{};
  };
  void wrote(const std::string& who, Seen& seen, const Write& write);
  /// In the end: whether a write that had failed was done later.
  void check_writes();
  /// When a session ended, and whether it had expired.
  struct SessionEnd {
    Time at = 0;
    bool expired = false;
  };
  const std::map<std::int64_t, SessionEnd>& ended_sessions() const { return ended_sessions_; }
  bool has_ephemerals(std::int64_t session) const {
    return std::ranges::any_of(
        nodes_, [=](const auto& node) { return node.second.back().owner == session; });
  }
  bool has_ended(std::int64_t session) const { return ended_sessions_.contains(session); }
  /// The last transaction that was agreed on.
  std::int64_t last_zxid() const { return last_zxid_; }
  /// The last one of which a client knows: a read after a sync shows it.
  std::int64_t acknowledged() const { return acknowledged_; }

  struct Watched {
    std::string who;
    std::string path;
    bool of_children = false;
    bool on_missing = false;
    std::int64_t session = 0;
    std::int64_t earliest = 0;  ///< the state that the read has shown began then
    std::int64_t latest = 0;    ///< or then: it may have been so twice
    std::uint64_t wipes = 0;
    zksh::Mailbox mailbox{};
  };
  /// Of an answered read that has set a watch; `seen` is as the read has left it.
  void watched(Watched one) { watched_.push_back(std::move(one)); }
  /// When all is quiet: whether the events of a session's watches are those that the changes call
  /// for.
  void check_watches_of(const std::string& who, zksh::Monitor& monitor, std::int64_t session);

  struct Hold {
    std::string who{};
    bool shared = false;
    int leases = 1;    ///< of the semaphore
    int quantity = 1;  ///< of them
  };
  void begin_hold(const std::string& path, Hold hold, std::int64_t token);
  void end_hold(const std::string& who, const std::string& path);

  std::uint64_t holds() const { return holds_; }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t walks() const { return walks_; }
  std::uint64_t watches() const { return watched_.size(); }

 private:
  struct Version {
    std::int64_t zxid = 0;
    bool exists = false;
    std::optional<std::string> data{};
    std::int64_t czxid = 0;
    std::int64_t mzxid = 0;
    std::int64_t fired = 0;  ///< the last change that a watch of the node is told of
    std::int32_t version = 0;
    std::int32_t aversion = 0;
    std::int64_t owner = 0;
    std::vector<Entry> acl{{}};
  };
  struct Names {
    std::int64_t zxid = 0;
    bool exists = false;
    std::set<std::string> names{};
    std::int64_t pzxid = 0;
    std::int32_t creations = 0;
  };
  /// Of a node by a session, not by its end.
  struct Removal {
    std::int64_t zxid = 0;
    std::int64_t session = 0;
    std::string path{};
    std::int32_t version = 0;
  };
  std::vector<Version>& history_of(const std::string& path);
  std::vector<Names>& children_of(const std::string& path);
  void add_version(const std::string& path, Version version);
  template <class How>
  void alter_names(const std::string& path, std::int64_t zxid, How&& how);
  void created(const Transaction& done, const Change& change);
  void removed(const Transaction& done, const Change& change);
  static bool shows(const Version& version, const zksh::Stat& stat);
  void check_count(const std::string& who, const Seen& seen, const std::string& path,
                   const zksh::Stat& stat);
  const Version* version_with(const Write& write);
  void check_failure(const std::string& who, const Write& write);
  struct Moments {
    std::int64_t earliest = 0;
    std::int64_t latest = 0;
  };
  template <class All, class Matches>
  std::optional<Moments> moments(const All& all, std::int64_t not_before, Matches&& matches) const;

  std::map<std::string, std::vector<Version>> nodes_;
  std::map<std::string, std::vector<Names>> lists_;
  std::map<std::string, int> written_;  ///< how often a value was written
  std::vector<std::string> failed_;     ///< values that must never be written
  std::vector<Removal> removals_;
  std::map<std::int64_t, SessionEnd> ended_sessions_;
  std::int64_t last_zxid_ = 0;
  std::int64_t acknowledged_ = 0;
  std::vector<Watched> watched_;
  std::map<std::string, std::vector<Hold>> holders_;
  std::map<std::string, std::int64_t> tokens_;
  std::deque<std::string> notes_;
  bool prints_ = false;
  std::uint64_t wipes_ = 0;
  std::uint64_t holds_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t walks_ = 0;
};

}  // namespace simulation
