// wlock: hold the write side of a read/write lock.
#include "lock/run_lock.h"

namespace zksh::command_wlock {
namespace {

struct Args {
  std::string path;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock.");
  declare_lock_options(o, a.lock, Holders::One);
}

int run(Context& cx, const Args& a) {
  return run_lock(cx, a.lock,
                  {.paths = {cx.resolve(a.path)}, .mode = LockMode::Exclusive, .read_write = true});
}

}  // namespace

extern const Command wlock_command = make_command<Args>(
    {.name = "wlock",
     .group = "Locks",
     .summary = "Hold a read/write lock for writing",
     .keywords = {"mutex"},
     .details = "Short for `rwlock path write`. See `rwlock`, and `lock` for the options.",
     .examples = {{"wlock /cfg", "The same as `rwlock /cfg write`."}},
     .json = "node [token] [tokens] [pid]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_wlock
