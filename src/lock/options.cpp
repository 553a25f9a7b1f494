// LockOptions: the options shared by the commands that take a lock.
#include "lock/options.h"

#include "base/text.h"
#include "config/settings.h"
#include "lock/view.h"
#include "node/acl_argument.h"

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

/// The name of the program that a shell's text begins with, without its directory; "sh" if the text
/// does not begin with plain assignments, if any, and a plain name. Only this name is taken since
/// others read it, and the rest of the text, including the assignments, may hold secrets.
std::string name_in_shell_text(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  constexpr std::string_view quoting = "'\"`\\(){}[];&|<>#";  // the word may go on after a blank
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-/";
  const auto variable_letters = letters.substr(0, letters.find('.'));
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const auto word = text.substr(0, text.find_first_of(blanks));
    const auto other = word.find_first_not_of(letters);
    if (other == std::string_view::npos) {
      const auto name = word.substr(word.rfind('/') + 1);
      return name.empty() ? "sh" : std::string(name);
    }
    const bool assigns =
        word[other] == '=' && word.find_first_not_of(variable_letters) == other && other > 0;
    if (!assigns || word.find_first_of(quoting) != std::string_view::npos) return "sh";
    text.remove_prefix(word.size());
  }
}

/// Options for waiting and holding.
void declare_waiting_and_holding(Options& o, LockOptions& a) {
  o.flag("-n,--try", a.try_only, "Do not wait: if the lock is busy, exit with status 75.");
  o.duration("-w,--wait,--timeout", a.wait,
             "Give up after this time (30, 1.5s, 2m), with status 75.");
  o.number("-E,--busy-code,--conflict-exit-code", a.busy_code, "status",
           "Exit status if the lock was not acquired, instead of 75.");
  o.text("-c,--command", a.shell, "Run this command with $SHELL -c under the lock.", "text");
  o.flag("--hold", a.hold,
         "Print the lock's node and hold the lock until a signal or the end of standard input (at "
         "once for a file, /dev/null and closed input).");
  o.duration("--hold-for", a.hold_for,
             "Like --hold, but for at most this time. Input is ignored unless it is a terminal, "
             "pipe or socket.");
  o.flag("--until-signal", a.until_signal,
         "Like --hold, but ignore standard input: for `lock --until-signal path &` in scripts.");
  o.flag("--detach", a.detach,
         "Hold the lock in a background process; print its node and process ID. `unlock NODE` "
         "releases it.");
  o.text("--id", a.id,
         "The name that other contenders see; default: host, PID, user and the program's name.",
         "text");
  o.file("--token-file", a.token_file, "Write the fencing token to this file.");
}

/// Options for what happens to the program, or to this shell's writes, when others want or get the
/// lock.
void declare_ends(Options& o, LockOptions& a) {
  o.choice_or_text(
      "--on-lost", a.on_lost, a.lost_command, on_lost_names, "what",
      "What to do with the program if the lock is lost or about to be: term (TERM, then KILL after "
      "--grace; the default), kill (KILL at once) or warn (only print a warning). Any other text "
      "is a command for $SHELL -c, run once at that moment, or when a lock without a program is "
      "lost. It runs WITHOUT the lock, which another client may already hold. Its environment is "
      "the program's, with ZKSH_LOCK_LOSS (the reason) instead of ZKSH_LOCK_DEADLINE_MS. zksh "
      "waits for it before it exits, for at most 10 s. Given twice, it can be both.");
  o.duration("--grace", a.grace,
             "Time between TERM and KILL, at most a sixth of the session timeout; default: 5 s, or "
             "an eighth of the session timeout if that is less.");
  o.flag("--release-early", a.release_early,
         "Release the lock when the program itself has ended, even if its descendants are still "
         "running, like flock -o.");
  o.duration("--at-least", a.at_least,
             "Keep the lock for at least this time, even if the program ends earlier. A signal or "
             "`revoke` still releases it.");
  o.choice_or_text(
      "--on-revoke", a.on_revoke, a.revoke_command, on_revoke_names, "what",
      "What to do when somebody asks for the lock (`revoke`): release (the default; a program is "
      "ended first, a waiting contender leaves the queue with status 75), ignore, or a command for "
      "$SHELL -c. The command runs beside the program and WITHOUT the lock; it may itself end the "
      "program or release the lock (`kill`, `unlock`). zksh waits 5 s for it before it exits, then "
      "kills it; at once if the lock is lost. Its environment has ZKSH_LOCK_PATH and "
      "ZKSH_LOCK_NODE.");
  o.flag("--guard", a.guard,
         "Guard this shell's writes: the servers refuse them once the lock is lost.");
}

}  // namespace

