// Node cache: lists of children for completion, fetched behind the line that is typed.
#pragma once

#include "client/client.h"
#include "shell/complete.h"
#include "shell/job.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// Never blocks: what is not known is asked for by a job, which writes the loop's eventfd when it
/// has the answer. A list is good until its one-shot watch fires, but a minute at most; it is
/// forgotten with the session. Used on the main thread alone.
class NodeCache {
 public:
  struct Limits {
    std::size_t lists = 64;
    std::size_t bytes = std::size_t{64} << 20U;  ///< of all lists, about; one is kept anyway
    std::size_t requests = 4;                    ///< at a time; the oldest is given up for a fifth
  };

  /// `client` outlives the cache. `wake_fd`: as for Job.
  NodeCache(Client& client, int wake_fd) : NodeCache(client, wake_fd, Limits()) {}
  NodeCache(Client& client, int wake_fd, Limits limits);
  NodeCache(const NodeCache&) = delete;
  NodeCache& operator=(const NodeCache&) = delete;
  /// Gives up what is being fetched.
  ~NodeCache();

  /// The children of `parent` that begin with `prefix`, the first `room` of them by name. When all
  /// that is needed for a completion is known it is the answer; else it is asked for, if `may_ask`
  /// and there is a connection, and the answer is `awaited`. What the nodes are is asked only of
  /// those that are named, and only when their names alone tell nothing new.
  ChildNodes matches(const std::string& parent, const std::string& prefix, std::size_t room,
                     bool may_ask);
  /// Takes what has come; true when that is anything, be it that nothing could be had.
  bool look_after();
  /// Whether something has been awaited for so long that a person wonders.
  bool is_slow() const;

 private:
  struct Kind {
    bool has_children = false;
    bool is_ephemeral = false;
    Clock::time_point told;
  };
  struct List {
    std::vector<std::string> names;  ///< sorted
    std::map<std::string, Kind> kinds;
    std::size_t bytes = 0;
    Clock::time_point fetched;
    bool old = false;
    std::uint64_t used = 0;  ///< the larger, the later
  };
  struct Fetch;
  /// Part of a list: the names with one beginning.
  struct Range {
    std::vector<std::string>::const_iterator begin;
    std::vector<std::string>::const_iterator end;
  };

  static Range beginning_with(const std::vector<std::string>& names, const std::string& prefix);
  static std::vector<std::string> to_be_known(const std::vector<std::string>& names,
                                              const std::string& prefix, std::size_t room);
  static ChildNodes describe(const List& list, const std::string& prefix, std::size_t room);
  bool knows(const List& list, const std::vector<std::string>& names) const;
  bool ask(const std::string& parent, const std::string& prefix, std::size_t room,
           std::vector<std::string> names);
  void keep(Fetch& fetch);
  void take_events();
  void follow_session();
  void make_room();

  Client& client_;
  int wake_fd_;
  Limits limits_;
  std::int64_t session_ = 0;
  Mailbox mailbox_;
  std::map<std::string, List> lists_;
  std::uint64_t uses_ = 0;
  std::vector<std::unique_ptr<Fetch>> fetches_;  ///< last: their jobs read the members above
};

}  // namespace zksh
