// RecipeRequests: the requests and watches of recipes, reported step by step.
#pragma once

#include "client/nodes.h"
#include "client/task.h"
#include "client/watch.h"
#include "recipes/recipe.h"

#include <fmt/core.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// An answer as a text for -v.
std::string answer_text(const Created& created);
std::string answer_text(const Nothing& nothing);
std::string answer_text(const Stat& stat);
std::string answer_text(const Node& node);
std::string answer_text(const Children& children);
std::string answer_text(const std::vector<OpResult>& results);

// They note in `place` what an attempt to read a contender's node has shown.
void note_predecessor(const Outcome<Node>& predecessor, QueuePlace& place);
/// The same for the first contender.
void note_holder(const Outcome<Node>& first, QueuePlace& place);

/// Used by one recipe, on the thread that drives its fiber.
class RecipeRequests {
 public:
  RecipeRequests(Client& client, Fiber& fiber, const RecipeReport& report)
      : client_(client), fiber_(fiber), report_(report) {}

  Client& client() { return client_; }
  Fiber& fiber() { return fiber_; }

  template <class T>
  struct Sent {
    Pending<T> pending;
    Clock::time_point at;
    std::string what;  ///< empty if steps are not reported
  };

  /// Counts a request that the client has just sent; `what` describes it, for -v.
  template <class T, class... Args>
  Sent<T> send(Pending<T> pending, fmt::format_string<Args...> what, Args&&... args) {
    if (report_.request) report_.request();
    return {std::move(pending), Clock::now(),
            report_.step ? fmt::format(what, std::forward<Args>(args)...) : std::string()};
  }
  /// Requests without a watch.
  Sent<Node> send_get(const std::string& path);
  Sent<Children> send_children(const std::string& path);
  Sent<Stat> send_exists(const std::string& path);
  /// Has the session find out whether the server knows containers, before one is created: until
  /// that is known, the session holds back the creation, but not what is sent behind it.
  Sent<Nothing> send_probe();
  Sent<Nothing> send_sync(const std::string& path);
  /// Waits for the answer, whatever its code. Throws Cancelled, and LockBusy at the deadline.
  template <class T>
  Task<Outcome<T>> answer(Sent<T> sent) {
    const bool in_time = co_await fiber_.until(
        [&](const Monitor::Held& held) { return (*sent.pending)(held).has_value(); }, deadline_,
        sent.pending.get());
    if (!in_time) throw LockBusy("the server has not answered in time");
    auto outcome = fiber_.monitor().with_lock(
        [&](const Monitor::Held& held) { return std::move(*(*sent.pending)(held)); });
    if (report_.step)
      report_answer(sent.what, sent.at, outcome.code,
                    outcome.code == code::ok ? answer_text(outcome.value) : std::string());
    co_return outcome;
  }
  /// Takes the mailbox's events and reports them.
  std::deque<Event> take_events(const Mailbox& mailbox) const;
  void step(const std::string& text) const {
    if (report_.step) report_.step(text);
  }

  /// Waits until a server that accepts writes is connected; a new session is opened if the old one
  /// has expired. Throws ZkError{invalid_state} if the session was closed or refused, Error if only
  /// a read-only server is available, Cancelled, LockBusy at the deadline.
  Task<> connected();

  /// Call after losing a place in the queue, before joining again. Returns at once after the first
  /// loss, and waits up to a second if losses follow each other, so that servers which lose every
  /// place are not asked in a tight loop. Throws Cancelled, LockBusy at the deadline.
  Task<> pause_after_loss();

  /// The contender's node, which RecipeWatch::event reads now and then; empty: none.
  void set_own_node(std::string path) { own_node_ = std::move(path); }
  const std::string& own_node() const { return own_node_; }

  /// Waits throw LockBusy at this time. Fiber::never: for clean-up.
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  Clock::time_point deadline() const { return deadline_; }

 private:
  void report_answer(const std::string& what, Clock::time_point at, int code,
                     const std::string& answer) const;

  Client& client_;
  Fiber& fiber_;
  const RecipeReport& report_;
  std::string own_node_;
  Clock::time_point deadline_ = Fiber::never;
  Clock::time_point last_loss_{};
  Clock::duration pause_{};  ///< after the next loss
};

/// What all recipes have in common; they differ in how they contend.
class ContendingRecipe : public Recipe {
 public:
  Task<> acquire(Clock::time_point deadline) final;

