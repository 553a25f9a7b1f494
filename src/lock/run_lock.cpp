// run_lock: takes and holds a lock; shared by all commands that take one.
#include "lock/run_lock.h"

#include "base/monitor.h"
#include "base/number.h"
#include "base/process.h"
#include "base/text.h"
#include "base/time.h"
#include "base/words.h"
#include "client/guarded_client.h"
#include "client/patient_connection.h"
#include "client/rehearsal.h"
#include "lock/hold.h"
#include "lock/program.h"
#include "lock/text.h"
#include "node/acl_argument.h"
#include "recipes/lock_distance.h"
#include "recipes/recipe.h"
#include "recipes/recipe_requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace zksh {
namespace {

constexpr std::ptrdiff_t most_keys = 100;
constexpr std::size_t longest_key = 200;

/// The keys of --once, stored in the node PATH.once, one per line, the latest last. It is beside
/// the lock's node and not below it, since other libraries fail on foreign children. It is
/// persistent, unlike many lock nodes.
class OnceRecord {
 public:
  /// For a lock that is held.
  OnceRecord(Context& cx, const Lock& lock)
      : cx_(cx), lock_(lock), path_(*std::ranges::min_element(lock.paths()) + ".once") {}

  /// Throws UsageError if the key is invalid, or the lock cannot have a record.
  static void check(const std::vector<std::string>& paths, const std::string& key) {
    const auto is_control = [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    if (key.empty() || key.size() > longest_key || std::ranges::any_of(key, is_control))
      throw UsageError(fmt::format("--once: a key must be one line of 1 to {} bytes", longest_key));
    if (std::ranges::find(paths, "/") != paths.end())
      throw UsageError("--once cannot be used with /");
  }

  /// Whether the record has the key; sees what previous holders have added. If it has not, rewrites
  /// the record unchanged, so that missing permissions show before anything is run. Blocks. Throws
  /// Error.
  bool has(const std::string& key) {
    const auto had = update(key, false);
    if (!had) throw LockLost(lock_.name() + " was lost");
    return *had;
  }

  /// Adds a key, in a transaction that fails once the lock is lost. Blocks; repeats it if the
  /// outcome is unknown. Throws Error.
  void add(const std::string& key) { update(key, true); }

 private:
  struct Content {
    std::vector<std::string> keys{};
    std::optional<std::int32_t> version{};  ///< nullopt: there is no node
  };

  /// Whether the record had the key; nullopt if the lock is lost.
  std::optional<bool> update(const std::string& key, bool adds) {
    while (auto content = written_ ? std::exchange(written_, std::nullopt) : read()) {
      auto& keys = content->keys;
      if (std::ranges::find(keys, key) != keys.end()) return true;
      if (adds) {
        keys.push_back(key);
        if (std::ssize(keys) > most_keys) keys.erase(keys.begin(), keys.end() - most_keys);
      }
      const int result = write(*content);
      if (result == code::ok) {
        // The write determines the new version, so the next update needs no read.
        content->version = content->version ? *content->version + 1 : 0;
        written_ = std::move(content);
        return false;
      }
      if (result == code::lock_lost) break;
    }
    return std::nullopt;
  }

  /// Returns false if the lock is gone.
  bool await_connection() {
    const auto gone = [&](const Monitor::Held& held) { return lock_.is_gone(held); };
    auto& monitor = cx_.monitor();
    const bool settled = monitor.wait(cx_.stop, [&](const Monitor::Held& held) {
      return gone(held) || cx_.client.state(held) == SessionState::Connected;
    });
    if (!settled) throw Cancelled();
    return !monitor.with_lock(gone);
  }

  /// Returns nullopt if the lock is gone.
  std::optional<Content> read() {
    while (await_connection()) {
      const auto outcome = cx_.client.await(cx_.client.start_get(path_, Watch::none()), cx_.stop);
      if (is_connection_failure(outcome.code)) continue;
      if (outcome.code == code::no_node) return Content{};
      if (outcome.code != code::ok) throw ZkError(outcome.code, path_);
      const auto data = outcome.value.data.value_or("");
      const auto lines = lines_of(data);
      return Content{.keys = {lines.begin(), lines.end()}, .version = outcome.value.stat.version};
    }
    return std::nullopt;
  }

  /// Returns the code: ok if it was written, lock_lost if the lock is lost.
  int write(const Content& content) {
    std::string data;
    for (const auto& key : content.keys) data += key + '\n';
    GuardedClient guarded(cx_.client,
                          [&](const Monitor::Held& held) { return lock_.guards(held); });
    const auto code_of = [&](const auto& sent) { return cx_.client.await(sent, cx_.stop).code; };
    const int result =
        content.version
            ? code_of(guarded.start_set({.path = path_, .data = data, .version = *content.version}))
            : code_of(guarded.start_create(
                  {.path = path_, .data = data, .acl = lock_.plan().request.acl}));
    // Somebody else may have created, changed or removed it meanwhile; it will be read again.
    const bool known = result == code::ok || result == code::lock_lost ||
                       is_connection_failure(result) || result == code::no_node ||
                       result == code::node_exists || result == code::bad_version;
    if (!known) throw ZkError(result, path_, true);
    return result;
  }

  Context& cx_;
  const Lock& lock_;
  std::string path_;
  std::optional<Content> written_{};  ///< the record as last written here
};

using namespace std::chrono_literals;

/// How long a command waits for its last node to go if no server answers.
constexpr auto leave_patience = 3s;
/// Limits for attempts that should not wait: to connect, and to get a few answers.
constexpr auto longest_connecting = 5s;
constexpr auto longest_look = 10s;

class LockRun {
 public:
  LockRun(Context& cx, LockOptions options, LockRequest request)
      : cx_(cx), o_(std::move(options)), request_(std::move(request)) {
    o_.quiet = o_.quiet || cx.services.locks.quiet();
  }

