// unlock: release this shell's locks, or ask another holder to.
#include "base/mapped.h"
#include "base/words.h"
#include "client/rehearsal.h"
#include "command/command.h"
#include "command/report.h"
#include "lock/manager.h"
#include "lock/revocation.h"
#include "lock/text.h"

#include <algorithm>

namespace zksh::command_unlock {
namespace {

using namespace std::chrono_literals;

struct Args {
  std::vector<std::string> locks;
  bool all = false;
};

void declare(Options& o, Args& a) {
  o.held_locks("path|node", a.locks,
               "A lock of this shell, or a contender's node, whose owner is asked.");
  o.flag("--all", a.all,
         "Release all locks of this shell and leave all queues, whatever their --nest count.");
}

/// Returns 76 if the lock was lost.
int give_back(Context& cx, Lock& lock, bool whole) {
  const auto before = lock.status();
  if (cx.rehearsal) {
    cx.rehearsal->note({.verb = "give back", .path = lock.name()});
    return status::ok;
  }
  if (!whole && before.is_held() && before.nested > 1 && !lock.unnest()) {
    cx.out.err_line("still held {}  {} more to unlock", lock.name(), before.nested - 1);
    return status::ok;
  }
  lock.release();
  // A program has at most a sixth of the session timeout to end; then it is killed.
  const std::chrono::milliseconds grace(before.occupied ? cx.client.negotiated_timeout() / 2 : 0);
  if (!cx.services.locks.await_gone(lock, Clock::now() + grace + 10s, cx.stop)) {
    if (cx.stop.stop_requested()) throw Cancelled();
    throw Error(lock.name() + ": no server answers; it will be released when one does",
                status::outcome_unknown);
  }
  const auto after = lock.status();
  cx.services.locks.forget(lock);
  if (after.stage == LockStatus::Stage::Lost)
    throw LockLost(fmt::format("{} was lost: {}", lock.name(), after.reason));
  if (after.stage == LockStatus::Stage::Stuck)
    throw Error({}, status::not_authorised);  // it was reported
  if (const auto stays = stays_queued_line(lock, after); !stays.empty())
    throw Error(stays, status::not_authorised);
  if (cx.services.locks.quiet()) return status::ok;
  if (before.stage < LockStatus::Stage::Held)
    cx.out.err_line("left the queue of {}", lock.name());
  else if (!before.occupied ||
           lock.options().quiet)  // otherwise the command that runs the program reports it
    cx.out.err_line("{}", released_line(lock, after));
  return status::ok;
}

std::shared_ptr<Lock> the_only_one(Context& cx) {
  const auto locks = cx.services.locks.locks();
  if (locks.empty()) throw Error("this shell holds no lock");
  if (locks.size() == 1) return locks.front();
  std::string names;
  for (const auto& lock : locks) names += fmt::format("\n  {}", lock->name());
  throw ValueError("which lock? This shell has several (--all releases all):" + names);
}

/// Locks taken together are released together, which a user who names only some may not know.
void refuse_part(const Lock& lock, const std::vector<std::string>& named) {
  const auto& paths = lock.paths();
  const auto is_named = [&](const std::string& path) {
    return std::ranges::find(named, path) != named.end();
  };
  if (paths.size() == 1 || std::ranges::all_of(paths, is_named)) return;
  throw ValueError(fmt::format("{} are held together and must be released together: `unlock {}`",
                               lock.name(), as_words(paths)));
}

int unlock_one(Context& cx, const std::string& path, const std::vector<std::string>& named,
               std::vector<std::shared_ptr<Lock>>& several) {
  const bool went_with_another = std::ranges::any_of(
      several, [&](const std::shared_ptr<Lock>& lock) { return lock->is_at(path); });
  if (went_with_another) return status::ok;
  if (const auto lock = cx.services.locks.find(path)) {
    refuse_part(*lock, named);
    if (lock->paths().size() > 1) several.push_back(lock);
    return give_back(cx, *lock, false);
  }
  return ask_holder(
      cx, path,
      {.word = "unlock", .patience = cx.rehearsal ? 0s : 10s, .force = false, .node_only = true});
}

int run(Context& cx, const Args& a) {
  int first_failure = status::ok;
  const auto note = [&](int result) {
    if (first_failure == status::ok) first_failure = result;
  };
  // If one was lost, the others are released nevertheless.
  const auto each = [&](auto&& work) {
    try {
      note(work());
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& error) {
      report_error(cx.out, error);
      note(error.exit_status());
    }
  };
  if (a.all) {
    auto locks = cx.services.locks.locks();
    std::ranges::reverse(locks);
    for (const auto& lock : locks) each([&] { return give_back(cx, *lock, true); });
  } else if (a.locks.empty()) {
    note(give_back(cx, *the_only_one(cx), false));
  }
  const auto named = mapped(a.locks, [&](const std::string& name) { return cx.resolve(name); });
  std::vector<std::shared_ptr<Lock>> several;
  for (const auto& path : named) each([&] { return unlock_one(cx, path, named, several); });
  return first_failure;
}

}  // namespace

extern const Command unlock_command = make_command<Args>(
    {.name = "unlock",
     .group = "Locks",
     .summary = "Release a lock, or leave its queue",
     .keywords = {"release"},
     .details =
         "Releases a lock of this shell, named by its path or its node; without an argument, its "
         "only lock. Locks taken by one `multilock` are released together, and all of them must be "
         "named. A program that runs under the lock is ended first (SIGTERM, then SIGKILL after "
         "--grace).\n\nFor a node of another client, zksh writes `unlock` to the node's data to "
         "ask its owner for the release, and waits. zksh understands that; most other libraries do "
         "not (`revoke --force` deletes the node).\n\nFor a lost lock the status is 76; the others "
         "are released all the same.",
     .examples = {{"unlock /app/lock", "Release the lock with this path."},
                  {"unlock", "Release the only lock that this shell holds."},
                  {"unlock --all", "Release all locks, the newest first."}},
     .needs = Needs::Nothing,
     .writes = true},
    declare, run);
}  // namespace zksh::command_unlock
