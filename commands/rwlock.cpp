// rwlock: hold one side of a read/write lock, which readers share, in order of arrival.
#include "base/quoting.h"
#include "lock/lock_command.h"

#include <fmt/format.h>

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
           "read: together with other readers; write: alone; downgrade: turn the write lock that "
           "this shell holds into a read lock, letting no writer in between.");
  declare_once(o, a.lock);
  declare_lock_options(o, a.lock, true);
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
    throw UsageError("downgrade changes a lock that this shell holds; it runs no program");
  if (a.wanted == Wanted::Downgrade) return downgrade(cx, path);
  const bool shared = a.wanted == Wanted::Read;
  return run_lock(cx, a.lock,
                  read_write_target(path, shared ? LockMode::Shared : LockMode::Exclusive));
}

}  // namespace

extern const Command rwlock_command = make_command<Args>(
    {.name = "rwlock",
     .group = "Locks",
     .summary = "Hold one side of a read/write lock",
     .keywords = {"shared", "mutex"},
     .details =
         "Fair: a reader waits for the writers before it, a writer for all before it, and nobody "
         "overtakes. Names as of Curator's InterProcessReadWriteLock; on the path of a plain "
         "`lock` use --compat all. A read lock cannot become a write lock: that would wait for "
         "itself. Everything else is as for `lock`.",
     .examples = {{"rwlock /cfg read date", "Run a program while nobody writes."},
                  {"rwlock /cfg write", "Alone, once the readers before it are gone."},
                  {"rwlock /cfg downgrade", "Go on reading; readers that wait come in."}},
     .json = "node [pid]",
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_rwlock