  int run() {
    refuse_second_path();
    check_lock_options(o_, request_);
    for (const auto& path : request_.paths) refuse_path(path);
    request_.acl = lock_acl(cx_, o_.acl, request_.path(), o_.force);
    if (o_.once) OnceRecord::check(request_.paths, *o_.once);
    if (cx_.rehearsal) return rehearse();
    if (!o_.detach && o_.nest && nested()) return status::ok;
    if (!o_.detach && o_.runs_program()) {
      watchdog_ = watch_program(cx_, o_);
      // Without a limit, since nobody waits for the lock yet.
      if (!cx_.background) cx_.out.await_printed();
    }
    connect();
    refuse_distance(cx_.client, reserve(), cx_.stop);
    if (o_.detach) return detach_lock(cx_, o_);
    if (!o_.is_awaited())  // before a message says that it waits: a user may press Ctrl-Z then
      cx_.allow_move(fmt::format(
          "{0}: still asked for; this shell holds it when its turn comes; `unlock {0}` leaves the "
          "queue",
          fmt::join(request_.paths, " ")));
    lock_ = cx_.services.locks.ask(plan());
    await();
    report(acquired_line(*lock_, lock_->status()));
    if (o_.runs_program()) return run_program();
    if (o_.holds()) return hold_lock(cx_, *lock_);
    return keep();
  }

 private:
  void report(const std::string& line) const {
    if (!o_.quiet) cx_.services.locks.say(line);
  }

  /// How much of the session's lease the program needs.
  BootClock::duration reserve() const {
    if (!o_.runs_program()) return {};
    return ProgramDeadlines(o_.on_lost.value_or(OnLost::Terminate), cx_.client.lease().timeout,
                            o_.grace)
        .reserve();
  }

  /// For --dry-run: shows who is there already.
  int rehearse() {
    for (const auto& path : request_.paths) {
      cx_.client.await_connection(path, cx_.stop);
      const auto children =
          cx_.client.await(cx_.client.start_children(path, Watch::none()), cx_.stop);
      if (children.code != code::ok && children.code != code::no_node)
        throw ZkError(children.code, path);
      if (children.code == code::no_node && !cx_.client.exists("/", Watch::none(), cx_.stop))
        throw ZkError(code::no_node, path);  // the chroot is missing, and no lock creates it
      const auto count = children.value.names.size();
      cx_.rehearsal->note(
          {.verb = "queue up at", .path = path, .detail = counted(count, "node") + " there"});
    }
    if (o_.runs_program())
      cx_.rehearsal->note({.verb = "run",
                           .path = o_.shell.value_or(fmt::format("{}", fmt::join(o_.program, " "))),
                           .detail = o_.once ? "unless " + *o_.once + " was run" : ""});
    return status::ok;
  }

