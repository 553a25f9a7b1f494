// Lock::Keeper: the task of a lock, from the request to the release, and how it proves that the
// lock is held.
#include "lock/keeper.h"

#include "base/mapped.h"
#include "base/process.h"
#include "client/client.h"
#include "client/lease_renewal.h"
#include "lock/lock.h"
#include "lock/text.h"
#include "recipes/lock_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// A lock held for less than this costs no requests beyond its own three.
constexpr auto first_look_after = 50ms;

}  // namespace

void LockChecks::add(const std::vector<std::string>& nodes) {
  nodes_.insert(nodes.begin(), nodes.end());
  // Of an earlier node with this name, as --recipe exclusive has: its last check may have been
  // answered after its lock was lost.
  for (const auto& node : nodes) gone_.erase(node);
}

void LockChecks::remove(const std::vector<std::string>& nodes) {
  for (const auto& node : nodes) {
    if (const auto found = nodes_.find(node); found != nodes_.end()) nodes_.erase(found);
    gone_.erase(node);
    unreadable_.erase(node);
  }
}

std::shared_ptr<const LockChecks::Check> LockChecks::check(BootClock::duration interval) {
  const auto now = BootClock::now();
  if (latest_ && now - latest_->sent < interval / 2) return latest_;
  auto fresh = std::make_shared<Check>();
  fresh->sent = now;
  std::ranges::copy_if(nodes_, std::back_inserter(fresh->nodes), [&](const std::string& node) {
    return !gone_.contains(node) && !unreadable_.contains(node);
  });
  // A check of a node that may not be read is refused, which needs a quorum's agreement as well,
  // and only while the node is there. Only one refusal is answered, so they take turns, at the end.
  if (!unreadable_.empty()) {
    auto next = unreadable_.upper_bound(last_unreadable_);
    if (next == unreadable_.end()) next = unreadable_.begin();
    fresh->nodes.push_back(last_unreadable_ = *next);
  }
  fresh->answer = client_.start_multi(
      mapped<Op>(fresh->nodes, [](const std::string& node) { return CheckOp{.path = node}; }));
  return latest_ = fresh;
}

int LockChecks::settle(const Check& check) {
  const auto outcome =
      client_.monitor().with_lock([&](const Monitor::Held& held) { return (*check.answer)(held); });
  for (std::size_t i = 0; i < std::min(check.nodes.size(), outcome->value.size()); ++i) {
    const int code = outcome->value[i].code;
    if (code == code::no_node) {
      gone_.insert(check.nodes[i]);
      unreadable_.erase(check.nodes[i]);
    }
    if (code == code::no_auth) unreadable_.insert(check.nodes[i]);
  }
  // A check that proves nothing must not be shared: a caller that gets it asks for another at once,
  // and would get the same one again.
  const bool proves = outcome->code == code::ok || outcome->code == code::no_auth;
  if (!proves && latest_.get() == &check) latest_ = nullptr;
  return outcome->code;
}

void LockChecks::read(BootClock::duration interval) {
  const auto now = BootClock::now();
  const bool recent = now - read_ < interval / 2 || (latest_ && now - latest_->sent < interval / 2);
  if (recent || nodes_.empty()) return;
  read_ = now;
  client_.start_exists(*nodes_.begin(), Watch::none());
}

/// Handles one lock. Used by the task that it runs in.
class Lock::Keeper {
 public:
  Keeper(Client& client, Lock& lock, LockChecks& checks)
      : client_(client),
        lock_(lock),
        monitor_(lock.monitor_),
        reporter_(lock.reporter_),
        checks_(checks) {}

