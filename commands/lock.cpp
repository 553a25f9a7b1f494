// lock: hold a lock, or run a program while holding it.
#include "lock/lock_command.h"

namespace zksh::command_lock {
namespace {

struct Args {
  std::string path;
  bool shared = false;
  bool exclusive = false;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock: the node below which the contenders queue up.");
  o.flag("-s,--shared", a.shared, "As `rwlock path read`.");
  o.flag("-x,--exclusive", a.exclusive, "Exclusive: the default.");
  declare_once(o, a.lock);
  declare_lock_options(o, a.lock, true);
}

int run(Context& cx, const Args& a) {
  if (a.shared && a.exclusive) throw UsageError("-s and -x exclude each other");
  const auto path = cx.resolve(a.path);
  if (a.shared) return run_lock(cx, a.lock, read_write_target(path, LockMode::Shared));
  return run_lock(cx, a.lock, {.paths = {path}, .kind = "exclusive"});
}

}  // namespace

extern const Command lock_command = make_command<Args>(
    {.name = "lock",
     .group = "Locks",
     .summary = "Hold a lock, or run a program under it",
     .keywords = {"mutex", "flock", "exclusive", "cron", "mutual"},
     .details =
         "Queues up with an ephemeral sequential node below the path, and watches only the "
         "contender before it: ZooKeeper's lock recipe, with the names of Curator's "
         "InterProcessMutex. Missing nodes of the path are created. The lock is held until "
         "`unlock`, the end of the program, or the end of the session.\n\n"
         "The program starts at the first word after the path that is not an option. All words "
         "from there on belong to it, its options and any `--` included, as with flock(1) and "
         "timeout(1); options of lock come before it. Scripts should put a `--` before a program "
         "that comes from a variable: if that is empty, it is an error then. -c runs a shell line "
         "instead of a program.\n\n"
         "zksh returns the program's exit status and passes signals on. The program includes all "
         "processes that descend from it, in any process group or session. The lock is released "
         "when the last of them has ended. If the lock is lost, all are ended (TERM, then KILL) "
         "before the servers can give it to another client. Its environment has ZKSH_LOCK_PATH, "
         "ZKSH_LOCK_NODE, ZKSH_LOCK_TOKEN, ZKSH_LOCK_MODE, ZKSH_LOCK_SESSION and "
         "ZKSH_LOCK_DEADLINE_MS.\n\n"
         "--once is for a job that many machines start at the same time. A key counts as run when "
         "the program has ended with 0 and was not told to end; after a failure or a crash the "
         "next one runs the job again, also when zksh itself is killed before the key is written. "
         "The last 100 keys are kept in the node PATH.once (`delete` it to forget them; of "
         "several locks, PATH is the first one in byte order). They are added by a transaction "
         "that the servers refuse once the lock is lost. --at-least with -n does the same without "
         "a key: a machine whose clock is late finds the lock busy.\n\n"
         "The fencing token is the czxid of the lock's node: it grows with every holder, whatever "
         "happened to the lock's node. A resource that remembers the highest token and refuses "
         "lower ones is safe even from a holder that was asleep.\n\n"
         "Exit status: 75 the lock is busy, or was not acquired in time; 76 it was lost, whatever "
         "the program returned; 126, 127 the program cannot be run, is not found; else the "
         "program's own, 128 + n when a signal ended it.",
     .examples = {{"lock -n /jobs/nightly date", "Run a program, or end with 75 at once."},
                  {"lock -w 30 /jobs/nightly -c 'date | cat'", "Wait for half a minute."},
                  {"lock --once 2026-11-22 /jobs/nightly date", "On one of the machines, once."},
                  {"lock /jobs/nightly", "Hold it in this shell; `unlock` gives it back."}},
     .json = "node [pid]",
     .needs = Needs::Session,
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_lock
