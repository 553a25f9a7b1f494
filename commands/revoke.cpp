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
  o.node("path|node", a.path, "A lock, whose holder is asked, or a contender's node.");
  o.text("-w,--wait,--timeout", a.wait, "Wait up to this long for the release.", "time");
  o.flag("--force", a.force, "Delete the contender's node if it is not released in time.");
}

int run(Context& cx, const Args& a) {
  RevocationRequest request{.force = a.force};
  if (a.wait && !cx.rehearsal) request.patience = parse_duration(*a.wait, "-w");
  return ask_holder(cx, cx.resolve(a.path), request);
}

}  // namespace

extern const Command revoke_command = make_command<Args>(
    {.name = "revoke",
     .group = "Locks",
     .summary = "Ask the holder of a lock to release it",
     .keywords = {"release", "steal"},
     .details =
         "Asks the holder by writing __REVOKE__ to its node, as Curator's Revoker does; zksh also "
         "sees who asks, and its node keeps the owner's name. zksh then releases "
         "the lock (see --on-revoke of `lock`), and so do "
         "Curator's locks that were made revocable; others ignore it. A waiting contender can be "
         "asked through its node; zksh then leaves the queue when its turn comes.\n\nWith --force "
         "the node is deleted if it is not released within -w (at once without -w). Its owner may "
         "not notice for a moment, so two clients may believe they hold the lock; only fencing "
         "tokens protect the resource then. The status is 1 if the lock was not released in time.",
     .examples = {{"revoke /app/lock", "Ask, and do not wait for the release."},
                  {"revoke -w 30 --force /app/jobs",
                   "Ask, wait 30 seconds, then delete the node."}},
     .writes = true},
    declare, run);
}  // namespace zksh::command_revoke