  Task<> live() {
    listen();
    std::exception_ptr refusal;
    try {
      recipe_ = make_recipe(client_, lock_.fiber_, report_, lock_.plan_.request);
      co_await recipe_->acquire(lock_.plan_.deadline);
    } catch (...) {  // passed to the owner
      refusal = std::current_exception();
    }
    if (refusal) {
      end(LockStatus::Stage::Refused, {}, refusal);
      co_return;
    }
    const Fiber::Shield shield(lock_.fiber_);  // from here on, the lock's status decides
    const bool asked = co_await asked_meanwhile();
    if (asked) {
      co_await decline();
      co_return;
    }
    begin_to_hold();
    co_await hold();
    checks_.remove(checked_);
    if (lost_.empty())
      co_await give_back();
    else
      co_await bury();
    co_await lock_.fiber_.until(
        [&](const Monitor::Held& held) { return !lock_.loss_command_runs(held); });
  }

  /// An error in the task ends the lock, since nobody proves any more that it is held.
  void fail(const std::exception_ptr& failure) {
    checks_.remove(checked_);
    std::string reason = "an error";
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      reason = error.what();
    }
    if (lock_.status().stage < LockStatus::Stage::Held)
      end(LockStatus::Stage::Refused, {},
          std::make_exception_ptr(Error(lock_.name() + ": " + reason)));
    else if (!lock_.status().is_gone())
      report_end(lost_line(reason), LockStatus::Stage::Lost, reason);
  }

 private:
  template <class F>
  void change(F&& f) {
    const bool another = monitor_.change([&](const Monitor::Held& held) {
      auto& status = lock_.status_(held);
      const auto stage = status.stage;
      f(status);
      return status.stage != stage;
    });
    if (another && reporter_.changed) reporter_.changed();
  }
  void say(const std::string& line) { reporter_.say(line); }

  /// Sets the callbacks that the recipe reports to.
  void listen() {
    const auto& options = lock_.options();
    if (options.verbose) report_.step = [this](const std::string& text) { say("  " + text); };
    if (!options.quiet)
      report_.warning = [this](const std::string& text) { say("warning: " + text); };
    report_.waiting = [this](const QueuePlace& place) { report_place(place); };
    if (options.when_revoked() == OnRevoke::Release)
      report_.relisted = [this](const std::vector<std::string>& nodes) {
        relisted_ = {nodes, read_nodes(nodes, Watch::none())};
      };
  }
  void report_place(const QueuePlace& place) {
    change([&](LockStatus& status) {
      status.stage = LockStatus::Stage::Waiting;
      status.place = place;
      status.deadlock.reset();
    });
    if (lock_.options().quiet) return;
    say(waiting_line(place.path.empty() ? lock_.paths().front() : place.path, place));
  }

  void begin_to_hold() {
    const auto now = Clock::now();
    const auto lease = client_.lease();
    const auto& holding = recipe_->holding();
    change([&](LockStatus& status) {
      status.stage = LockStatus::Stage::Held;
      status.holding = holding;
      status.held = now;
      status.lease = lease;
    });
    session_ = holding.session;
    renew_from(BootClock::now());
    have_checked(holding.nodes);
  }

  void have_checked(const std::vector<std::string>& nodes) {
    checks_.remove(std::exchange(checked_, nodes));
    checks_.add(checked_);
  }
  void renew_from(BootClock::time_point now) {
    renewal_.emplace(lock_.status().lease.timeout, LeaseRenewal::Stage::Holding, now);
  }
  BootClock::duration interval() const {
    return LeaseRenewal::interval(lock_.status().lease.timeout);
  }

  void end(LockStatus::Stage how, const std::string& reason, const std::exception_ptr& error = {}) {
    change([&](LockStatus& status) {
      status.stage = how;
      status.ended = Clock::now();
      status.reason = reason;
      status.error = error;
    });
  }

  std::vector<Pending<Node>> read_nodes(const std::vector<std::string>& nodes, const Watch& watch) {
    return mapped(nodes, [&](const std::string& node) { return client_.start_get(node, watch); });
  }

  /// Whether the release was requested during the wait for the lock: what starts now would be ended
  /// at once. A watch on its own nodes would show that earlier, but a waiting contender has only
  /// one watch, on its predecessor. The nodes were read right after the list that showed that the
  /// lock is held; the first look finds a later request.
  Task<bool> asked_meanwhile() {
    const auto stage = lock_.status().stage;
    if (stage != LockStatus::Stage::Waiting || lock_.options().when_revoked() != OnRevoke::Release)
      co_return false;
    bool asked = false;
    const auto& nodes = recipe_->holding().nodes;
    auto questions = std::exchange(relisted_.second, {});
    if (relisted_.first != nodes) questions = read_nodes(nodes, Watch::none());
    for (const auto& question : questions) {
      const auto outcome = co_await lock_.fiber_.answer(question);
      asked = asked || (outcome.code == code::ok && is_release_request(outcome.value.data));
    }
    co_return asked;
  }

  /// Gives the lock back as if it had never been held.
  Task<> decline() {
    change([](LockStatus& status) { status.revoked = true; });
    try {
      co_await recipe_->release();
    } catch (const Error&) {
      // The session's end removes them.
    }
    end(LockStatus::Stage::Refused, {},
        std::make_exception_ptr(
            LockBusy(lock_.name() + ": asked to release while waiting; left the queue")));
  }

  /// Notes the loss if the session has ended.
  void note_end_of_session() {
    bool closed = false;
    const bool gone = monitor_.with_lock([&](const Monitor::Held& held) {
      const auto state = client_.state(held);
      closed = state == SessionState::Closed || client_.closed_session(held) == session_;
      return closed || state == SessionState::Expired || state == SessionState::AuthFailed ||
             (state != SessionState::Connecting && client_.session_id(held) != session_);
    });
    if (!gone) return;
    change([&](LockStatus& status) { status.closed_here = closed; });
    lost_ = closed ? "the session was closed" : "the session expired";
  }
  BootClock::time_point safe_until() const { return lock_.status().lease.end; }
  bool too_late() const { return BootClock::now() >= safe_until(); }

  /// Returns when the lock must be given back, or is lost (lost_ says why). No request waits for
  /// the answer to another: servers may be far away.
  Task<> hold() {
    auto first_look = BootClock::now() + first_look_after;
    for (;;) {
      const auto due = std::min({first_look, renewal_->next(), safe_until()});
      co_await lock_.fiber_.until(
          [&](const Monitor::Held& held) {
            // `connect` replaces the session with one that is already connected.
            return must_go(held) || lock_.downgrade_(held) || !(*mailbox_)(held).empty() ||
                   has_been_checked(held) || has_been_read(held) || is_extended(held) ||
                   client_.state(held) != SessionState::Connected ||
                   client_.session_id(held) != session_;
          },
          wait_until(due));
      note_lease();
      // Checked before anything else, in case the whole process was suspended.
      if (too_late()) {
        lose_unproven();
        co_return;
      }
      const auto requests = monitor_.with_lock([&](const Monitor::Held& held) {
        // What was read may be older than the event.
        if (!(*mailbox_)(held).empty()) forget_look();
        (*mailbox_)(held).clear();
        return std::exchange(lock_.downgrade_(held), nullptr);
      });
      if (requests) co_await downgrade(*requests);
      if (!lost_.empty()) co_return;
      if (lock_.status().must_go()) co_return;
      note_end_of_session();
      if (!lost_.empty()) co_return;
      if (client_.current_state() != SessionState::Connected) {
        co_await sit_out();
        if (!lost_.empty()) co_return;
      } else {
        const bool looks = !looked_ && reads_.empty();
        take_answers();
        if (!lost_.empty() || revoked_away()) co_return;
        if (looks) look();
        renew();
      }
      first_look = BootClock::time_point::max();
    }
  }

  /// Whether the answer to a check that was sent before the lock was held has extended the lease.
  /// LockNodes has counted on it, and far from the servers the first answer to a check of this task
  /// may come after the program's deadline.
  bool is_extended(const Monitor::Held& held) const {
    const auto& status = lock_.status_(held);
    return !proven_ && status.stage == LockStatus::Stage::Held &&
           client_.lease_end(held) > status.lease.end;
  }
  bool has_been_checked(const Monitor::Held& held) const {
    return !proofs_.empty() && (*proofs_.front()->answer)(held);
  }
  bool has_been_read(const Monitor::Held& held) const {
    return !reads_.empty() && std::ranges::all_of(reads_, [&](const Pending<Node>& read) {
      return (*read)(held).has_value();
    });
  }
  void take_answers() {
    const auto is = [&](auto member) {
      return monitor_.with_lock([&](const Monitor::Held& held) { return (this->*member)(held); });
    };
    while (lost_.empty() && is(&Keeper::has_been_checked)) take_proof();
    if (lost_.empty() && is(&Keeper::has_been_read)) take_look();
  }

  bool must_go(const Monitor::Held& held) const { return lock_.status_(held).must_go(); }
  void lose_unproven() {
    lost_ = fmt::format("the servers did not confirm it within the session timeout of {}",
                        short_time(lock_.status().lease.timeout));
    if (const auto far = too_far_for_lock(client_); !far.empty()) lost_ += ": " + far;
  }

  /// Waits without a connection, or at a read-only server: the lock is safe for a while.
  Task<> sit_out() {
    const auto left = safe_until() - BootClock::now();
    const bool at_reader = client_.current_state() == SessionState::ConnectedReadOnly;
    change([](LockStatus& status) { status.stage = LockStatus::Stage::Suspended; });
    say(fmt::format("suspended {}: {}; the lock is safe for {} more", lock_.name(),
                    at_reader ? "this server is read-only" : "no server answers",
                    short_time(left)));
    co_await lock_.fiber_.until(
        [&](const Monitor::Held& held) {
          const auto state = client_.state(held);
          const bool at_same =
              state == SessionState::ConnectedReadOnly && client_.session_id(held) == session_;
          return (state != SessionState::Connecting && !at_same) || must_go(held);
        },
        wait_until(safe_until()));
    note_lease();
    if (too_late()) lose_unproven();
  }

  /// Reads every node of the lock with a watch.
  void look() {
    reads_ = read_nodes(recipe_->holding().nodes, Watch::into(mailbox_));
    renewal_->sent(LeaseRenewal::Request::Read, BootClock::now());
  }
  void forget_look() {
    looked_ = false;
    reads_.clear();
  }

  /// Evaluates the nodes once all have been read.
  void take_look() {
    bool seen = true;
    bool revoked = false;
    for (const auto& read : std::exchange(reads_, {})) {
      const auto outcome =
          monitor_.with_lock([&](const Monitor::Held& held) { return (*read)(held); });
      if (outcome->code == code::no_node) lost_ = "its node was deleted";
      const bool there = outcome->code == code::ok;
      if (there && outcome->value.stat.ephemeral_owner != session_)
        lost_ = "its node belongs to another session";
      // A node that may not be read cannot be watched; the checks show whether it exists.
      seen = seen && (there || outcome->code == code::no_auth);
      if (!there || !is_release_request(outcome->value.data)) continue;
      revoked = true;
      asker_ = asker_in_line(outcome->value.data);
    }
    if (!lost_.empty()) return;
    looked_ = looked_ || seen;
    if (revoked && !lock_.status().revoked) be_revoked();
  }

  /// Sends the request that extends the lease, if one is due.
  void renew() {
    const auto now = BootClock::now();
    const auto request = renewal_->due(now);
    const bool unproven = lock_.status().stage == LockStatus::Stage::Suspended && proofs_.empty();
    if (unproven || request == LeaseRenewal::Request::Check) {
      prove();
    } else if (request == LeaseRenewal::Request::Read) {
      checks_.read(interval() / 2);
      renewal_->sent(request, now);
    }
  }

  /// Checks the session's locks with a transaction.
  void prove() {
    proofs_.push_back(checks_.check(interval()));
    renewal_->sent(LeaseRenewal::Request::Check, proofs_.back()->sent);
  }

  /// Call when the oldest check has been answered: updates the lease, or notes the loss.
  void take_proof() {
    const auto check = std::move(proofs_.front());
    proofs_.pop_front();
    const int result = checks_.settle(*check);
    const auto& nodes = recipe_->holding().nodes;
    if (std::ranges::any_of(nodes, [&](const auto& node) { return checks_.is_gone(node); }))
      lost_ = "its node was deleted";
    else if (result == code::no_node && proofs_.empty())  // of another lock
      prove();
    else if (result == code::ok || result == code::no_auth)
      take_note_of_lease();
  }

  /// A server that resumed the session may have granted less than those before. Only the extension
  /// that is_extended describes is noted here; all others come with this task's own checks, which
  /// also show that the nodes exist.
  void note_lease() {
    const auto lease = client_.lease();
    const bool longer = !proven_ && lock_.status().stage == LockStatus::Stage::Held;
    if (client_.session_id() != session_ || (lease.end >= safe_until() && !longer)) return;
    if (lease.timeout < lock_.status().lease.timeout) renew_from(BootClock::now());
    change([&](LockStatus& status) { status.lease = lease; });
  }

  void take_note_of_lease() {
    proven_ = true;
    const auto lease = client_.lease();
    // Compared after the lease was read: so the lease belonged to this session.
    if (client_.session_id() != session_) return;
    const bool resumed = lock_.status().stage == LockStatus::Stage::Suspended;
    change([&](LockStatus& status) {
      status.stage = LockStatus::Stage::Held;
      status.lease = lease;
    });
    if (resumed) say("resumed " + lock_.name() + ": still held");
  }

  void be_revoked() {
    const auto& options = lock_.options();
    const char* const answer =
        options.when_revoked() == OnRevoke::Ignore ? "; not releasing it (--on-revoke ignore)" : "";
    // Reported first, before others react.
    say(fmt::format("asked to release {}{}{}", lock_.name(), asker_.empty() ? "" : " by " + asker_,
                    answer));
    change([](LockStatus& status) { status.revoked = true; });
    if (options.when_revoked() != OnRevoke::Run) return;
    try {
      Program program{.words = shell_words(*options.revoke_command),
                      .environment = {{"ZKSH_LOCK_PATH", lock_.paths().front()},
                                      {"ZKSH_LOCK_NODE", recipe_->holding().nodes.front()}}};
      const auto printed =
          reporter_.output ? reporter_.output->redirect(program) : std::vector<Fd>();
      command_ = std::make_unique<Process>(monitor_, program);
    } catch (const Error& error) {
      say(fmt::format("{}: {}", lock_.name(), error.what()));
    }
  }
  bool revoked_away() {
    const auto& options = lock_.options();
    // A program is ended first, and then its owner releases the lock.
    return lock_.status().revoked && options.when_revoked() == OnRevoke::Release &&
           !options.runs_program();
  }

  Task<> downgrade(Downgrade& done) {
    std::exception_ptr error;
    try {
      co_await recipe_->downgrade();
    } catch (...) {  // passed to the caller of downgrade
      error = std::current_exception();
    }
    // Without nodes, nothing is left to check.
    if (recipe_->holding().nodes.empty()) lost_ = "it was lost during a downgrade";
    have_checked(recipe_->holding().nodes);
    change([&](LockStatus& status) {
      if (lost_.empty()) status.holding.nodes = recipe_->holding().nodes;
      if (!error) status.kind = "read";
    });
    monitor_.change([&](const Monitor::Held& held) { done(held) = error; });
  }

  Task<> give_back() {
    change([](LockStatus& status) { status.stage = LockStatus::Stage::Releasing; });
    auto how = LockStatus::Stage::Stuck;
    std::string problem;
    try {
      const bool had = co_await recipe_->release();
      how = had ? LockStatus::Stage::Released : LockStatus::Stage::Lost;
      // Closed by this shell, which has reported the consequences.
      const bool closed =
          how == LockStatus::Stage::Lost && client_.current_state() == SessionState::Closed;
      if (closed) co_return end(LockStatus::Stage::Stuck, "the session was closed");
      if (how == LockStatus::Stage::Lost) problem = "it was already gone when it was released";
    } catch (const Error& error) {
      problem = error.what();
    }
    if (command_)
      co_await lock_.fiber_.until(
          [&](const Monitor::Held& held) { return command_->status(held).has_value(); },
          Clock::now() + 5s);
    // The thread that requested the release reports it.
    const bool announce = !lock_.status().must_go() && !lock_.options().quiet;
    std::string line;
    if (announce && how == LockStatus::Stage::Released) line = released_line(lock_, lock_.status());
    if (how == LockStatus::Stage::Lost) line = lost_line(problem);
    if (how == LockStatus::Stage::Stuck)
      line =
          fmt::format("{} cannot be released before this session ends: {}", lock_.name(), problem);
    report_end(line, how, problem);
  }

  /// Wakes waiters after the message, since they print something themselves or exit; but before it
  /// if a prompt, which shows the held locks, is redrawn when something is printed.
  void report_end(const std::string& line, LockStatus::Stage how, const std::string& reason) {
    if (how == LockStatus::Stage::Lost) lock_.run_loss_command(reason);
    const bool awaited = lock_.options().is_awaited() || lock_.status().must_go();
    if (awaited && !line.empty()) say(line);
    end(how, reason);
    if (!awaited && !line.empty()) say(line);
  }

  /// Removes the remaining nodes of a lost lock, for which others would wait in vain. Not while a
  /// program runs under it: then none of several locks may be given away.
  Task<> bury() {
    report_end(lost_line(lost_), LockStatus::Stage::Lost, lost_);
    co_await lock_.fiber_.until(
        [&](const Monitor::Held& held) { return !lock_.status_(held).occupied; });
    try {
      co_await recipe_->release();
    } catch (const Error&) {
      // The session's end removes them.
    }
  }
  std::string lost_line(const std::string& reason) const {
    auto line = fmt::format("lost {}: {}", lock_.name(), reason);
    if (!reporter_.changed) return line;
    // At a prompt, nothing else shows when that was.
    return fmt::format("{} (at {}, held for {})", line, time_of_day(),
                       short_time(Clock::now() - lock_.status().held));
  }

  Client& client_;
  Lock& lock_;
  Monitor& monitor_;
  const LockConsole& reporter_;
  LockChecks& checks_;
  RecipeReport report_;
  std::unique_ptr<Recipe> recipe_;
  std::unique_ptr<Process> command_;  ///< of --on-revoke
  std::int64_t session_ = 0;
  std::string asker_;                    ///< who requested the release; empty: not known
  std::vector<std::string> checked_;     ///< the nodes in checks_
  std::optional<LeaseRenewal> renewal_;  ///< from begin_to_hold on
  /// The nodes, and the reads of them that were sent right behind the last request for the list.
  std::pair<std::vector<std::string>, std::vector<Pending<Node>>> relisted_{};
  std::deque<std::shared_ptr<const LockChecks::Check>> proofs_{};  ///< not answered yet
  std::vector<Pending<Node>> reads_{};                             ///< of a look, likewise
  bool looked_ = false;  ///< its nodes were read, and are watched
  bool proven_ = false;  ///< a check of this task was answered
  std::string lost_;     ///< why it is lost; empty: it is not
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
};

Task<> Lock::keep(Client& client, LockChecks& checks) {
  Keeper keeper(client, *this, checks);
  std::exception_ptr failure;
  try {
    co_await keeper.live();
  } catch (...) {  // no thread or memory; nobody else would report it
    failure = std::current_exception();
  }
  if (failure) keeper.fail(failure);
}

}  // namespace zksh
