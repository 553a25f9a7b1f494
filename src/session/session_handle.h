// Session::Handle: one handle of the C client, its unanswered calls and its mailboxes.
#pragma once

#include "base/monitor.h"
#include "client/watch.h"
#include "session/creations.h"
#include "session/session.h"
#include "session/session_lease.h"
#include "session/trying_order.h"

#include <zookeeper/zookeeper.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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

  /// Of `named` the paths are kept too. Of the others there may be as many as there are nodes.
  explicit WatcherTable(Who named = nullptr) : named_(named) {}

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
  /// The watches of `named`, and how many there are of others, but for `without`.
  OpenWatches open(Who without) const;

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

  Who named_;
  Watchers watchers_;
  std::set<OpenWatches::Place> places_;  ///< of the watches of named_
};

/// A request whose answer has not come. The C client drops the unanswered ones when a handle is
/// closed; the list of them lets every waiter be told.
struct Call {
  /// The watch that a read leaves.
  struct Watching {
    std::string path;
    WatchKind kind = WatchKind::OfData;
    WatcherTable::Who who = nullptr;
    bool on_missing = false;  ///< also on a node that is not there
  };

  Session::Handle* handle = nullptr;
  std::list<Call*>::iterator place;
  std::optional<Watching> watching{};
  std::optional<Watching> unwatching{};  ///< what a request takes away, when it succeeds

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;
  virtual void settle_error(const Monitor::Held& held, int rc) = 0;
};

template <class T>
struct CallOf : Call {
  Pending<T> pending = std::make_shared<Answer<T>>();

  void settle(const Monitor::Held& held, int rc, T value) {
    (*pending)(held) = Outcome<T>{rc, std::move(value)};
  }
  void settle_error(const Monitor::Held& held, int rc) override { settle(held, rc, T{}); }
};

/// What the servers make of a credential: its scheme, and an id without the password.
Identity identity_of(const std::string& scheme, const std::string& credential);

struct Session::Handle {
  Handle(Session& owner, ConnectString with) : session(owner), servers(std::move(with)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Ends the session and fails what is unanswered with code::closing. Not on the C client's
  /// threads, which it joins.
  ~Handle();

  Session& session;
  const ConnectString servers;
  zhandle_t* zh = nullptr;  ///< set before anybody but its maker sees the handle
  // Under the session's monitor:
  SessionState state = SessionState::Connecting;
  bool ever_connected = false;
  Clock::time_point opened;
  Clock::time_point lost;    ///< when the connection was, if it ever was
  std::string connected_to;  ///< the latest server, HOST:PORT; empty before the first
  AddressNames names;        ///< of the servers; set before anybody but its maker sees the handle
  std::int64_t session_id = 0;
  int negotiated_timeout = 0;
  std::shared_ptr<SessionLease> lease;   ///< null until it is connected
  Clock::time_point lease_wanted{};      ///< when somebody first asked how long it lasts
  std::shared_ptr<Creations> creations;  ///< likewise
  std::vector<Credential> credentials;   ///< that were added and accepted
  bool other_credentials = false;        ///< than those of the settings were sent
  int uses = 0;                          ///< by threads that send something now
  bool out_of_use = false;               ///< somebody waits for the last of them
  std::list<Call*> calls;
  /// By id and not by pointer: the C client drops unfired watches without a word. All watches of a
  /// mailbox share its id: the C client then fires one event for all that it has on a node, and
  /// takes linear time, not quadratic, to tell each of them of a session event.
  std::unordered_map<std::uintptr_t, Mailbox> mailboxes;
  std::uintptr_t last_mailbox = 0;
  WatcherTable watchers{this};  ///< by the contexts of the C client's watchers

  /// Takes note of what an event says. `type` is the C client's.
  void watches_fired(const Monitor::Held& held, int type, const std::string& path);
  /// Takes note of a session event; false when it is no news.
  bool take_note(const Monitor::Held& held, SessionState now, zhandle_t* from);

  /// The transaction that created a node, for the completion of its call; 0: not known.
  std::int64_t czxid_of(const std::string& path);
  /// Takes note that the server accepted a credential.
  void accepted(const Credential& credential);

  /// The handle's watcher: session events, and every printed watch. The context is the Handle.
  static void on_event(zhandle_t* zh, int type, int state, const char* path, void* context);
  /// The watcher of private watches. The context is the mailbox's id.
  static void on_private_watch(zhandle_t* zh, int type, int state, const char* path, void* context);

  /// The id of a mailbox, given to it when it has none.
  std::uintptr_t id_of(const Monitor::Held& held, const Mailbox& mailbox);
};

/// The handle in use, for as long as something is sent with it: nobody closes it meanwhile, also
/// not its user, who may be on one of its own threads.
class Session::Use {
 public:
  explicit Use(Session& session);
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use();

