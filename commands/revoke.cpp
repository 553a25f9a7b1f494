// revoke: ask the holder of a lock to release it, or remove its node.
#include "base/time.h"
#include "lock/revocation.h"

namespace zksh::command_revoke {
namespace {

struct Args {
  std::string path;
  std::optional<std::string> wait;
  bool force = false;
};

void declare(Options& o, Args& a) {
  o.node("path|node", a.path, "A lock: its holder is asked; or the node of one contender.");
  o.text("-w,--wait", a.wait, "Wait this long for the lock's release.", "time");
  o.flag("--force", a.force, "Remove the contender's node when it has not gone in that time.");
}

int run(Context& cx, const Args& a) {
  RevocationWish wish{.force = a.force};
  if (a.wait && !cx.rehearsal) wish.patience = parse_duration(*a.wait, "-w");
  return ask_holder(cx, cx.resolve(a.path), wish);
}

}  // namespace

extern const Command revoke_command = make_command<Args>(
    {.name = "revoke",
     .group = "Locks",
     .summary = "Ask the holder of a lock to release it",
     .keywords = {"release", "steal"},
     .details =
         "Writes __REVOKE__ into the holder's node, as Curator's Revoker does, and for a zksh who "
         "asks, "
         "which that one tells. zksh releases then "
         "(see --on-revoke of `lock`), and so do Curator's locks that were made revocable; others "
         "go on. A contender that waits can be asked, too, by its node: zksh leaves the queue when "
         "its turn comes.\n\n"
         "With --force the node is removed when it has not gone within the time of -w (at once "
         "without -w). Its owner may believe that it holds the lock until it looks: two can work "
         "at a time then, but for a resource that checks fencing tokens. Status 1: not released in "
         "time.",
     .examples = {{"revoke /app/lock", "Ask, and do not wait."},
                  {"revoke -w 30 --force /app/jobs", "Ask, wait, then take it away."}},
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_revoke
