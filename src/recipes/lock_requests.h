// LockRequests: what recipes ask of the servers, and the events that they wait for.
#pragma once

#include "client/task.h"
#include "recipes/recipe.h"

#include <fmt/core.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace zksh {

/// For -v: what an answer said.
std::string told(const Created& created);
std::string told(const Nothing& nothing);
std::string told(const Stat& stat);
std::string told(const Node& node);
std::string told(const Children& children);
std::string told(const std::vector<OpResult>& results);

/// For how long a node has existed, in milliseconds; by the two machines' clocks.
std::int64_t age_ms(const Stat& stat);

/// Used by one recipe, on the thread that drives its fiber.
class LockRequests {
 public:
  LockRequests(Client& client, Fiber& fiber, const LockReport& report)
      : client_(client), fiber_(fiber), report_(report) {}

  Client& client() { return client_; }
  Fiber& fiber() { return fiber_; }

  template <class T>
  struct Sent {
    Pending<T> pending;
    Clock::time_point at;
    std::string what;  ///< empty when nobody wants to be told
  };

  /// Takes a request down that `start` sends now. `what()` describes it; called only for -v.
  template <class What, class Start>
  auto send(What&& what, Start&& start) {
    if (report_.request) report_.request();
    auto text = report_.step ? what() : std::string();
    const auto at = Clock::now();
    auto pending = start();
    using T = typename decltype(pending)::element_type;
    return make_sent(std::move(pending), at, std::move(text), static_cast<T*>(nullptr));
  }
  /// The answer, whatever its code. Throws Cancelled, and LockBusy at the deadline.
  template <class T>
  Task<Outcome<T>> answer(Sent<T> sent) {
    const bool in_time = co_await fiber_.until(
        [&](const Monitor::Held& held) { return (*sent.pending)(held).has_value(); }, deadline_,
        sent.pending.get());
    if (!in_time) throw LockBusy("the server has not answered in time");
    auto outcome = fiber_.monitor().with_lock(
        [&](const Monitor::Held& held) { return std::move(*(*sent.pending)(held)); });
    if (report_.step)
      tell(sent.what, sent.at, outcome.code,
           outcome.code == code::ok ? told(outcome.value) : std::string());
    co_return outcome;
  }
  /// The events that have come, told of.
  std::deque<Event> take_events(const Mailbox& mailbox) const;
  void step(const std::string& text) const {
    if (report_.step) report_.step(text);
  }
  bool tells_steps() const { return static_cast<bool>(report_.step); }

  /// Ends when a server that takes writes is connected; a new session is opened when the old one
  /// has expired. Throws ZkError{invalid_state} when the session was closed or refused, Error when
  /// only a read-only server is there, Cancelled, LockBusy at the deadline.
  Task<> connected();
  /// Whether an answer's code says only that the connection, or the session, is gone.
  static bool lost(int code);

  /// To be called when a place was lost, before another is asked for: returns at once after the
  /// first loss, later when losses follow each other, after a second at most, so that servers which
  /// lose every place are not asked in a tight loop. Throws Cancelled, LockBusy at the deadline.
  Task<> pause_after_loss();

  /// Waits longer than this end with LockBusy. Fiber::never: for clearing up.
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  Clock::time_point deadline() const { return deadline_; }

 private:
  template <class T>
  static Sent<T> make_sent(Pending<T> pending, Clock::time_point at, std::string what,
                           Answer<T>* /*type*/) {
    return {std::move(pending), at, std::move(what)};
  }
  void tell(const std::string& what, Clock::time_point at, int code, const std::string& said) const;

  Client& client_;
  Fiber& fiber_;
  const LockReport& report_;
  Clock::time_point deadline_ = Fiber::never;
  Clock::time_point last_loss_{};
  Clock::duration pause_{};  ///< after the next loss
};

/// Runs `attempt`, whose waits end at the deadline. When it fails, `give_back` runs to its end,
/// without a deadline, before the failure is thrown on.
Task<> attempt_until(Clock::time_point deadline, LockRequests& requests, Task<> attempt,
                     std::function<Task<>()> give_back);

/// Creates what is missing of a path: ancestors persistent, the last one as `last`, which existed
/// or exists now in any case. Throws ZkError, LockBusy, Cancelled.
Task<> make_ancestors(LockRequests& requests, std::string path, CreateMode last, Acl acl);

/// One watch at a time, used by one task.
class LockWatch {
 public:
  /// `requests` outlives it.
  explicit LockWatch(LockRequests& requests) : requests_(requests) {}

  /// Reads a node and watches its data; a node that may not be read is watched nevertheless, and
  /// then seems empty. Without one the outcome is code::no_node, and no watch is left. Throws
  /// Cancelled and LockBusy, then `drop` it.
  Task<Outcome<Node>> get(std::string path);
  /// The watch to list a node's children with, for a request that is sent at once.
  Watch on_children(const std::string& path);
  /// Ends at an event of what was watched last, or when the connection or the session is lost.
  /// False: the deadline came first. Throws Cancelled.
  Task<bool> event();
  /// Takes away what has not fired, at the server too. Returns at once.
  void drop();
  /// It will fire, but is not waited for any more.
  void let_go() { path_.clear(); }

 private:
  void arm(const std::string& path, WatchKind kind);

  LockRequests& requests_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  std::string path_;  ///< that is watched; empty: none
  WatchKind kind_ = WatchKind::OfData;
  std::int64_t session_ = 0;  ///< in which it is
};

}  // namespace zksh
