// LockOptions: the options shared by the commands that take a lock.
#include "lock/lock_options.h"

#include "base/text.h"
#include "lock/lock_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <pwd.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr NamedValues<OnRevoke, 2> on_revoke_names{
    {{"release", OnRevoke::Release}, {"ignore", OnRevoke::Ignore}}};
constexpr NamedValues<CreateMode, 2> parent_names{
    {{"container", CreateMode::Container}, {"persistent", CreateMode::Persistent}}};

std::string user_name() {
  const auto* const entry = getpwuid(geteuid());
  return entry ? entry->pw_name : std::to_string(geteuid());
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

/// Options for waiting and holding.
void declare_waiting_and_holding(Options& o, LockOptions& a) {
  o.flag("-n,--try", a.try_only,
         "Do not wait: if the lock is busy, end with status 75 and leave nothing behind.");
  o.text("-w,--wait", a.wait, "Give up after this time (30, 1.5s, 2m), with status 75.", "time");
  o.number("-E,--busy-code,--conflict-exit-code", a.busy_code, "status",
           "The exit status for a lock that was not acquired, in place of 75.");
  o.text("-c", a.shell, "Run this text with $SHELL -c while the lock is held.", "text");
  o.flag("--hold", a.hold,
         "Hold the lock until a signal or the end of standard input, and print its node. A file, "
         "/dev/null and a closed input end at once.");
  o.text("--hold-for", a.hold_for,
         "As --hold, but for this time at most. Input is ignored unless it is a terminal, pipe or "
         "socket.",
         "time");
  o.flag("--until-signal", a.until_signal,
         "As --hold, but ignore standard input: for `lock --until-signal path &` in scripts.");
  o.flag("--detach", a.detach,
         "Hold the lock in a background process; print its node and process id. `unlock NODE` "
         "releases it.");
  o.text("--id", a.id, "The name that other contenders see; default: host, pid, user and command.",
         "text");
  o.file("--token-file", a.token_file, "Write the fencing token to this file.");
}

/// Options for what happens to the program, or to this shell's writes, when others want or get the
/// lock.
void declare_ends(Options& o, LockOptions& a) {
  o.choice_or_text(
      "--on-lost", a.on_lost, a.lost_command, on_lost_names, "what",
      "What happens to the program when the lock is lost, or about to be: term (TERM, and KILL "
      "after --grace; the default), kill (KILL at once) or warn (only a warning). Other text is a "
      "command for $SHELL -c, run once when that begins, or when a lock without a program is lost. "
      "It is NOT under the lock, which another may hold by then. Its environment is the program's, "
      "with ZKSH_LOCK_LOSS, the reason, in place of ZKSH_LOCK_DEADLINE_MS. The program's end does "
      "not wait for it, but zksh's does; after 10 s it is killed. Given twice, it may be both.");
  o.text("--grace", a.grace,
         "The time between TERM and KILL, at most a sixth of the session timeout; default: 5 s, or "
         "an eighth of the session timeout if that is less.",
         "time");
  o.flag("--release-early", a.release_early,
         "Release the lock when the program itself ends, not when the last process that descends "
         "from it has ended; as flock -o.");
  o.text("--at-least", a.at_least,
         "Keep the lock for at least this time, even if the program ends earlier. A signal or "
         "`revoke` releases it.",
         "time");
  o.choice_or_text(
      "--on-revoke", a.on_revoke, a.revoke_command, on_revoke_names, "what",
      "When somebody asks for the lock (`revoke`): release (the default; a program is told to end "
      "first; who is asked while it waits does not take it, with status 75), ignore, or a command "
      "for $SHELL -c. That runs beside the program, and is NOT under the lock: the lock is given "
      "back without waiting for it, since what it does may be to ask for that (`kill`, `unlock`). "
      "zksh waits 5 s for it then, and kills it; at once when the lock is lost.");
  o.flag("--guard", a.guard,
         "Fence this shell's writes: once the lock is lost, the servers refuse them.");
}

}  // namespace

