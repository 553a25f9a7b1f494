// setAcl: set a node's ACL.
#include "base/name_list.h"
#include "base/number.h"
#include "base/text.h"
#include "command/command.h"
#include "command/questions.h"
#include "command/report.h"
#include "command/work.h"
#include "command/zkcli_style.h"
#include "config/settings.h"
#include "node/acl_argument.h"
#include "node/listing.h"
#include "node/node_json.h"
#include "tree/batch_writer.h"
#include "tree/extent.h"
#include "tree/walk.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace zksh::command_setAcl {
namespace {

struct Args {
  bool stat = false;
  std::optional<std::string> version;
  bool recursive = false;
  bool force = false;
  bool yes = false;
  std::optional<std::string> add;
  std::optional<std::string> remove;
  std::string path;
  std::optional<std::string> acl;
  WorkOptions limits;
  std::optional<std::int32_t> legacy_version;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's new Stat; not with -R.");
  o.text("-v,--version", a.version, "Set the ACL only if this is the aclVersion; -1 matches any.",
         "version");
  o.flag("-R,--recursive", a.recursive, "Set the ACL of every node of the subtree.");
  o.acl("--add", a.add,
        "Add these entries, and keep the others; one for the same identity is replaced.", "acl");
  o.acl_ids("--remove", a.remove,
            "Remove the entries of these identities: scheme:id, separated by commas. digest:USER "
            "needs no hash.");
  declare_force_acl(o, a.force);
  o.common().flag("-y,--yes", a.yes, "Change a subtree without asking.");
  o.node("path", a.path, "The node.");
  o.acl("acl", a.acl, "The ACL: scheme:id:perms, separated by commas; perms are letters of cdrwa.");
  declare_work_limits(o, a.limits);
  o.legacy().number("version", a.legacy_version, "", "The same as -v.");
}

ZkError not_listed(const std::string& path) {
  return {ZkError(code::no_auth, path),
          ": it may not be listed, so the nodes below it were left as they were"};
}

/// What was done before the work ended early; empty: nothing.
std::string unfinished_text(std::size_t done, std::size_t unknown) {
  if (done + unknown == 0) return {};
  const auto text = fmt::format("the ACL of {} was set", counted(done, "node"));
  return unknown == 0 ? text : fmt::format("{}; {}", text, unknown_text(unknown));
}

bool is_as_zkcli(const Context& cx) {
  return cx.input == Input::Pipe || cx.services.settings.drop_in;
}

/// Whether `ls -R`, and so zkCli's setAcl -R, comes to one node before the other: it lists a node's
/// children, then each child's subtree.
bool comes_before(std::string_view one, std::string_view other) {
  const auto shared = std::ranges::mismatch(one, other);
  if (shared.in1 == one.end() && shared.in2 != other.end() && *shared.in2 == '/') return true;
  const auto begin = std::string_view(one.begin(), shared.in1).rfind('/') + 1;
  one.remove_prefix(begin);
  other.remove_prefix(begin);
  const auto name_end = one.find('/');
  const auto other_end = other.find('/');
  const bool is_child = name_end == std::string_view::npos;
  if (is_child != (other_end == std::string_view::npos)) return is_child;
  return one.substr(0, name_end) < other.substr(0, other_end);
}

/// As zkCli does: sets each node's ACL before listing it, in the order of `ls -R`, and stops where
/// the new ACL hides what is below.
void set_all_as_zkcli(Context& cx, const std::string& top, const WorkLimits& limits,
                      const std::function<void(const std::string& path)>& set) {
  const auto enter = [](const TreeNode& node) {
    if (!node.readable) throw ZkError(code::no_auth, node.path);
  };
  walk_tree(cx.client,
            {.tops = {top}, .stats = false, .limits = limits, .ahead = set, .enter = enter},
            cx.stop);
}

/// Walks a subtree to set every ACL: lists each node before `set` sets its ACL, which may hide what
/// is below. A node that may not be listed is listed again when its ACL is set. Calls `finish`
/// then, and at the end, to await what was set.
void set_all(Context& cx, const std::string& top, const WorkLimits& limits, NodeFailures& failures,
             const std::function<void(const std::string& path)>& set,
             const std::function<void()>& finish) {
  NameList hidden;
  const auto enter = [&](const TreeNode& node) {
    set(node.path);
    if (node.hides_children()) hidden.add(node.path);
  };
  const auto enter_again = [&](const TreeNode& node) {
    if (node.depth > 0) return enter(node);
    if (node.hides_children()) failures.report(not_listed(node.path));
  };
  walk_tree(cx.client, {.tops = {top}, .stats = false, .limits = limits, .enter = enter}, cx.stop);
  finish();
  while (!hidden.empty()) {
    WalkPlan plan{.may_be_missing = true, .stats = false, .limits = limits, .enter = enter_again};
    for (std::size_t i = 0; i < hidden.size(); ++i) plan.tops.emplace_back(hidden[i]);
    hidden.clear();
    walk_tree(cx.client, plan, cx.stop);
    finish();
  }
}

/// Asks as deleteall does: an ACL may shut everybody out, and the old ones cannot be restored.
/// Returns why nothing is changed, or nullopt to go on.
std::optional<std::string> refusal(Context& cx, const Args& a, const std::string& top) {
  if (!a.recursive || !needs_confirmation(cx, a.yes)) return std::nullopt;
  return subtree_refusal(cx, {top}, a.limits.limits(), "change the ACL of", "changed");
}

int set_subtree(Context& cx, const std::string& top, const Acl& acl, std::int32_t version,
                const WorkLimits& limits) {
  int first_failure = status::ok;
  std::size_t done = 0;
  const bool as_zkcli = is_as_zkcli(cx);
  std::map<std::string, int, decltype(&comes_before)> refused(comes_before);
  NodeFailures failures(cx);
  Progress progress(cx.out, cx.background, "nodes");
  const auto report_refused = [&] {
    progress.end();
    for (const auto& [path, code] : refused) {
      cx.out.line("{}", cx.out.shown(keeper_message(code, path)));
      if (first_failure == status::ok) first_failure = ZkError(code, path, true).exit_status();
    }
    refused.clear();
  };
  const auto record = [&](const Write& write, const Written& result) {
    progress.advance();
    if (result.code == code::ok ||
        (result.sent_before && already_done(cx.client, write, result.code, cx.stop))) {
      ++done;
      return;
    }
    if (cx.rehearsal || cx.input == Input::Terminal || cx.out.json()) {
      progress.end();
      return failures.report(error_of(write, result));
    }
    refused.emplace(path_of(write), result.code);
    constexpr std::size_t most_sorted = 10'000;
    if (!as_zkcli || refused.size() == most_sorted) report_refused();
  };
  BatchWriter writer(cx.client, {.limits = limits}, record, cx.stop);
  const auto set = [&](const std::string& path) {
    writer.add(SetAclOp{.path = path, .acl = acl, .version = version});
  };
  const auto finish = [&] { writer.finish(); };
  const auto work = [&] {
    try {
      if (as_zkcli)
        set_all_as_zkcli(cx, top, limits, set);
      else
        set_all(cx, top, limits, failures, set, finish);
    } catch (const ZkError&) {
      writer.finish();  // earlier results are reported first
      throw;
    }
    writer.finish();
  };
  try {
    report_if_incomplete(cx, progress, work, [&] {
      const bool settled = writer.in_flight() == 0 && !cx.stop.stop_requested();
      return as_zkcli && settled ? std::string() : unfinished_text(done, writer.in_flight());
    });
  } catch (...) {
    report_refused();
    throw;
  }
  report_refused();
  const int result = failures.first(cx.excused(first_failure));
  if (result == status::ok) acknowledge(cx, path_json(top));
  return result;
}

/// Reads the ACLs of a subtree ahead of the walk, and each together with its version.
class AclsAhead {
 public:
  explicit AclsAhead(Client& client) : client_(client) {}

