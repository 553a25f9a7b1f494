// wlock: the write side of a read/write lock.
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
  return run_lock(cx, a.lock, read_write_target(cx.resolve(a.path), LockMode::Exclusive));
}

}  // namespace

extern const Command wlock_command = make_command<Args>(
    {.name = "wlock",
     .group = "Locks",
     .summary = "Hold a read/write lock for writing",
     .details = "Short for `rwlock path write`; see there, and `lock` for the options.",
     .examples = {{"wlock /cfg", "As `rwlock /cfg write`."}}},
    declare, run);
}  // namespace zksh