  /// Where one path is expected, a second one would be taken for the program.
  void refuse_second_path() const {
    if (o_.program.empty() || request_.paths.size() > 1 || kind_of(request_) != "exclusive") return;
    const auto& word = o_.program.front();
    try {
      if (word.starts_with('/')) find_program(word);
    } catch (const Error& error) {
      throw Error(fmt::format("{} (for several locks at once: `multilock {} {}`)", error.what(),
                              as_word(request_.paths.front()), as_word(word)),
                  error.exit_status());
    }
  }

  void refuse_path(const std::string& path) const {
    const bool shared = path == "/" || (path + "/").starts_with("/zookeeper/");
    if (shared && !o_.force)
      throw ValueError(
          fmt::format("{}: the contenders' nodes would be created among those of {}; use --force "
                      "if that is what you want",
                      path, path == "/" ? "everybody" : "the servers"));
    const auto held = cx_.services.locks.find(path);
    if (!held || held->status().kind != "read" || kind_of(request_) == "read" || o_.nest) return;
    throw ValueError(
        fmt::format("{0}: this shell holds the read lock, and an upgrade would wait for itself; "
                    "release it first: `unlock {0}`",
                    as_word(path)));
  }

  /// Connects, within the time limit for the lock.
  void connect() {
    const auto& path = request_.paths.front();
    const auto work = [&](const std::stop_token& stop) {
      cx_.client.ensure_session();
      // While the server answers: the manager's thread starts, and the user is looked up.
      cx_.services.locks.prepare();
      request_.owner = lock_owner(o_);
      cx_.client.await_connection(path, stop);
    };
    if (!in_time(cx_.monitor(), patience(), cx_.stop, work))
      throw ZkError(code::connection_loss, path);
  }
  /// A short limit does not shorten the time to connect: the servers must be asked whether the lock
  /// is busy, however busy this machine is.
  std::optional<std::chrono::milliseconds> patience() const {
    if (tries_only()) return longest_connecting;
    return o_.wait
               ? std::optional(std::max<std::chrono::milliseconds>(*o_.wait, longest_connecting))
               : std::nullopt;
  }

  /// Returns false if the lock is not held yet, and must be requested.
  bool nested() {
    const auto lock = cx_.services.locks.find(request_.paths.front());
    if (!lock || lock->status().stage != LockStatus::Stage::Held) return false;
    refuse_other(*lock, lock->status());
    if (!lock->nest()) return false;
    report(fmt::format("held {}  {} times", lock->name(), lock->status().nested));
    return true;
  }

  /// Nesting must give what this command requests, until an `unlock` of its own.
  void refuse_other(const Lock& lock, const LockStatus& now) const {
    const auto refuse = [&](const std::string& why) {
      throw ValueError(fmt::format("{}: --nest is not possible: {}", request_.paths.front(), why));
    };
    if (lock.paths() != request_.paths)
      refuse(fmt::format("this shell holds {} {}", lock.name(),
                         lock.paths().size() == 1 ? "alone" : "as one lock"));
    if (lock.options().is_awaited()) refuse("it ends with its program or --hold");
    const bool alone = now.kind == "write" || now.kind == "exclusive";
    const auto kind = kind_of(request_);
    const bool needs_less = request_.recipe != RecipeKind::Semaphore;
    if (now.kind != kind && !(alone && needs_less))
      refuse(fmt::format("this shell holds it as {}, not {}", now.kind, kind));
    if (std::cmp_greater(request_.quantity, now.holding.nodes.size()))
      refuse(fmt::format("this shell holds {} leases, not {}", now.holding.nodes.size(),
                         request_.quantity));
  }

  Lock::Plan plan() {
    Lock::Plan plan{.request = request_, .options = o_};
    auto& request = plan.request;
    request.compat = o_.compat;
    request.parent = o_.parent;
    request.requeue = !o_.no_requeue;
    if (o_.recipe && request.recipe == RecipeKind::Fair) request.recipe = *o_.recipe;
    // If connecting took all the time, the lock is still tried once.
    request.try_only = tries_only() || (o_.wait && Clock::now() >= begun_ + *o_.wait);
    if (o_.wait && !request.try_only) plan.deadline = begun_ + *o_.wait;
    plan.in_background = [background = cx_.background, suspension = cx_.suspension] {
      return background || (suspension && suspension->done);
    };
    return plan;
  }

