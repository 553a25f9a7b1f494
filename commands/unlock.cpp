// unlock: release this shell's locks, or ask another holder to.
#include "base/quoting.h"
#include "client/rehearsal.h"
#include "command/command.h"
#include "lock/lock_manager.h"
#include "lock/lock_text.h"
#include "lock/revocation.h"

#include <fmt/format.h>

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
               "A lock of this shell; or a contender's node: its owner is asked.");
  o.flag("--all", a.all,
         "Every lock that this shell holds or waits for, however often --nest has counted it.");
}

/// Returns 76 if the lock was lost.
int give_back(Context& cx, Lock& lock, bool whole) {
  const auto before = lock.status();
  if (cx.rehearsal) {
    cx.rehearsal->note({.verb = "give back", .path = lock.name()});
    return status::ok;
  }
  const bool held = before.stage == LockStage::Held || before.stage == LockStage::Suspended;
  if (!whole && held && before.nested > 1 && !lock.unnest()) {
    cx.out.err_line("still held {}  {} more to unlock", lock.name(), before.nested - 1);
    return status::ok;
  }
  lock.release();
  // A program has at most a sixth of the session timeout to end; then it is killed.
  const std::chrono::milliseconds grace(before.occupied ? cx.client.negotiated_timeout() / 2 : 0);
  if (!cx.services.locks.await_gone(lock, Clock::now() + grace + 10s, cx.stop)) {
    if (cx.stop.stop_requested()) throw Cancelled();
    throw Error(lock.name() + ": no server answers; it is released as soon as one does",
                status::outcome_unknown);
  }
  const auto after = lock.status();
  cx.services.locks.forget(lock);
  if (after.end == LockEnd::Lost)
    throw LockLost(fmt::format("{} was lost: {}", lock.name(), after.reason));
  if (after.end == LockEnd::Stuck) throw Error({}, status::not_authorised);  // it was reported
  if (before.stage < LockStage::Held)
    cx.out.err_line("left the queue of {}", lock.name());
  else if (!before.occupied ||
           lock.plan().quiet)  // otherwise the command that runs the program reports it
    cx.out.err_line("{}", released_line(lock, after));
  return status::ok;
}

std::shared_ptr<Lock> the_only_one(Context& cx) {
  const auto locks = cx.services.locks.locks();
  if (locks.empty()) throw Error("this shell holds no lock");
  if (locks.size() == 1) return locks.front();
  std::string names;
  for (const auto& lock : locks) names += fmt::format("\n  {}", lock->name());
  throw ValueError("which one? This shell has several (--all releases all):" + names);
}

/// Locks taken together are released together, which whoever names only some may not know.
void refuse_part(const Lock& lock, const std::vector<std::string>& named) {
  const auto& paths = lock.plan().paths;
  const bool whole = paths.size() == 1 || std::ranges::all_of(paths, [&](const std::string& path) {
                       return std::ranges::find(named, path) != named.end();
                     });
  if (whole) return;
  std::string words;
  for (const auto& path : paths) words += ' ' + as_word(path);
  throw ValueError(fmt::format("{} are held as one lock, and are given back as one: `unlock{}`",
                               lock.name(), words));
}

int unlock_one(Context& cx, const std::string& path, const std::vector<std::string>& named,
               std::vector<std::shared_ptr<Lock>>& several) {
  const bool went_with_another =
      std::ranges::any_of(several, [&](const std::shared_ptr<Lock>& lock) {
        return std::ranges::find(lock->plan().paths, path) != lock->plan().paths.end();
      });
  if (went_with_another) return status::ok;
  if (const auto lock = cx.services.locks.find(path)) {
    refuse_part(*lock, named);
    if (lock->plan().paths.size() > 1) several.push_back(lock);
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
  if (a.all) {
    auto locks = cx.services.locks.locks();
    std::ranges::reverse(locks);
    for (const auto& lock : locks) note(give_back(cx, *lock, true));
  } else if (a.locks.empty()) {
    note(give_back(cx, *the_only_one(cx), false));
  }
  std::vector<std::string> named;
  named.reserve(a.locks.size());
  for (const auto& name : a.locks) named.push_back(cx.resolve(name));
  std::vector<std::shared_ptr<Lock>> several;
  for (const auto& path : named) note(unlock_one(cx, path, named, several));
  return first_failure;
}

}  // namespace

extern const Command unlock_command = make_command<Args>(
    {.name = "unlock",
     .group = "Locks",
     .summary = "Release a lock, or leave its queue",
     .keywords = {"release"},
     .details =
         "Without an argument the only lock of this shell. The lock may be named by its path or by "
         "its node; locks that one `multilock` has taken are given back together, when all of them "
         "are named. A node of somebody else's is not touched: its owner is asked to release, by "
         "the word `unlock` in the node's data, and waited for; zksh understands that, other "
         "libraries mostly do not (`revoke --force` removes the node).\n\n"
         "A program that runs under the lock is told to end first (SIGTERM, and SIGKILL after the "
         "--grace): the lock is given back when it has ended.\n\n"
         "For a lock that was lost the status is 76; zksh never says that it was released.",
     .examples = {{"unlock /app/lock", "Give back the lock with this path."},
                  {"unlock", "Give back the only lock that this shell holds."},
                  {"unlock --all", "Give back all of them, the last one first."}},
     .needs = Needs::Nothing,
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_unlock
