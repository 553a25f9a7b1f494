// PersistentWatches: zkCli's addWatch, on a thread that lives as long as the session.
#pragma once

#include "client/node_watches.h"
#include "client/nodes.h"
#include "client/watch.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace zksh {

class Client;

/// The persistent watches of a session (node_watches.h). They end with the session. While there are
/// any, the events of printed watches pass through here too, so that all events are reported in
/// order, and a change that both kinds report is reported once, as in zkCli. Members may be called
/// from any thread; those that block, not from the C client's.
class PersistentWatches {
 public:
  /// Called under the monitor; must only record what they get.
  struct Report {
    std::function<void(const Monitor::Held&, const Event&)> event;
    std::function<void(const Monitor::Held&, const std::string&)> warning;
  };

  PersistentWatches(Monitor& monitor, Report report)
      : monitor_(monitor), report_(std::move(report)) {}
  PersistentWatches(const PersistentWatches&) = delete;
  PersistentWatches& operator=(const PersistentWatches&) = delete;
  ~PersistentWatches() = default;

  /// Ends the thread. By then, no more watches are added: the commands have ended.
  struct Detach {
    void operator()(PersistentWatches* watches) const { watches->thread_ = std::jthread(); }
  };
  /// Must be destroyed before the client, which is created after the watches.
  using Attachment = std::unique_ptr<PersistentWatches, Detach>;
  /// Must be called once, before any other member except `hear`.
  [[nodiscard]] Attachment attach(Client& client, Survey survey = {}) {
    client_ = &client;
    survey_ = std::move(survey);
    return Attachment(this);
  }

  /// Must be called with every event of the client. Returns true if the event will be reported from
  /// here.
  bool hear(const Monitor::Held& held, const Event& event);

  /// Watches a node, or changes the mode of its watch. Blocks; throws ZkError (unimplemented, with
  /// the server's version: it has no such watches), Cancelled, and Error if all watches were given
  /// up. If it throws otherwise, the watches are as before.
  void add(const std::string& path, WatchMode mode, const std::stop_token& stop);
  /// Returns false if there is no such watch. Blocks while events are being reported; throws
  /// Cancelled.
  bool remove(const std::string& path, std::optional<WatchMode> mode, const std::stop_token& stop);
  /// The present watches. Does not block.
  std::map<std::string, WatchMode> all() const;
  /// The mailbox of the underlying watches.
  const Mailbox& mailbox() const { return mailbox_; }
  /// Reports an event from elsewhere.
  void tell(const Event& event);
  /// Blocks until all events received so far are reported, but at most for `longest`, or until a
  /// stop.
  void settle(std::chrono::milliseconds longest, const std::stop_token& stop);

 private:
  using Result = Outcome<std::string>;
  struct Request {
    std::string path;
    bool add;
    std::optional<WatchMode> mode;
    std::string server;         ///< the client's when it was made
    Clock::time_point since{};  ///< when it was made
    /// The value is why all watches were given up; then the code is system_error.
    Pending<std::string> done = std::make_shared<Answer<std::string>>();
  };
  struct State {
    bool active = false;  ///< there are watches or pending requests
    bool ended = false;
    std::deque<Request> requests;  ///< not taken yet
    std::deque<Request> in_progress;
    std::uint64_t taken = 0;     ///< number of events taken from the mailbox
    std::uint64_t reported = 0;  ///< number of those reported
    std::map<std::string, WatchMode> roots;
  };

  Pending<std::string> request(const std::string& path, bool add, std::optional<WatchMode> mode);
  void serve(const std::stop_token& stop);
  void serve_once(NodeWatches& watches, const std::stop_token& stop);
  void give_up(NodeWatches& watches, const std::string& reason);
  void report_events(NodeWatches& watches);
  std::optional<Result> carry_out(NodeWatches& watches, const Request& request,
                                  const std::stop_token& stop);

  Monitor& monitor_;
  Report report_;
  Client* client_ = nullptr;
  Survey survey_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  Guarded<State> state_;
  std::jthread thread_;  ///< started by the first request
};

}  // namespace zksh