  void start(const std::string& path) {
    asked_.insert_or_assign(path, client_.start_get_acl(path));
  }
  NodeAcl get(const std::string& path, const std::stop_token& stop) {
    auto asked = asked_.extract(path);
    if (asked) {
      auto answer = client_.await(asked.mapped(), stop);
      if (answer.code == code::ok) return std::move(answer.value);
    }
    return client_.get_acl(path, stop);
  }

 private:
  Client& client_;
  std::unordered_map<std::string, Pending<NodeAcl>> asked_{};
};

/// Changes every ACL of a subtree, and reports nodes that fail. Sets `changed` if any was changed.
int change_subtree(Context& cx, const std::string& top, const AclChange& change,
                   const WorkLimits& limits, bool& changed) {
  NodeFailures failures(cx);
  Progress progress(cx.out, cx.background, "nodes");
  std::size_t done = 0;
  const auto trying = [&](auto&& work) {
    try {
      failures.during(work);
    } catch (const UnchangeableAcl& error) {
      progress.end();
      report_error(cx.out, error);
      failures.note(error.exit_status());
    }
  };
  const auto record = [&](const Write& write, const Written& result) {
    trying([&] {
      // Somebody else has changed it since it was read.
      if (result.code == code::bad_version)
        change_acl(cx.client, path_of(write), change, cx.stop);
      else if (result.code != code::ok)
        throw error_of(write, result);
      ++done;
    });
  };
  BatchWriter writer(cx.client, {.limits = limits}, record, cx.stop);
  AclsAhead acls(cx.client);
  const auto enter = [&](const TreeNode& node) {
    progress.advance();
    trying([&] {
      const auto now = acls.get(node.path, cx.stop);
      if (auto acl = changed_acl(node.path, now.acl, change)) {
        changed = true;
        writer.add(SetAclOp{node.path, std::move(*acl), now.stat.aversion});
      }
      if (node.hides_children()) throw not_listed(node.path);
    });
  };
  const auto change_all = [&] {
    walk_tree(cx.client,
              {.tops = {top},
               .limits = limits,
               .ahead = [&](const std::string& path) { acls.start(path); },
               .enter = enter},
              cx.stop);
    writer.finish();
  };
  report_if_incomplete(cx, progress, change_all,
                       [&] { return unfinished_text(done, writer.in_flight()); });
  return failures.first();
}

AclChange change_of(Context& cx, const Args& a) {
  if (a.acl || a.version)
    throw UsageError("--add and --remove change what is there: no whole ACL and no -v with them");
  AclChange change{.force = a.force};
  if (a.add) change.added = acl_argument(cx, *a.add, a.path, a.force);
  if (a.remove)
    for (const auto text : split(*a.remove, ',')) change.removed.emplace_back(text);
  return change;
}

int run_change(Context& cx, const Args& a) {
  const auto change = change_of(cx, a);
  const auto path = cx.resolve(a.path);
  bool changed = false;
  int result = status::ok;
  if (const auto why = refusal(cx, a, path)) throw Error(*why, status::failure, path);
  if (a.recursive)
    result = change_subtree(cx, path, change, a.limits.limits(), changed);
  else
    changed = explaining_acl(cx, change.added,
                             [&] { return change_acl(cx.client, path, change, cx.stop); });
  if (!changed && change.added.empty() && result == status::ok)
    throw Error(fmt::format("the ACL of {} has no entry {}", path, *a.remove));
  const auto stat = a.stat && !a.recursive ? cx.client.exists(path, Watch::none(), cx.stop)
                                           : std::optional<Stat>();
  if (cx.out.json() && result == status::ok)
    print_json(cx, stat ? path_json(path).set("stat", stat_json(*stat)) : path_json(path));
  else if (stat)
    print_stat(cx, *stat);
  return result;
}

Sent run(Context& cx, const Args& a) {
  if (a.add || a.remove) return run_change(cx, a);
  // As in zkCli, the usage comes before the error of an invalid version.
  if (!a.acl) throw SyntaxError("too few arguments: path acl expected");
  const auto version = expected_version(cx, a.version, a.legacy_version);
  const auto acl = acl_argument(cx, *a.acl, a.path, a.force);
  const auto path = cx.resolve(a.path);
  if (a.recursive && acl.empty()) {
    cx.client.get(path, Watch::none(), cx.stop);  // NoNode comes before other errors
    if (is_as_zkcli(cx) &&
        !cx.out.json()) {  // zkCli refuses it node by node, without asking the servers
      set_all_as_zkcli(cx, path, a.limits.limits(), [&](const std::string& /*path*/) {
        cx.out.line("{}", keeper_message(code::invalid_acl, ""));
      });
      return cx.excused(exit_status_of(code::invalid_acl));
    }
  }
  refuse_lockout(cx, acl, path, a.force);
  if (a.recursive) {
    cx.client.get(path, Watch::none(), cx.stop);
    if (const auto why = refusal(cx, a, path)) throw Error(*why, status::failure, path);
    return set_subtree(cx, path, acl, version, a.limits.limits());
  }
  if (a.stat || prints_as_34(cx)) {
    const auto stat =
        explaining_acl(cx, acl, [&] { return cx.client.set_acl(path, acl, version, cx.stop); });
    const bool shows = stat.code == code::ok;
    const auto node = cx.out.shown_in_error(path);
    if (cx.out.json())
      print_json(cx, path_json(path).set("stat", shows ? stat_json(stat.value) : Json()));
    else if (shows)
      print_stat(cx, stat.value);
    else if (stat.code == code::no_auth)
      cx.out.err_line(
          "the ACL of {} was set, but its Stat cannot be shown without the READ permission", node);
    else
      cx.out.err_line("the ACL of {} was set, but its Stat was not read: {}", node,
                      cx.out.shown_in_error(keeper_message(stat.code, path)));
    return status::ok;
  }
  cx.client.await_connection(path, cx.stop);
  const auto pending = cx.client.start_set_acl(path, acl, version);
  return {path, pending, [&cx, acl, path, pending] {
            explaining_acl(cx, acl, [&] { return cx.client.written(pending, path, 0, cx.stop); });
            acknowledge(cx, path_json(path));
            return status::ok;
          }};
}

}  // namespace

