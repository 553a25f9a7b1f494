// rlock: the read side of a read/write lock.
#include "lock_command.h"

namespace zksh {
namespace {

struct Args {
  std::string path;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock.");
  declare_lock_options(o, a.lock, true);
}

int run(Context& cx, const Args& a) {
  return run_lock(cx, a.lock, read_write_target(cx.resolve(a.path), LockMode::Shared));
}

}  // namespace

extern const Command rlock_command = make_command<Args>(
    {.name = "rlock",
     .group = "Locks",
     .summary = "Hold a read/write lock for reading",
     .details = "Short for `rwlock path read`; see there, and `lock` for the options.",
     .examples = {{"rlock /cfg", "As `rwlock /cfg read`."}}},
    declare, run);
}  // namespace zksh
