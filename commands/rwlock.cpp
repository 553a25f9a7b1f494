// rwlock: hold one side of a read/write lock, which readers share, in order of arrival.
#include "base/words.h"
#include "lock/run_lock.h"

namespace zksh::command_rwlock {
namespace {

enum class Wanted { Read, Write, Downgrade };
constexpr NamedValues<Wanted, 3> wanted_names{
    {{"read", Wanted::Read}, {"write", Wanted::Write}, {"downgrade", Wanted::Downgrade}}};

struct Args {
  std::string path;
  Wanted wanted = Wanted::Read;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock.");
  o.choice("read|write|downgrade", a.wanted, wanted_names, "side",
           "read: share the lock with other readers; write: hold it alone; downgrade: turn this "
           "shell's write lock into a read lock, with no writer in between.");
  declare_lock_options(o, a.lock, Holders::One);
}

int downgrade(Context& cx, const std::string& path) {
  const auto lock = cx.services.locks.find(path);
  if (!lock) throw ValueError(path + " is not held by this shell");
  lock->downgrade(cx.stop);
  cx.out.err_line("downgraded {} to a read lock", as_word(path));
  return status::ok;
}

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  if (a.wanted == Wanted::Downgrade && a.lock.runs_program())
    throw UsageError(
        "downgrade changes a lock that this shell already holds, and takes no program");
  if (a.wanted == Wanted::Downgrade) return downgrade(cx, path);
  const auto mode = a.wanted == Wanted::Read ? LockMode::Shared : LockMode::Exclusive;
  return run_lock(cx, a.lock, {.paths = {path}, .mode = mode, .read_write = true});
}

}  // namespace

extern const Command rwlock_command = make_command<Args>(
    {.name = "rwlock",
     .group = "Locks",
     .summary = "Hold one side of a read/write lock",
     .keywords = {"shared", "mutex"},
     .details = "The queue is fair: a reader waits for all writers before it, a writer for "
                "everybody before it, and nobody overtakes. Node names are those of Curator's "
                "InterProcessReadWriteLock; if plain `lock` uses the same path, give --compat all. "
                "A read lock cannot be upgraded to a write lock, since it would wait for itself. "
                "Everything else is as for `lock`.",
     .examples = {{"rwlock /cfg read date", "Run a program under the read lock."},
                  {"rwlock /cfg write",
                   "Take the write lock, once the readers before it are gone."},
                  {"rwlock /cfg downgrade", "Keep it as a read lock; waiting readers get in."}},
     .json = "node [token] [tokens] [pid]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_rwlock