void declare_lock_options(Options& options, LockOptions& into, bool names) {
  auto& o = options;
  auto& a = into;
  declare_waiting_and_holding(o, a);
  declare_ends(o, a);
  if (names) {
    o.choice("--compat", a.compat, compat_names, "names",
             "Whose names the nodes get; all: every known library sees one it knows (kazoo's "
             "readers then wait for ours, since its Lock would pass them otherwise). Default: "
             "Curator's, and all as soon as others are in the queue who would not see those.");
    o.choice("--recipe", a.recipe, recipe_names, "name",
             "fair: a queue in which each watches the one before it (the default); herd: all watch "
             "the queue; exclusive: all race for one node, PATH/lock, which only those see who use "
             "this recipe. The last two are for teaching.");
  }
  o.choice(
      "--parent", a.parent, parent_names, "kind",
      "How to create the lock's node if it is missing. The servers remove an empty container.");
  o.flag("--no-requeue", a.no_requeue,
         "Fail with status 76 when the place in the queue is lost, instead of queueing again.");
  o.flag("--force", a.force,
         "Allow / and nodes below /zookeeper, which the servers and everybody else use.");
  o.flag("--nest", a.nest,
         "If this shell already holds the lock, count once more. Refused if it holds another kind "
         "(read, not write; fewer leases), or if the lock ends with a program or --hold.");
  o.flag("-q,--quiet", a.quiet, "Do not report waiting, acquiring and releasing.");
  o.flag("-v,--verbose", a.verbose, "Explain each step as it happens: requests, watches, events.");
  o.program(a.program, "A program to run while the lock is held; its status is passed on.");
}

void declare_once(Options& options, LockOptions& into) {
  options.text("--once", into.once,
               "Run the program only if this key (a date, for instance) was not run under this "
               "lock before; otherwise end with 0. See below for when a key counts as run.",
               "key");
}

std::string lock_owner(const LockOptions& o) {
  // Shows others that this contender recognises all libraries' names.
  const std::string via = "via=zksh/" ZKSH_VERSION;
  if (o.id) return o.id->empty() ? via : *o.id + " " + via;
  std::string command = "zksh";
  if (!o.program.empty()) command = o.program.front();
  if (o.shell) command = *o.shell;
  // Others show it on a line, and kazoo only accepts UTF-8.
  constexpr std::size_t longest = 60;
  std::string shown;
  for (std::size_t i = 0; i < command.size() && shown.size() < longest;) {
    const auto step = decode_utf8(command, i);
    const bool plain = step.valid && step.code_point >= 0x20 && step.code_point != '"';
    shown += plain ? command.substr(i, step.length) : " ";
    i += step.length;
  }
  return fmt::format("host={} pid={} user={} cmd=\"{}\" {}", host_name(), getpid(), user_name(),
                     shown, via);
}

void check_lock_options(const LockOptions& o, const LockRequest& request) {
  const std::array ways{!o.program.empty(), o.shell.has_value(), o.holds(), o.detach};
  if (std::ranges::count(ways, true) > 1 && !(o.detach && o.program.empty() && !o.shell))
    throw UsageError("a program, -c, --hold and --detach exclude each other");
  if (o.nest && std::ranges::count(ways, true) > 0)
    throw UsageError(
        "--nest needs a lock that the shell holds; it excludes a program, --hold and --detach");
  if (o.busy_code && (*o.busy_code < 0 || *o.busy_code > 255))
    throw UsageError("-E: an exit status is between 0 and 255");
  if (o.guard && o.runs_program())
    throw UsageError("--guard protects this shell's own writes; a program gets ZKSH_LOCK_TOKEN");
  if (o.id && is_release_request(*o.id + ' '))
    throw UsageError("--id: \"" + *o.id + "\" would ask for the lock's release");
  if (o.once && !o.runs_program()) throw UsageError("--once needs a program");
  if (o.once && request.mode == LockMode::Shared)
    throw UsageError("--once excludes readers, which run at the same time");
  if (o.at_least && !o.runs_program())
    throw UsageError(
        "--at-least needs a program, which may end earlier; without one use --hold-for");
  if (o.recipe != RecipeKind::Exclusive) return;
  if (request.read_write) throw UsageError("--recipe exclusive has no readers and writers");
  if (o.compat)
    throw UsageError("--recipe exclusive: its one node is called \"lock\" for everybody");
}

}  // namespace zksh
