// reconfig: change the members of the ensemble.
#include "base/number.h"
#include "base/text.h"
#include "client/ensemble.h"
#include "client/rehearsal.h"
#include "client/server_version.h"
#include "command/command.h"
#include "config/settings.h"
#include "ensemble/membership.h"
#include "node/listing.h"

namespace zksh::command_reconfig {
namespace {

struct Args {
  bool stat = false;
  std::optional<std::string> version;
  std::optional<std::string> file;
  std::optional<std::string> members;
  std::optional<std::string> add;
  std::optional<std::string> remove;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the Stat of /zookeeper/config below.");
  o.text("-v,--version", a.version,
         "Reconfigure only if this is the configuration's version, in hexadecimal.", "version");
  o.file("-file", a.file, "Read the new members from a file; not with -add and -remove.", "path");
  o.text("-members", a.members, "The complete new list of members; not with -add and -remove.",
         "serverID=host:port1:port2;port3[,…]");
  o.text("-add", a.add, "Members to add or change.", "serverId=host:port1:port2;port3[,…]");
  o.text("-remove", a.remove, "IDs of members to remove.", "serverId[,…]");
}

std::optional<std::string> lower(std::optional<std::string> text) {
  if (!text) return text;
  for (char& c : *text) c = lower_case(c);
  return text;
}

Reconfiguration requested(const Args& a) {
  const bool whole = a.file || a.members;
  const bool parts = a.add || a.remove;
  if (!whole && !parts) throw SyntaxError("one of -file, -members, -add and -remove is required");
  Reconfiguration change;
  if (a.version) {
    const auto version = java_number_in<std::int64_t>(*a.version, 16);
    if (!version) throw ValueError("-v must be followed by a long (configuration version)");
    change.version = *version;
  }
  if (whole && parts)
    throw ValueError(
        "Can't use -file or -members together with -add or -remove (mixing incremental and "
        "non-incremental modes is not allowed)");
  if (a.file && a.members)
    throw ValueError("Can't use -file and -members together (conflicting non-incremental modes)");
  change.joining = lower(a.add);
  change.leaving = lower(a.remove);
  change.members = a.file ? members_in_file(*a.file) : lower(a.members);
  return change;
}

std::string quorum_text(const Membership& membership) {
  const auto voters = membership.voters();
  const auto observers = membership.members.size() - voters;
  return fmt::format("{}{}, quorum {}", counted(voters, "voting member"),
                     observers == 0 ? "" : " and " + counted(observers, "observer"),
                     membership.groups ? "by groups" : std::to_string(membership.quorum()));
}

WriteDescription what_becomes_of(const MemberChange& member) {
  using Kind = MemberChange::Kind;
  const auto name = fmt::format("server.{}", member.id);
  const auto line = fmt::format("{}={}", name, member.text);
  switch (member.kind) {
    case Kind::Stays:
      return {.verb = "keep", .path = line};
    case Kind::Leaves:
      return {.verb = "remove", .path = line};
    case Kind::Joins:
      return {.verb = "add", .path = line};
    case Kind::Changes:
      return {.verb = "change", .path = line, .detail = "it is " + member.before};
    case Kind::Unknown:
      break;
  }
  return {.verb = "ignore", .path = name, .detail = "not a member"};
}

/// Prints the resulting members, or throws as the servers would refuse the change.
int rehearse(Context& cx, const Reconfiguration& change) {
  const auto config = cx.client.get_config(Watch::none(), cx.stop);
  const auto before = parse_membership(config.data.value_or(""));
  const auto changed = change_membership(before, change);
  if (changed.code != code::ok)
    throw Error(fmt::format("the servers would refuse this: {}", changed.why),
                ZkError(changed.code, "").exit_status());
  const auto& after = changed.after;
  for (const auto& member : membership_changes(before, after, change))
    cx.rehearsal->note(what_becomes_of(member));
  auto detail = fmt::format("from {}, to {}", quorum_text(before), quorum_text(after));
  if (after.voters() == 1)
    detail += "; with standaloneEnabled=true (the default) servers refuse to have fewer than 2";
  cx.rehearsal->note({.verb = "reconfigure", .path = "the ensemble", .detail = detail});
  return status::ok;
}

/// Adds the reason, which the servers' own words do not tell.
ZkError explained(Context& cx, const ZkError& error, const Reconfiguration& change) {
  if (cx.input == Input::Pipe) return error;
  if (error.code() == code::reconfig_disabled)
    return {error, " (reconfigEnabled=true in the zoo.cfg of every server allows it)"};
  if (error.code() == code::no_auth)
    return {
        ZkError(error.code(), "/zookeeper/config"),
        ": the servers' superuser may write it, and whoever has w in its ACL (`help reconfig`)"};
  if (error.code() != code::bad_arguments) return error;
  const auto config = cx.client.get_config(Watch::none(), cx.stop);
  const auto changed = change_membership(parse_membership(config.data.value_or("")), change);
  return {error, changed.why};
}

int run(Context& cx, const Args& a) {
  const auto change = requested(a);
  // zkCli's errors do not name the path.
  require_newer(cx.client, cx.services.settings.drop_in ? "" : "/zookeeper/config", "reconfig",
                cx.stop);
  if (cx.rehearsal) return rehearse(cx, change);
  const auto config = [&] {
    try {
      return cx.client.reconfigure(change, cx.stop);
    } catch (const ZkError& error) {
      throw ZkError(explained(cx, error, change));
    }
  }();
  const auto text = config.data.value_or("");
  print_with_stat(cx, Json::object().set("config", text),
                  "Committed new configuration:\n" + cx.out.shown_lines(text), a.stat, config.stat);
  return status::ok;
}

}  // namespace

extern const Command reconfig_command = make_command<Args>(
    {.name = "reconfig",
     .group = "Ensemble",
     .summary = "Change the members of the ensemble",
     .keywords = {"member", "ensemble", "cluster", "dynamic", "add", "remove"},
     .details =
         "-add and -remove change some members; -file and -members replace the whole list. A "
         "member is server.ID=HOST:PORT:PORT[:ROLE];PORT, as in zoo.cfg (quote it: in -c a "
         "semicolon separates commands). A new server must be running before it joins. A "
         "server that is removed no longer votes, but follows the leader and serves its clients "
         "until it is stopped (`health` tells of it).\n\nThe "
         "servers must have reconfigEnabled=true, and the session must be allowed to write "
         "/zookeeper/config: by that node's ACL, or as the superuser (addauth digest). The "
         "superuser of `zksh --sandbox=3` is super:sandbox.\n\n--dry-run shows the resulting "
         "members and quorum. It fails where the configuration itself shows that the servers would "
         "refuse: a version mismatch, a malformed member, a port in use by another member, or no "
         "voting member left. It cannot know whether you have the permission, or whether new "
         "members are in sync. Servers ignore the ID of a server that is not a member.",
     .examples = {{"addauth digest super:sandbox", "Log in as a sandbox's superuser."},
                  {"reconfig --dry-run -remove 1", "Show the members that would be left."},
                  {"reconfig -remove 1", "Remove server 1, which must then be stopped."},
                  {"reconfig -add 'server.4=127.0.0.1:2888:3888:observer;2181'",
                   "Add server 4 as an observer."}},
     .json = "config [stat]",
     .zkcli_syntax =
         "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | "
         "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_reconfig