 protected:
  ContendingRecipe(Client& client, Fiber& fiber, const RecipeReport& report, LockRequest request)
      : requests_(client, fiber, report), report_(report), request_(std::move(request)) {}

  /// As acquire, at the deadline of `requests_`; may leave nodes and watches if it throws.
  virtual Task<> contend() = 0;
  /// Takes back what a failed attempt has left.
  virtual Task<> give_up() = 0;

  // NOLINTBEGIN(readability-identifier-naming): as the recipes' own.
  RecipeRequests requests_;
  const RecipeReport& report_;
  LockRequest request_;
  // NOLINTEND(readability-identifier-naming)
};

/// Finds the missing nodes among some and their ancestors, in one round trip. The reads can be sent
/// ahead, behind a creation that may fail for want of a parent.
class AncestorSearch {
 public:
  /// `requests` must outlive it.
  explicit AncestorSearch(RecipeRequests& requests) : requests_(requests) {}

  /// Sends the reads. They wait (sync) for what is on its way to the server's tree. / counts as
  /// there.
  void ask(const std::set<std::string>& paths);
  bool is_asked() const { return is_asked_; }
  /// Drops the answers.
  void forget() {
    is_asked_ = false;
    flushed_.reset();
    asked_.clear();
  }
  /// After `ask`: the missing ones, ancestors first; nullopt if the connection was lost. Throws
  /// LockBusy, Cancelled.
  Task<std::optional<std::vector<std::string>>> missing();

 private:
  RecipeRequests& requests_;
  bool is_asked_ = false;
  std::optional<RecipeRequests::Sent<Nothing>> flushed_{};
  std::map<std::string, RecipeRequests::Sent<Stat>> asked_{};  ///< ancestors come first
};

/// Creates the missing nodes of a path, ancestors as persistent, the last as `last`; they exist
/// afterwards, whoever created them. Never creates /, the chroot: throws ZkError{no_node} if that
/// is missing. Throws ZkError, LockBusy, Cancelled.
Task<> make_ancestors(RecipeRequests& requests, std::string path, CreateMode last, Acl acl);

/// At most one watch at a time, for one task.
class RecipeWatch {
 public:
  /// `requests` must outlive it.
  explicit RecipeWatch(RecipeRequests& requests) : requests_(requests) {}

  /// Reads a node and watches its data. A node that may not be read is watched nevertheless, and
  /// seems empty. If there is no such node, the code is no_node and no watch is set. Throws
  /// Cancelled and LockBusy; then call `drop`.
  Task<Outcome<Node>> get(std::string path);
  /// The watch for listing a node's children in a request that must be sent at once.
  Watch on_children(const std::string& path);
  /// Waits for the event of the last watch, the loss of the connection or the session, or the end
  /// of the contender's own node; false if the deadline came first. Meanwhile it reads that node,
  /// or else the watched one, as LeaseRenewal says. Throws Cancelled.
  Task<bool> event();
  /// Removes a watch that has not fired, at the server too. Returns at once.
  void drop();
  /// Forgets a watch that will fire anyway.
  void let_go() { path_.clear(); }

 private:
  void arm(const std::string& path, WatchKind kind);

  RecipeRequests& requests_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  std::string path_;  ///< the watched path; empty: none
  WatchKind kind_ = WatchKind::OfData;
  std::int64_t session_ = 0;  ///< the watch's session
};

/// The names of a node's children. The request can be sent ahead, behind a creation, and is then
/// answered right after it.
class ChildListing {
 public:
  /// `watch` is set by listings with a watch. All references must outlive it.
  ChildListing(RecipeRequests& requests, RecipeWatch& watch, const std::string& path)
      : requests_(requests), watch_(watch), path_(path) {}

  void ask(bool with_watch);
  /// The answer to `ask`, or to a new request if that is not under way or fails with the
  /// connection. A missing node has no children. Throws ZkError, Cancelled, LockBusy.
  Task<std::vector<std::string>> names(bool with_watch);
  /// Drops the answer.
  void forget() { sent_.reset(); }

 private:
  RecipeRequests& requests_;
  RecipeWatch& watch_;
  const std::string& path_;
  std::optional<RecipeRequests::Sent<Children>> sent_{};
};

}  // namespace zksh
