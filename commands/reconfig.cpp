// reconfig: change the members of the ensemble.
#include "base/number.h"
#include "client/ensemble.h"
#include "client/rehearsal.h"
#include "client/server_version.h"
#include "command/command.h"
#include "ensemble/membership.h"
#include "node/listing.h"
#include "node/node_json.h"

#include <string_view>

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
  o.text("-v", a.version, "Change it only if this is its version, in hexadecimal.", "version");
  o.file("-file", a.file, "Take the new members from a file; not with -add and -remove.", "path");
  o.text("-members", a.members, "All the members that there are to be; not with -add and -remove.",
         "serverID=host:port1:port2;port3[,…]");
  o.text("-add", a.add, "Members that join, or that change.",
         "serverId=host:port1:port2;port3[,…]");
  o.text("-remove", a.remove, "Members that leave.", "serverId[,…]");
}

std::int64_t parsed_version(const std::string& text) {
  const auto version = java_number_in<std::int64_t>(text, 16);
  if (!version) throw ValueError("-v must be followed by a long (configuration version)");
  return *version;
}

std::optional<std::string> lower(std::optional<std::string> text) {
  if (!text) return text;
  for (char& c : *text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

Reconfiguration requested(const Args& a) {
  const bool whole = a.file || a.members;
  const bool parts = a.add || a.remove;
  if (!whole && !parts) throw SyntaxError("one of -file, -members, -add and -remove is expected");
  Reconfiguration change;
  if (a.version) change.version = parsed_version(*a.version);
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
  return fmt::format("{} voting member{}{}, quorum {}", voters, voters == 1 ? "" : "s",
                     observers == 0 ? "" : fmt::format(" and {} observing", observers),
                     membership.groups ? "by groups" : std::to_string(membership.quorum()));
}

Rehearsed what_becomes_of(const MemberChange& member) {
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
  return {.verb = "ignore", .path = name, .detail = "it is no member"};
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
    detail += "; servers without standaloneEnabled=false refuse to be fewer than 2";
  cx.rehearsal->note({.verb = "reconfigure", .path = "the ensemble", .detail = detail});
  return status::ok;
}

int run(Context& cx, const Args& a) {
  const auto change = requested(a);
  require_newer(cx.client, "/zookeeper/config", "reconfig", cx.stop);
  if (cx.rehearsal) return rehearse(cx, change);
  const auto config = cx.client.reconfigure(change, cx.stop);
  if (cx.out.json()) {
    auto json = Json::object();
    json.set("config", config.data.value_or(""));
    if (a.stat) json.set("stat", stat_json(config.stat));
    print_json(cx, json);
    return status::ok;
  }
  cx.out.line("Committed new configuration:\n{}", cx.out.shown_lines(config.data.value_or("")));
  if (a.stat) print_stat(cx, config.stat);
  return status::ok;
}

}  // namespace

extern const Command reconfig_command = make_command<Args>(
    {.name = "reconfig",
     .group = "Ensemble",
     .summary = "Change the members of the ensemble",
     .keywords = {"member", "ensemble", "cluster", "dynamic", "add", "remove"},
     .details =
         "The servers must run with reconfigEnabled=true, and the session must be allowed to write "
         "/zookeeper/config: as the superuser (addauth digest), or by the ACL of that node. -add "
         "and -remove change some members, -file and -members name all of them. A member is "
         "server.ID=HOST:PORT:PORT[:ROLE];PORT as in the servers' own configuration (quote it: the "
         "semicolon separates commands in -c). A server that joins must run already. In a sandbox "
         "of three servers the superuser is super:sandbox.\n\n"
         "--dry-run tells what would become of each member and of the quorum, and fails as the "
         "servers would where the configuration tells that: another version, a malformed member, a "
         "port that another one has, no voting member left. Who may reconfigure, and whether new "
         "members are in sync, only the servers know. The servers ignore the number of a server "
         "that is no member.",
     .examples = {{"addauth digest super:sandbox", "The superuser of a sandbox."},
                  {"reconfig --dry-run -remove 1", "The members that would be left."},
                  {"reconfig -remove 1", "Server 1 leaves, and drops its clients."},
                  {"reconfig -add 'server.4=127.0.0.1:2888:3888:observer;2181'",
                   "Server 4 joins as an observer."}},
     .json = "config [stat]",
     .zkcli_syntax =
         "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | "
         "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]",
     .writes = true},
    declare, run);
}  // namespace zksh::command_reconfig
