// multilock: hold several locks, or none.
#include "lock/lock_command.h"
#include "recipes/multi_lock.h"

#include <fmt/format.h>

#include <algorithm>

namespace zksh::command_multilock {
namespace {

struct Args {
  std::vector<std::string> paths;
  bool atomic = false;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.nodes("path", a.paths, "The locks; their order does not matter.");
  o.flag("--atomic", a.atomic,
         "Join all queues in one transaction, instead of one after the other.");
  declare_once(o, a.lock);
  declare_lock_options(o, a.lock, true);
}

/// A second contender of ours would wait for the first.
void refuse_twice(std::vector<std::string> paths) {
  std::ranges::sort(paths);
  const auto twice = std::ranges::adjacent_find(paths);
  if (twice != paths.end()) throw ValueError(*twice + " is named twice: it would wait for itself");
}

int run(Context& cx, const Args& a) {
  if (a.lock.recipe && *a.lock.recipe != RecipeKind::Fair)
    throw ValueError(fmt::format("--recipe {}: several locks at once are fair",
                                 name_of(recipe_names, *a.lock.recipe)));
  LockTarget target{.paths = {}, .kind = "exclusive"};
  target.paths.reserve(a.paths.size());
  for (const auto& path : a.paths) target.paths.push_back(cx.resolve(path));
  refuse_twice(target.paths);
  target.recipe = [paths = target.paths, atomic = a.atomic](
                      Client& client, Fiber& fiber, const LockReport& report,
                      const LockRequest& request) -> std::unique_ptr<Recipe> {
    return std::make_unique<MultiLock>(client, fiber, report, request, paths, atomic);
  };
  return run_lock(cx, a.lock, std::move(target));
}

}  // namespace

extern const Command multilock_command = make_command<Args>(
    {.name = "multilock",
     .group = "Locks",
     .summary = "Hold several locks at once, or none",
     .keywords = {"mutex", "deadlock"},
     .details = "Takes the locks one after the other in the byte order of their paths, whatever "
                "order you give; with --atomic one transaction joins all queues. Several zksh that "
                "take several locks by one command never wait for each other. Take all locks by "
                "one command: a holder that asks for more may wait forever. If one lock cannot be "
                "had, is lost, or is asked for (`revoke`), all are released.\n\n"
                "Each lock has its own fencing token, the czxid of its node, and only that token "
                "fences what the lock protects. ZKSH_LOCK_PATH, ZKSH_LOCK_NODE, ZKSH_LOCK_TOKEN "
                "and the token file have one word for each path, in the order of the command. With "
                "--atomic all tokens are the same number.\n\n"
                "A program needs a `--` before it. Everything else is as for `lock`.",
     .examples = {{"multilock /accounts/a /accounts/b -- date", "Run a program under both."},
                  {"multilock --atomic -n /accounts/a /accounts/b -- date",
                   "Only if both are free: else end with 75, and name the one that is not."}},
     .json = "node [pid]",
     .needs = Needs::Session,
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_multilock
