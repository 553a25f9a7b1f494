// NodeCache: lists of children for completion, fetched in the background.
#pragma once

#include "client/watch.h"
#include "shell/complete.h"
#include "shell/loop.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

class Client;

/// Never blocks: jobs fetch what is not known, and write the loop's eventfd when they are done. A
/// list is valid until its one-shot watch fires, but at most a minute, and within its session. Used
/// only on the main thread.
class NodeCache {
 public:
  struct Limits {
    std::size_t lists = 64;
    std::size_t bytes = std::size_t{64} << 20U;  ///< of all lists, roughly; one is always kept
    std::size_t requests = 4;                    ///< at a time; a further one replaces the oldest
  };

  /// `client` must outlive the cache. `wake_fd`: as for Job.
  NodeCache(Client& client, int wake_fd) : NodeCache(client, wake_fd, Limits()) {}
  NodeCache(Client& client, int wake_fd, Limits limits);
  NodeCache(const NodeCache&) = delete;
  NodeCache& operator=(const NodeCache&) = delete;
  /// Gives up pending fetches.
  ~NodeCache();

  /// The children of `parent` that begin with `prefix`; lists the first `room` by name. If
  /// something that a completion needs is not known, fetches it if `may_ask` and there is a
  /// connection, and the result is `awaited`. Reads the kinds of only those nodes that are listed,
  /// and only if their names alone do not extend the line.
  Candidates matches(const std::string& parent, const std::string& prefix, std::size_t room,
                     bool may_ask);
  /// The identities in a node's ACL, as AclSource; fetched anew after some seconds.
  Candidates acl_identities(const std::string& path, bool may_ask);
  /// A node's value, if it is a text that fits a line; fetched anew after some seconds.
  Candidates value(const std::string& path, bool may_ask);
  /// Processes finished fetches; true if there were any, even failed ones.
  bool process_finished();
  /// Whether something has been awaited noticeably long.
  bool is_slow() const;

 private:
  struct Kind {
    bool has_children = false;
    bool is_ephemeral = false;
    Clock::time_point read_at;
  };
  struct List {
    std::vector<std::string> names;  ///< sorted
    std::map<std::string, Kind> kinds;
    std::size_t bytes = 0;
    Clock::time_point fetched;
    bool old = false;
    std::uint64_t used = 0;  ///< counter value of the last use
  };
  struct Fetch;
  /// The ACL or the value of a node: `job` writes it, and it is read after the job's end.
  struct Known {
    std::string path;
    std::vector<std::string> texts{};
    Clock::time_point fetched{};
    std::unique_ptr<Job> job{};
  };

  using Read = std::function<std::vector<std::string>(const std::stop_token& stop)>;
  Candidates look_up(std::unique_ptr<Known>& known, const std::string& path, bool may_ask,
                     Read read);
  static Candidates candidates(const List& list, const std::string& prefix, std::size_t room);
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
  std::unique_ptr<Known> acl_;                   ///< of the node that was asked for last
  std::unique_ptr<Known> value_;                 ///< likewise
  std::vector<std::unique_ptr<Fetch>> fetches_;  ///< last: their jobs read the members above
};

}  // namespace zksh
