// multilock: hold several locks, or none.
#include "base/mapped.h"
#include "base/process.h"
#include "lock/run_lock.h"

#include <algorithm>
#include <span>

namespace zksh::command_multilock {
namespace {

struct Args {
  std::vector<std::string> paths;
  bool atomic = false;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.nodes("path", a.paths, "The locks, in any order.");
  o.flag("--atomic", a.atomic,
         "Join all queues in one transaction instead of one after the other.");
  declare_lock_options(o, a.lock, Holders::One);
}

/// A second contender of ours would wait for the first.
void refuse_twice(std::vector<std::string> paths) {
  std::ranges::sort(paths);
  const auto twice = std::ranges::adjacent_find(paths);
  if (twice != paths.end()) throw ValueError(*twice + " is given twice; it would wait for itself");
}

/// A program whose -- was forgotten would be locked, word by word.
void refuse_program(const Args& a) {
  if (a.lock.runs_program()) return;
  for (const auto& word : std::span(a.paths).subspan(1)) {
    if (word.starts_with('/') || !is_program(word)) continue;
    throw ValueError(fmt::format(
        "\"{}\" is a program: write -- before it (or, for the lock, its path from /)", word));
  }
}

int run(Context& cx, const Args& a) {
  refuse_program(a);
  if (a.lock.recipe && *a.lock.recipe != RecipeKind::Fair)
    throw ValueError(fmt::format("--recipe {} cannot be used with several locks",
                                 name_of(recipe_names, *a.lock.recipe)));
  LockRequest request{
      .paths = mapped(a.paths, [&](const std::string& path) { return cx.resolve(path); }),
      .recipe = RecipeKind::Multi,
      .atomic = a.atomic};
  refuse_twice(request.paths);
  return run_lock(cx, a.lock, std::move(request));
}

}  // namespace

extern const Command multilock_command = make_command<Args>(
    {.name = "multilock",
     .group = "Locks",
     .summary = "Hold several locks at once",
     .keywords = {"mutex", "deadlock"},
     .details =
         "Takes all locks, or none. It takes them one after the other in the byte order of their "
         "paths, whatever order you give; with --atomic it joins all queues in one transaction. "
         "Deadlock is therefore impossible among zksh processes that take all their locks with one "
         "command; a holder that asks for more locks later may wait forever. If one lock cannot be "
         "acquired, is lost, or is revoked, all are released.\n\nEach lock has its own fencing "
         "token, the czxid of its node, and only that token protects that lock's resource. "
         "ZKSH_LOCK_PATH, ZKSH_LOCK_NODE, ZKSH_LOCK_TOKEN and the token file have one word per "
         "path, in the order of the command line. With --atomic all tokens are the same.\n\nWrite "
         "`--` before the program. Everything else is as for `lock`.",
     .examples = {{"multilock /accounts/a /accounts/b -- date", "Run a program under both locks."},
                  {"multilock --atomic -n /accounts/a /accounts/b -- date",
                   "Run it only if both are free; otherwise exit with 75 and name the busy one."}},
     .json = "node [token] [tokens] [pid]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_multilock
