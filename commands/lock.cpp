// lock: hold a lock, or run a program while holding it.
#include "lock/run_lock.h"

namespace zksh::command_lock {
namespace {

struct Args {
  std::string path;
  bool shared = false;
  bool exclusive = false;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock: the node below which the contenders queue.");
  o.flag("-s,--shared", a.shared, "Shared: the same as `rwlock path read`.");
  o.flag("-x,--exclusive", a.exclusive, "Exclusive; the default.");
  declare_lock_options(o, a.lock, Holders::One);
}

int run(Context& cx, const Args& a) {
  if (a.shared && a.exclusive) throw UsageError("-s and -x cannot be combined");
  return run_lock(cx, a.lock,
                  {.paths = {cx.resolve(a.path)},
                   .mode = a.shared ? LockMode::Shared : LockMode::Exclusive,
                   .read_write = a.shared});
}

}  // namespace

extern const Command lock_command = make_command<Args>(
    {.name = "lock",
     .group = "Locks",
     .summary = "Hold a lock, or run a program under it",
     .keywords = {"mutex", "flock", "exclusive", "cron", "mutual"},
     .details =
         "Acquires a lock and runs the program, or holds the lock in this shell until `unlock` or "
         "the end of the session. Missing nodes of the path are created. Contenders queue with "
         "ephemeral sequential nodes below the path, and each watches only the one before it: "
         "ZooKeeper's lock recipe, with the node names of Curator's InterProcessMutex.\n\nThe "
         "program is the first word after the path that is not an option, and all words after it "
         "are its arguments, as with flock(1) and timeout(1). Options of lock come before it. "
         "Write `--` before a program that comes from a variable, so that an empty variable is an "
         "error. -c runs a shell command line instead; others see only the program's name.\n\nzksh "
         "returns the program's exit status and passes signals to it; a second SIGTERM, more than "
         "half a second after the first, kills it at once. The lock is released when the program "
         "and all processes that descend from it have ended, in whatever process group or session "
         "they run. If servers, links or zksh fail, they are all ended (TERM, then KILL) before "
         "the servers can give the lock to another client; zksh-locks(7) lists what this does not "
         "cover, such as a lock's node that is deleted by hand. The program's environment has "
         "ZKSH_LOCK_PATH, ZKSH_LOCK_NODE, ZKSH_LOCK_TOKEN, ZKSH_LOCK_MODE, ZKSH_LOCK_SESSION and "
         "ZKSH_LOCK_DEADLINE_MS.\n\nThe fencing token is the czxid of the lock's node. It grows "
         "with every holder. A resource that remembers the highest token and refuses lower ones is "
         "safe even from a holder that was suspended.\n\n--once is for a job that many machines "
         "start at the same time, of which only one should run it. A key is recorded when the "
         "program has exited with status 0 without being told to end. After a failure or a crash, "
         "the next machine runs the job again, even if zksh was killed before it recorded the key. "
         "The last 100 keys are kept in the node PATH.once (of several locks, PATH is the first in "
         "byte order); delete it to forget them. The servers refuse to record a key once the lock "
         "is lost. --at-least with -n does without a key: a machine whose clock is late finds the "
         "lock busy.\n\nThe exit status is that of the program, or 128 + n if signal n ended it. "
         "It is 75 if the lock is busy or was not acquired in time, 76 if it was lost, whatever "
         "the program returned, 126 if the program cannot be run, 127 if it is not found, and 1 if "
         "this machine has no process or memory left for it.",
     .examples =
         {{"lock -n /jobs/nightly date", "Run a program, or exit with 75 if the lock is busy."},
          {"lock -w 30 /jobs/nightly -c 'date | cat'", "Wait for the lock up to 30 seconds."},
          {"lock --once 2026-11-22 /jobs/nightly date", "Run it once, on one of many machines."},
          {"lock /jobs/nightly", "Hold it in this shell; `unlock` releases it."}},
     .json = "node [token] [tokens] [pid]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_lock
