// semaphore: hold one or more of N leases.
#include "lock/run_lock.h"

namespace zksh::command_semaphore {
namespace {

struct Args {
  std::string path;
  std::string count;
  std::optional<std::int32_t> quantity;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The semaphore.");
  o.text("n", a.count, "The total number of leases; the same for all contenders.");
  o.number("-Q,--quantity", a.quantity, "count",
           "How many leases to take, all or none; default: 1.");
  declare_lock_options(o, a.lock, Holders::Leases);
}

int run(Context& cx, const Args& a) {
  constexpr int most = 1'000'000;
  const auto count = static_cast<int>(parse_number(a.count, "n", 1, most));
  const int quantity = a.quantity.value_or(1);
  if (quantity < 1 || quantity > count)
    throw ValueError(fmt::format("-Q {}: this semaphore has {} leases; give a number from 1 to {}",
                                 quantity, count, count));
  return run_lock(cx, a.lock,
                  {.paths = {cx.resolve(a.path)},
                   .recipe = RecipeKind::Semaphore,
                   .leases = count,
                   .quantity = quantity});
}

}  // namespace

extern const Command semaphore_command = make_command<Args>(
    {.name = "semaphore",
     .group = "Locks",
     .summary = "Hold leases of a semaphore, or run a program under them",
     .keywords = {"lease", "concurrency", "pool"},
     .details =
         "Each holder takes one of n leases, or -Q of them. If too few are free, it waits its turn "
         "in the order of arrival. With n = 1 it works as a lock.\n\nThe number n is kept in the "
         "data of PATH. A contender that gives another number fails with status 2 before it "
         "queues. To change it, run `set PATH n` while nobody uses the semaphore. PATH is a "
         "container, which the servers remove some time after the last use, unless it existed "
         "before or you give --parent persistent.\n\nThe nodes are those of Curator's "
         "InterProcessSemaphoreV2: leases below PATH/leases, and the queue below PATH/locks. "
         "Curator does not check the number.\n\n-n does not wait for a lease, only for contenders "
         "that are taking theirs right now, at most a second. The fencing token is the czxid of "
         "the first lease. Everything else is as for `lock`.",
     .examples = {{"semaphore /pool 3 date", "Run at most three at a time, on all machines."},
                  {"semaphore -n /pool 3 date", "Run it now, or exit with 75."},
                  {"semaphore -Q 2 /pool 3", "Hold two of the three leases in this shell."}},
     .json = "node [token] [tokens] [pid]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_semaphore
