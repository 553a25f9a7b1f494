// rlock: hold the read side of a read/write lock.
#include "lock/lock_command.h"

namespace zksh::command_rlock {
namespace {

using Args = LockSide;

void declare(Options& o, Args& a) { declare_lock_side(o, a); }

int run(Context& cx, const Args& a) { return run_lock_side(cx, a, LockMode::Shared); }

}  // namespace

extern const Command rlock_command = make_command<Args>(
    {.name = "rlock",
     .group = "Locks",
     .summary = "Hold a read/write lock for reading",
     .keywords = {"shared", "mutex"},
     .details = "Short for `rwlock path read`. See `rwlock`, and `lock` for the options.",
     .examples = {{"rlock /cfg", "The same as `rwlock /cfg read`."}},
     .json = "node [token] [tokens] [pid]",
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_rlock
