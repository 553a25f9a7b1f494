// Ensemble: servers of ZooKeeper's protocol for the simulation, with the history that they agreed
// on.
//
// Written from ZooKeeper's documentation and the behaviour of its servers, apart from zksh's own
// code, so that both are not wrong in the same way. A leader orders writes; members apply them with
// a lag of their own, serve reads from what they have applied, and pass on what they hear of
// sessions once in half a tick; sessions expire in whole ticks; a member without a leader closes
// its connections; a leader without a quorum stops after a while, and what it had proposed may be
// lost or not.
#pragma once

#include "kernel.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

struct Entry {
  std::int32_t perms = 31;
  std::string scheme = "world";
  std::string id = "anyone";
};

struct ServerNode {
  std::optional<std::string> data{};
  std::vector<Entry> acl{};
  std::set<std::string> children{};
  std::int64_t czxid = 0;
  std::int64_t mzxid = 0;
  std::int64_t pzxid = 0;
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int32_t version = 0;
  std::int32_t creations = 0;  ///< of children, which servers count in cversion
  std::int32_t aversion = 0;
  std::int64_t owner = 0;
  bool is_container = false;
};

using ServerTree = std::map<std::string, ServerNode>;

/// A change of one node, as part of a transaction.
struct Change {
  enum class What { Create, Remove, Set, SetAcl, OpenSession, CloseSession } what = What::Create;
  std::string path{};
  std::optional<std::string> data{};
  std::vector<Entry> acl{};
  std::int32_t version = 0;  ///< the new one
  std::int64_t owner = 0;    ///< or the session
  std::int32_t timeout = 0;
  bool is_container = false;
};

struct Transaction {
  std::int64_t zxid = 0;
  std::int64_t time = 0;
  std::vector<Change> changes{};  ///< none: it failed
  std::uint64_t request = 0;      ///< which asked for it; 0: nobody
  std::int64_t session = 0;
};

class Ensemble {
 public:
  struct Settings {
    int members = 3;
    int observers = 0;                    ///< of the members, the last ones: they do not vote
    Time observer_lag = 2 * millisecond;  ///< mostly, instead of `lag`
    Time tick = 2 * second;
    int sync_limit = 3;           ///< ticks without contact
    std::vector<int> versions{};  ///< 304, 306, 309; one for each member
    Time lag = 2 * millisecond;   ///< mostly
    Time longest_lag = 50 * millisecond;
    double refusals = 0;  ///< the part of requests that is throttled
    /// The longest session timeout that each member grants, in milliseconds.
    std::vector<std::int32_t> longest_timeouts{};
    /// Sessions expire at the end of their timeout, as if it were always that of a tick.
    bool is_prompt = false;
    std::int32_t longest_request = 1'048'575 + 1024;  ///< jute.maxbuffer
    /// A member without a leader serves readers (readonlymode.enabled).
    bool serves_read_only = false;
    /// Since 3.5, it opens a session only if this is set (localSessionsEnabled).
    bool has_local_sessions = false;
  };

  explicit Ensemble(Settings settings);
  ~Ensemble();

  const Settings& settings() const { return settings_; }
  std::string connect_string(int client, bool by_name) const;

  /// Is told of each transaction when it is agreed on.
  std::function<void(const Transaction& done)> agreed{};
  /// Is told of a wipe.
  std::function<void()> wiped{};
  /// Is told of a client that leaves a connection on which it has a session, without ending that.
  std::function<void(int client)> left{};
  /// Is told twice in a tick of a client that is at a read-only member since then.
  std::function<void(int client, Time since)> reads_only{};
  /// Is told of a request that the server's version does not know.
  std::function<void(int client, std::int32_t operation, int version)> misunderstood{};

  // A contender in another process, of which nothing fails.
  /// Puts a node into the queue of a lock; empty: it cannot now.
  std::string enter_queue(const std::string& lock);
  /// False: it cannot now.
  bool leave_queue(const std::string& node);
  /// Writes into a node, as who asks for its lock does. False: it cannot now.
  bool write_into(const std::string& node, const std::string& data);

  // Faults.
  void stop(int number);
  void start(int number);
  void cut(int one, int other, bool is_cut);
  /// A member stands still, with its connections, for so long.
  void freeze(int number, Time time);
  /// All data is lost, as by a restore from nothing.
  void wipe();
  void heal();
  bool has_leader() const;
  /// Whether it has been a member of the quorum since then.
  bool serves_since(int number, Time since) const;
  std::uint64_t read_only_sessions() const { return read_only_sessions_; }
  int leader() const { return leader_; }
  /// What all members have when they have caught up.
  const ServerTree& tree() const;
  bool is_settled() const;
  std::int64_t last_zxid() const;
  bool has_session(std::int64_t id) const;
  std::string description() const;