  /// Null when there is none.
  Handle* get() const { return handle_; }
  Handle* operator->() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Monitor& monitor_;
  Handle* handle_;
};

/// What a thread that rarely has work waits for. Not the monitor: whoever changes something there
/// asks all that wait, and with a thousand sessions that was half of all the work.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify_one();
  }
  /// Blocks until it was rung, perhaps before; false: a stop was requested.
  bool await(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return condition_.wait(lock, stop, [this] { return std::exchange(rung_, false); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  bool rung_ = false;
};

/// Where the session stands: one phase, and what belongs to it. Under the monitor; Session::enter
/// alone changes the phase.
struct Session::State {
  Phase phase = Phase::Idle;
  std::string server;  ///< as the user gave it
  std::unique_ptr<Handle>
      handle;             ///< when open; an expired one, while the opener has not come to it
  std::size_t waits = 0;  ///< for a connection, now
  Clock::time_point waiting_since;  ///< when the first of them began
  std::size_t turn = 0;             ///< counts the phases: what began in an earlier one is stale
  std::size_t asked = 0;            ///< how often somebody has begun to wait for the opener
  std::size_t failures = 0;         ///< of the opener
  std::exception_ptr problem;       ///< of its latest failure
  bool wants_tick = false;          ///< the opener is to ask for the servers' tick
  Bell opener;                      ///< has work; not under the monitor

  Handle* open_handle() const { return phase == Phase::Open ? handle.get() : nullptr; }
  bool needs_opener() const {
    return phase == Phase::Idle || (phase == Phase::Open && handle->state == SessionState::Expired);
  }
};

/// What this process has learnt of servers, by their addresses; all its sessions share it.
///
/// create2, containers, nodes with a TTL, reconfig and removeWatches came with 3.5. A server of 3.4
/// ends the connection at such a request, and so does ClickHouse Keeper, some without an answer:
/// what was on its way is lost, and locks are in doubt. So none is sent to a server of which
/// nothing is known. What a server says of its version proves little (Debian's 3.9.3 once called
/// itself 3.8.0), and four-letter words may be forbidden. But from 3.5 on there is a node
/// /zookeeper/config, in 3.4 and in Keeper there is not, and every server answers a read of it.
/// That read goes before the first such request, and is answered before it would be. Other
/// creations do not need it: they are plain ones, and their czxid is known (Creations).
class KnownServers {
 public:
  /// No value: nothing has been learnt.
  std::optional<bool> is_newer(const Monitor::Held& /*held*/, const std::string& address) const {
    const auto found = newer_.find(address);
    return found == newer_.end() ? std::nullopt : std::optional(found->second);
  }
  void learn(const Monitor::Held& /*held*/, const std::string& address, bool newer) {
    if (!address.empty()) newer_[address] = newer;
  }

  /// How long the tick of a server, by its name, is; 0: it does not say. No value: it was not
  /// asked.
  std::optional<std::chrono::milliseconds> tick(const Monitor::Held& /*held*/,
                                                const std::string& server) const {
    const auto found = ticks_.find(server);
    return found == ticks_.end() ? std::nullopt : std::optional(found->second);
  }
  void learn_tick(const Monitor::Held& /*held*/, const std::string& server,
                  std::chrono::milliseconds tick) {
    ticks_[server] = tick;
  }

 private:
  std::map<std::string, bool> newer_;
  std::map<std::string, std::chrono::milliseconds> ticks_;
};

}  // namespace zksh