  /// Waits until the lock is held. If interrupted, leaves the queue first.
  void await() {
    try {
      if (!cx_.services.locks.await_held(*lock_, limit(), cx_.stop)) {
        lock_->release();
        throw ZkError(code::connection_loss, request_.paths.front());
      }
    } catch (const Cancelled&) {
      const bool waited = lock_->status().stage == LockStatus::Stage::Waiting;
      lock_->release();
      // Not longer than the session timeout: then the session has ended, and its nodes are gone.
      const std::chrono::milliseconds timeout(cx_.client.negotiated_timeout());
      const auto patience = std::min<Clock::duration>(leave_patience, timeout);
      const bool left = cx_.services.locks.await_gone(*lock_, Clock::now() + patience, {});
      if (waited && left) {
        const auto stays = stays_queued_line(*lock_, lock_->status());
        if (stays.empty())
          report("left the queue of " + lock_->name());
        else
          cx_.services.locks.say(stays);
      }
      if (waited && !left)
        cx_.services.locks.say(
            fmt::format("{}: still in the queue, since no server answers; its node is deleted when "
                        "one does, or when the session ends",
                        lock_->name()));
      throw;
    }
    const auto now = lock_->status();
    if (now.stage == LockStatus::Stage::Refused) refuse(now.error);
    if (now.stage == LockStatus::Stage::Lost) {
      cx_.services.locks.forget(*lock_);
      throw LockLost(lock_->name() + ": lost as soon as it was acquired: " + now.reason);
    }
  }

  /// By when the attempt must be over: some time after its deadline, since an attempt that is given
  /// up leaves the queue first, but not never, since servers may not respond.
  Clock::time_point limit() const {
    const auto given = lock_->plan().deadline;
    if (given != Fiber::never) return given + longest_look;
    return tries_only() || o_.wait ? Clock::now() + longest_look : Fiber::never;
  }
  bool tries_only() const { return o_.try_only || o_.wait == 0ms; }

  void refuse(const std::exception_ptr& error) const {
    try {
      std::rethrow_exception(error);
    } catch (const LockUnsettled& unsettled) {
      throw Error(unsettled.what(), o_.busy_code.value_or(status::lock_busy));
    } catch (const LockBusy& busy) {
      auto text = std::string(busy.what());
      if (!busy.holder().empty()) text += ": it is held by " + owner_in_line(busy.holder());
      // An error without a text is not printed: the exit status says enough.
      throw Error(o_.quiet ? "" : text, o_.busy_code.value_or(status::lock_busy));
    } catch (const ZkError& failure) {
      // A lock may have just been created with an ACL that shuts this session out.
      if (failure.code() == code::no_auth && failure.path() == request_.path())
        throw ZkError(failure,
                      ": contenders need r, c and d there, and c above to create it; `getAcl` "
                      "shows who has them");
      throw ZkError(explained_acl(cx_, failure, request_.acl));
    }
  }

  int run_program() {
    if (!o_.once) return run_under_lock(cx_, *lock_, *watchdog_, {});
    OnceRecord record(cx_, *lock_);
    if (was_run(record)) return status::ok;
    // If the lock is lost meanwhile, its keeper reports that.
    return run_under_lock(cx_, *lock_, *watchdog_, [&] { record.add(*o_.once); });
  }

  /// Returns true if it was run before; the lock is then given back.
  bool was_run(OnceRecord& record) {
    try {
      if (!record.has(*o_.once)) return false;
    } catch (const Error&) {
      cx_.services.locks.give_back(*lock_);
      throw;
    }
    report(fmt::format("{}: {} has already run", lock_->name(), *o_.once));
    cx_.services.locks.give_back(*lock_);
    const auto now = lock_->status();
    if (now.stage == LockStatus::Stage::Released) report(released_line(*lock_, now));
    return true;
  }

  /// Leaves the lock to the shell.
  int keep() {
    try {
      write_token_file(cx_, *lock_);
    } catch (const Error&) {
      cx_.services.locks.give_back(*lock_);
      throw;
    }
    if (cx_.out.json()) cx_.out.line("{}", holding_json(lock_->status().holding).text());
    if (cx_.input == Input::Arguments && !o_.quiet)
      cx_.out.err_line("nothing would run under {}; give a program, or --hold to keep the lock",
                       lock_->name());
    return status::ok;
  }

  Context& cx_;
  LockOptions o_;
  LockRequest request_;
  Clock::time_point begun_ = Clock::now();
  std::shared_ptr<Lock> lock_;
  std::unique_ptr<LockWatchdog> watchdog_;  ///< of the program
};

}  // namespace

int run_lock(Context& cx, LockOptions options, LockRequest request) {
  return LockRun(cx, std::move(options), std::move(request)).run();
}

}  // namespace zksh