 private:
  struct Client;
  struct Member;
  struct Forwarded;
  using ClientPointer = std::shared_ptr<Client>;

  void accept(int member, Connection::Pointer connection);
  void receive(const ClientPointer& client);
  void frame(const ClientPointer& client, std::string_view bytes);
  void greet(const ClientPointer& client, std::string_view bytes);
  struct Greeting {
    std::int64_t seen = 0;
    std::int32_t timeout = 0;
    std::int64_t session = 0;
    std::string password{};
    bool accepts_read_only = false;
  };
  void greet_read_only(const ClientPointer& client, const Greeting& greeting);
  void begin_read_only();
  void end_read_only(Member& member);
  void welcome(const ClientPointer& client, std::int64_t session, std::int32_t timeout);
  void request(const ClientPointer& client, std::string_view bytes);
  void serve_queue(const ClientPointer& client);
  void read(Client& client, std::int32_t xid, std::int32_t operation, std::string_view body);
  std::string read_one(Client& client, std::int32_t operation, std::string_view body,
                       std::int32_t& code);
  std::int32_t read_rest(Client& client, std::int32_t operation, std::string_view body,
                         std::string& result);
  bool authenticate(Client& client, std::string_view body);
  std::int32_t unwatch(Client& client, std::string_view body, bool remove);
  std::string multi_read(Client& client, std::string_view body);
  void set_watches(Client& client, std::string_view body, bool with_persistent);
  void answer(Client& client, std::int32_t xid, std::int32_t code, std::string_view body);
  void drop(const ClientPointer& client, bool reset);
  void drop_all(Member& member, bool reset);
  void touch(Member& member, std::int64_t session);
  void end_in_time(std::int64_t session);
  bool can_lead() const;
  void forward(const ClientPointer& client, std::uint64_t number, std::int32_t operation,
               std::string body);
  void lead(const Forwarded& asked);
  void open_session(const Forwarded& asked);
  void synchronize(const Forwarded& asked);
  void answer_sync(const ClientPointer& client, std::uint64_t number, const std::string& body,
                   std::size_t until);
  std::int32_t plan_multi(const Forwarded& asked, Transaction& into, std::string& result);
  std::int32_t plan_create(const Forwarded& asked, std::int32_t operation, std::string_view& body,
                           const ServerTree& tree, Transaction& into, std::string& result);
  std::int32_t plan(const Forwarded& asked, std::int32_t operation, std::string_view& body,
                    ServerTree& tree, Transaction& into, std::string& result);
  void propose(Transaction transaction);
  void commit();
  void tell(int number);
  void catch_up(int number, std::size_t until);
  void apply(Member& member, const Transaction& transaction);
  void notify(Member& member, std::int32_t type, const std::string& path, std::int64_t zxid,
              std::set<Client*>* told);
  void beat();
  void hear_members();
  void hear(int number);
  void hear_late();
  void end_what_is_over();
  void look_for_leader();
  void elect(int candidate);
  void step_down();
  bool is_cut(int one, int other) const {
    return cuts_.contains({std::min(one, other), std::max(one, other)});
  }
  bool reaches_quorum(int member) const;
  int voters() const { return settings_.members - settings_.observers; }
  Time usual_lag(int member) const {
    return member < voters() ? settings_.lag : settings_.observer_lag;
  }
  bool is_with_leader(int member) const;
  const char* mode_of(int member) const;
  void later(int member, Time delay, std::function<void()> action);

  Settings settings_;
  std::vector<std::unique_ptr<Member>> members_;
  std::set<std::pair<int, int>> cuts_;
  std::set<int> unheard_;  ///< by the leader's last ping: it was late
  int leader_ = -1;
  std::uint64_t reign_ = 0;  ///< counts leaders
  std::int64_t epoch_ = 0;
  std::int64_t counter_ = 0;
  std::vector<Transaction> log_;
  std::deque<Transaction> proposed_;
  ServerTree ahead_;  ///< the leader's: with what is proposed
  struct Session {
    std::int32_t timeout = 0;
    std::string password{};
    Time deadline = 0;
    int owner = 0;
    bool closing = false;
    bool is_watched = false;  ///< by end_in_time
  };
  std::map<std::int64_t, Session> sessions_;
  std::int64_t last_session_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t read_only_sessions_ = 0;
  std::uint64_t wipes_ = 0;
  Time electing_ = never;
  std::map<std::uint64_t, std::pair<std::int32_t, std::string>>
      results_;  ///< of writes, by request
};

}  // namespace simulation
