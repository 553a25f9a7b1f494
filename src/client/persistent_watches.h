// PersistentWatches: zkCli's addWatch, on a thread of its own that lives as long as the session.
#pragma once

#include "client/client.h"
#include "client/watched_tree.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace zksh {

/// The persistent watches of a session: how they are made is told in watched_tree.h. They end with
/// the session. While there are any, the events of printed watches pass through here too, so that
/// all events are told in order, and a change that both kinds report is told once, as by zkCli.
/// Members may be called from any thread, but not those that block from the C client's.
class PersistentWatches {
 public:
  /// Both are called under the monitor: they must only take note.
  struct Report {
    std::function<void(const Monitor::Held&, const Event&)> event;
    std::function<void(const Monitor::Held&, const std::string&)> warning;
  };

  PersistentWatches(Monitor& monitor, Report report)
      : monitor_(monitor), report_(std::move(report)) {}
  PersistentWatches(const PersistentWatches&) = delete;
  PersistentWatches& operator=(const PersistentWatches&) = delete;
  ~PersistentWatches() = default;

  /// Ends the thread when it goes: before the client does, which is younger than the watches.
  class Attachment {
   public:
    explicit Attachment(PersistentWatches& watches) : watches_(watches) {}
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
    ~Attachment() { watches_.detach(); }

   private:
    PersistentWatches& watches_;
  };
  /// To be called once, before anything else but `hear`.
  [[nodiscard]] Attachment attach(Client& client);

  /// To be handed every event that the client's sink hears; true when it will be told from here.
  bool hear(const Monitor::Held& held, const Event& event);

  /// Watches a node, or changes the mode of its watch. Blocks until every node under it is watched;
  /// throws ZkError, Cancelled.
  void add(const std::string& path, WatchMode mode, const std::stop_token& stop);
  /// False when there is no such watch. Blocks while events are being told; throws Cancelled.
  bool remove(const std::string& path, std::optional<WatchMode> mode, const std::stop_token& stop);
  /// The watches that there are now. Does not block.
  std::map<std::string, WatchMode> all() const;
  /// Where the one-shot watches report that they are made of.
  const Mailbox& mailbox() const { return mailbox_; }
  /// Tells of an event that comes from elsewhere.
  void tell(const Event& event);
  /// Blocks until all that has been heard is told, for some time at most, less on a stop.
  void settle(std::chrono::milliseconds longest, const std::stop_token& stop);

 private:
  struct Request {
    std::string path;
    bool add;
    std::optional<WatchMode> mode;
    Pending<Nothing> done = std::make_shared<Answer<Nothing>>();
  };
  struct State {
    bool active = false;  ///< there are watches, or requests for some
    bool ended = false;
    std::deque<Request> requests;
    std::uint64_t taken = 0;  ///< events, out of the mailbox
    std::uint64_t told = 0;   ///< of those
    std::map<std::string, WatchMode> roots;
    bool in_doubt = false;  ///< there is more to tell, of what none of them said
  };

  Pending<Nothing> request(const std::string& path, bool add, std::optional<WatchMode> mode);
  void detach();
  void serve(const std::stop_token& stop);
  void serve_once(WatchedTree& tree, const std::stop_token& stop);
  void tell_of(WatchedTree& tree);
  int carry_out(WatchedTree& tree, const Request& request, const std::stop_token& stop);

  Monitor& monitor_;
  Report report_;
  Client* client_ = nullptr;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  Guarded<State> state_;
  std::jthread thread_;  ///< started by the first request
};

}  // namespace zksh