extern const Command setAcl_command = make_command<Args>(
    {.name = "setAcl",
     .group = "Access",
     .summary = "Set a node's ACL",
     .keywords = {"acl", "rotate", "permission", "rights", "access", "security", "grant",
                  "revoke permission", "chmod", "recursive", "chown", "passwd"},
     .details =
         "Replaces the whole ACL. Permissions are c create children, d delete children, r "
         "read, w write, a set the ACL. Identities are world:anyone, ip:ADDRESS or "
         "ip:ADDRESS/BITS, digest:USER:HASH, and auth:: for the identities of this session "
         "(addauth). If an entry cannot be parsed, nothing is written; on piped input that entry "
         "alone is left out, as in zkCli. An entry that nobody can ever meet is refused: without "
         "permissions, a malformed digest, an ip that is not an address; --force sets it "
         "nevertheless. -R changes the whole subtree, and lists each node before its ACL is set: "
         "an ACL that takes away the right to list is set below, too. Nodes that fail are "
         "reported, and the others are still changed; at a terminal zksh asks first, as deleteall "
         "does. Prints nothing on success.\n\nsetAcl refuses, unless --force is given, to leave a "
         "node whose ACL nobody could change any more: no entry with the permission a. A whole ACL "
         "must give it to an identity of this session (`whoami`).\n\n"
         "--add and --remove keep the other entries of each ACL, and never overwrite a change that "
         "somebody else has just made. An ACL whose hashes the servers hide from this "
         "session is not written back. To change a password, --add digest:USER::perms, which asks "
         "for the new one, and when its users have it, --remove digest:USER:HASH with the old "
         "hash, which getAcl shows.\n\n"
         "In place of the hash of a digest, digest:USER:@FILE:perms takes the password from a "
         "file, and digest:USER::perms asks for it; `digest` prints the hash.",
     .examples = {{"create /app", "Create a node that everybody may do anything with."},
                  {"setAcl /app world:anyone:cdrwa", "Give everybody all permissions."},
                  {"setAcl -v 1 /app world:anyone:cdrwa,ip:10.0.0.0/8:r",
                   "Only if the ACL has been set exactly once."},
                  {"setAcl --add ip:10.0.0.0/8:r /app", "Let others read, too."},
                  {"setAcl -R --remove ip:10.0.0.0/8 /app", "Take that back, also below."},
                  {"setAcl -R /app world:anyone:cdra",
                   "Take the write permission away in the whole subtree."}},
     .json = "path [stat]",
     .zkcli_syntax = "[-s] [-v version] [-R] path acl",
     .writes = true},
    declare, run);
}  // namespace zksh::command_setAcl