void declare_lock_options(Options& options, LockOptions& into, Holders holders) {
  auto& o = options;
  auto& a = into;
  if (holders == Holders::One)
    o.text("--once", a.once,
           "Run the program only if it has not yet run under this lock with this key (such as a "
           "date); otherwise exit with 0. See below.",
           "key");
  declare_waiting_and_holding(o, a);
  declare_ends(o, a);
  if (holders != Holders::Leases) {
    o.choice("--compat", a.compat, compat_names, "names",
             "Node names of this library: curator, kazoo, or all, which are names that every known "
             "library sees (kazoo's "
             "readers then wait for ours, since its Lock would pass them otherwise). Default: "
             "Curator's, or all if contenders that would not see those are in the queue.");
    o.choice("--recipe", a.recipe, recipe_names, "name",
             "fair: a queue in which each contender watches the one before it (the default); herd: "
             "each watches the whole queue; exclusive: all race for one node, PATH/lock, which "
             "contenders of other recipes do not see. The last two are for teaching.");
  }
  o.choice("--parent", a.parent, parent_names, "kind",
           "How to create the lock's node if it is missing: container (the servers remove it some "
           "time after the last contender has gone) or persistent. Default: container; persistent "
           "with other names than Curator's, and on servers before 3.5.");
  declare_lock_acl(o, a.acl);
  o.flag("--no-requeue", a.no_requeue,
         "Fail with status 76 if the place in the queue is lost, instead of queueing again.");
  o.flag(
      "--force", a.force,
      "Allow / and nodes below /zookeeper, and an ACL that nobody could change any more, or with "
      "an entry that nobody can ever meet.");
  o.flag("--nest", a.nest,
         "If this shell already holds the lock, count once more; `unlock` then counts down. "
         "Refused if it holds the lock in another mode or with fewer leases, or if the lock ends "
         "with a program or --hold.");
  o.flag("-q,--quiet", a.quiet,
         "Do not report waiting, acquiring and releasing, nor that the lock is busy.");
  o.flag("-v,--verbose", a.verbose, "Print each step: requests, watches, events.");
  o.program(a.program, "The program to run under the lock; its exit status is passed on.");
}

void declare_lock_acl(Options& options, std::optional<std::string>& into) {
  options.acl(
      "--acl", into,
      "The ACL of the nodes that the lock creates, its missing parents included: "
      "scheme:id:perms, separated by commas; creator stands for auth::cdrwa, whoever has an "
      "identity of this session. Default: the setting lock-acl, world:anyone:cdrwa, with "
      "which anybody may end the lock.",
      "acl");
}

Acl lock_acl(Context& cx, const std::optional<std::string>& option, const std::string& path,
             bool force) {
  constexpr std::string_view creator = "creator";
  auto text = ',' + option.value_or(cx.services.settings.value("lock-acl")) + ',';
  for (auto at = text.find(",creator,"); at != std::string::npos; at = text.find(",creator,", at))
    text.replace(at + 1, creator.size(), "auth::cdrwa");
  auto acl = acl_argument(cx, text.substr(1, text.size() - 2), path, force);
  refuse_sealed(cx, acl, path, force);
  constexpr int needed = perm::read | perm::create | perm::remove;
  int granted = 0;
  for (const auto& entry : acl) granted |= entry.perms;
  if (!force && (granted & needed) != needed)
    throw ValueError(
        fmt::format("under this ACL nobody could use {}: contenders need r, c and d; nothing was "
                    "written (--force sets it nevertheless)",
                    path),
        path);
  return acl;
}

std::string program_name(const LockOptions& o) {
  return o.shell ? name_in_shell_text(*o.shell) : o.program.front();
}

std::string lock_owner(const LockOptions& o) {
  // Shows others that this contender recognises all libraries' names.
  const std::string via = "via=zksh/" ZKSH_VERSION;
  if (o.id) return o.id->empty() ? via : *o.id + " " + via;
  const auto command = o.runs_program() ? program_name(o) : "zksh";
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
    throw UsageError("a program, -c, --hold and --detach cannot be combined");
  if (o.nest && std::ranges::count(ways, true) > 0)
    throw UsageError("--nest cannot be combined with a program, --hold or --detach");
  if (o.hold && (o.hold_for || o.until_signal))
    throw UsageError("--hold cannot be combined with --hold-for and --until-signal");
  if (o.try_only && o.wait) throw UsageError("-n and -w cannot be combined");
  if (o.busy_code && (*o.busy_code < 0 || *o.busy_code > 255))
    throw UsageError("-E: an exit status must be from 0 to 255");
  if (o.guard && o.runs_program())
    throw UsageError(
        "--guard only protects this shell's own writes; a program can use ZKSH_LOCK_TOKEN");
  if (o.id && is_release_request(*o.id + ' '))
    throw UsageError("--id: \"" + *o.id + "\" is reserved for asking for the lock's release");
  if (o.once && !o.runs_program()) throw UsageError("--once needs a program");
  if (o.once && request.mode == LockMode::Shared)
    throw UsageError("--once cannot be used with a read lock, which several hold at the same time");
  if (o.at_least && !o.runs_program())
    throw UsageError("--at-least needs a program; without one use --hold-for");
  if (o.recipe != RecipeKind::Exclusive) return;
  if (request.read_write) throw UsageError("--recipe exclusive has no read and write locks");
  if (o.compat)
    throw UsageError("--recipe exclusive always uses the node name \"lock\"; omit --compat");
}

}  // namespace zksh
