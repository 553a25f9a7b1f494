// rlock: hold the read side of a read/write lock.
#include "lock/run_lock.h"

namespace zksh::command_rlock {
namespace {

struct Args {
  std::string path;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock.");
  declare_lock_options(o, a.lock, Holders::Readers);
}

int run(Context& cx, const Args& a) {
  return run_lock(cx, a.lock,
                  {.paths = {cx.resolve(a.path)}, .mode = LockMode::Shared, .read_write = true});
}

}  // namespace

extern const Command rlock_command = make_command<Args>(
    {.name = "rlock",
     .group = "Locks",
     .summary = "Hold a read/write lock for reading",
     .keywords = {"shared", "mutex"},
     .details = "Short for `rwlock path read`. See `rwlock`, and `lock` for the options.",
     .examples = {{"rlock /cfg", "The same as `rwlock /cfg read`."}},
     .json = "node [token] [tokens] [pid]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_rlock
