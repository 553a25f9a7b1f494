// health: show whether the ensemble has a quorum, and the state of its servers.
#include "ensemble/health.h"

#include "base/column_table.h"
#include "command/command.h"
#include "command/live_picture.h"
#include "command/progress.h"
#include "command/work_options.h"
#include "ensemble/deep_health.h"
#include "ensemble/server_command.h"
#include "node/node_json.h"
#include "tree/tree_health.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace zksh::command_health {
namespace {

struct Args {
  std::vector<std::string> hosts;
  std::optional<std::string> timeout;
  HealthLimits limits;
  std::optional<std::string> latency;
  bool deep = false;
  bool no_tree = false;
  WorkOptions work;
};

void declare(Options& o, Args& a) {
  o.words("host", a.hosts,
          "host[:port]: the servers to ask; by default all members of the ensemble.");
  declare_patience(o, a.timeout, "2s");
  o.number("--max-behind", a.limits.behind, "count",
           "Degraded if a server is more than this many transactions behind.");
  o.number("--max-pending", a.limits.outstanding, "count",
           "Degraded if a server has more outstanding requests than this.");
  o.text("--max-latency", a.latency,
         "Degraded if the mean latency of a server is above this: 500ms, 1.5s.", "time");
  o.flag("--deep", a.deep, "Look for trouble that is there, or near; degraded if any is found.");
  o.flag("--no-tree", a.no_tree, "With --deep: leave out what needs a look at every node.");
  declare_work_limits(o, a.work);
}

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string cell(const std::string& text) { return text.empty() ? "-" : text; }

std::string zxid_text(const MemberHealth& member) {
  return member.zxid ? fmt::format("0x{:x}", *member.zxid) : "-";
}

std::string latency_text(const MemberHealth& member) {
  if (!member.mean_latency_us || !member.max_latency_us) return "-";
  return fmt::format("{:.1f}/{}", static_cast<double>(*member.mean_latency_us) / 1000,
                     *member.max_latency_us / 1000);
}

std::string state_text(const MemberHealth& member) {
  if (!member.asked) return "not asked: its client address is not known";
  return member.problem.empty() ? "serves" : member.problem;
}

void print_table(Context& cx, const Health& health) {
  ColumnTable table;
  const auto add = [&](const char* title, bool right, auto&& text_of) {
    return table.add(title, right, health.members, [&](const MemberHealth& member) {
      return escape_for_terminal(text_of(member));
    });
  };
  using Member = const MemberHealth&;
  add("server", false, [](Member m) { return m.name; });
  const auto id = add("id", true, [](Member m) { return cell(m.id); });
  add("role", false, [](Member m) { return cell(m.role); });
  const auto zxid = add("zxid", true, zxid_text);
  add("behind", true, [](Member m) { return cell(m.behind); });
  const auto connections = add("conns", true, [](Member m) { return cell(m.connections); });
  const auto pending = add("pending", true, [](Member m) { return cell(m.outstanding); });
  const auto latency = add("avg/max ms", true, latency_text);
  const auto version = add("version", false, [](Member m) { return cell(m.version); });
  table.set_elastic(add("state", false, state_text));
  std::size_t columns = 0;
  if (cx.out.style().out_is_terminal) {
    constexpr std::size_t least_state = 20;
    for (const auto column : {version, id, zxid, pending, connections, latency})
      if (table.width(least_state) > terminal_size().columns) table.drop(column);
    // Numbers are never cut; long lines wrap.
    columns = std::max(terminal_size().columns, table.width(least_state));
  }
  cx.out.lines(table.lines(columns, terminal_shows_utf8() ? "…" : "..."));
}

void print_verdict(Context& cx, const Health& health) {
  cx.out.line("{}: {}", name_of(verdict_names, health.verdict), cx.out.shown(health.summary));
  for (const auto& problem : health.problems) cx.out.line("- {}", cx.out.shown(problem));
  for (const auto& note : health.notes) cx.out.line("note: {}", cx.out.shown(note));
}

/// "0x1000, 0x1001 and 7 more"; with a colon before it. Empty for none.
std::string sessions_text(const std::vector<std::int64_t>& sessions) {
  constexpr std::size_t most = 3;
  if (sessions.empty()) return {};
  std::vector<std::string> first;
  for (std::size_t i = 0; i < std::min(most, sessions.size()); ++i)
    first.push_back(session_text(sessions[i]));
  return fmt::format(
      ": {}{}", fmt::join(first, ", "),
      sessions.size() > most ? fmt::format(" and {} more", sessions.size() - most) : "");
}

std::string place_text(const HealthFinding& finding) {
  return finding.server + (finding.server.empty() ? "" : ": ") + finding.path +
         (finding.path.empty() ? "" : ": ");
}

/// Checks that were not possible for the same reason share a line.
void print_unchecked(Context& cx, const DeepHealth& deep) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> reasons;
  for (const auto& each : deep.unchecked()) {
    const auto reason = each.server + (each.server.empty() ? "" : ": ") + each.reason;
    auto found = std::ranges::find(reasons, reason, [](const auto& known) { return known.first; });
    if (found == reasons.end()) found = reasons.insert(found, {reason, {}});
    const auto name = name_of(check_names, each.check);
    if (std::ranges::find(found->second, name) == found->second.end())
      found->second.push_back(name);
  }
  for (const auto& [reason, names] : reasons)
    cx.out.line("not checked: {}: {}", fmt::join(names, ", "), cx.out.shown(reason));
}

void print_deep(Context& cx, const DeepHealth& deep) {
  const auto findings = deep.findings();
  cx.out.line("deep: {} of {} checks passed", deep.passed().size(), check_names.size());
  for (const auto& finding : findings) {
    cx.out.line("- {}", cx.out.shown(place_text(finding) + finding.problem +
                                     sessions_text(finding.sessions)));
    cx.out.line("  {}", finding.remedy);
  }
  print_unchecked(cx, deep);
}

void print_plain_deep(Context& cx, const DeepHealth& deep) {
  for (const auto& each : deep.findings())
    cx.out.line("finding\t{}\t{}\t{}\t{}\t{}\t{}\t{}", name_of(check_names, each.check),
                cell(each.server), cx.out.shown(cell(each.path)), cell(each.measured),
                cell(each.limit), cx.out.shown(each.problem), each.remedy);
  for (const auto& each : deep.unchecked())
    cx.out.line("unchecked\t{}\t{}\t{}", name_of(check_names, each.check), cell(each.server),
                cx.out.shown(each.reason));
}

Json finding_json(const HealthFinding& finding) {
  return Json::object()
      .set("check", name_of(check_names, finding.check))
      .set("server", Json::text_or_null(finding.server))
      .set("path", Json::text_or_null(finding.path))
      .set("problem", finding.problem)
      .set("measured", finding.measured)
      .set("limit", finding.limit)
      .set("sessions", Json::array(finding.sessions, session_text))
      .set("remedy", finding.remedy);
}

Json unchecked_json(const Unchecked& unchecked) {
  return Json::object()
      .set("check", name_of(check_names, unchecked.check))
      .set("server", Json::text_or_null(unchecked.server))
      .set("reason", unchecked.reason);
}

void print_plain(Context& cx, const Health& health, const std::optional<DeepHealth>& deep) {
  for (const auto& m : health.members)
    cx.out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", m.name, cell(m.id), cell(m.role),
                zxid_text(m), cell(m.behind), cell(m.connections), cell(m.outstanding),
                cell(m.mean_latency_us), cell(m.max_latency_us), cell(m.version), state_text(m));
  if (deep) print_plain_deep(cx, *deep);
  cx.out.line("{}\t{}", name_of(verdict_names, health.verdict), health.summary);
}

Json member_json(const MemberHealth& m) {
  return Json::object()
      .set("server", m.name)
      .set("serverId", m.id)
      .set("serves", m.serves())
      .set("role", Json::text_or_null(m.role))
      .set("serverVersion", Json::text_or_null(m.version))
      .set("zxid", m.zxid ? Json(zxid_text(m)) : Json())
      .set("behind", m.behind)
      .set("connections", m.connections)
      .set("outstanding", m.outstanding)
      .set("meanLatencyUs", m.mean_latency_us)
      .set("maxLatencyUs", m.max_latency_us)
      .set("nodes", m.nodes)
      .set("watchCount", m.watches)
      .set("pendingSyncs", m.pending_syncs)
      .set("openFiles", m.open_files)
      .set("maxFiles", m.max_files)
      .set("problem", m.serves() ? Json() : Json(state_text(m)));
}

/// As for all commands: a false answer is 1, and no server is no_connection.
int status_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Healthy:
      return status::ok;
    case Verdict::Degraded:
      return status::failure;
    case Verdict::NoQuorum:
      return status::no_connection;
  }
  return status::failure;
}

void print_json_health(Context& cx, const Health& health, const std::optional<DeepHealth>& deep) {
  auto json = Json::object()
                  .set("verdict", name_of(verdict_names, health.verdict))
                  .set("status", status_of(health.verdict))
                  .set("summary", health.summary)
                  .set("leader", Json::text_or_null(health.leader))
                  .set("memberCount", health.members.size())
                  .set("serving", health.serving)
                  .set("voters", health.voters)
                  .set("quorum", health.quorum)
                  .set("syncedFollowers", health.synced_followers)
                  .set("problems", Json::array(health.problems))
                  .set("notes", Json::array(health.notes))
                  .set("members", Json::array(health.members, member_json));
  if (deep)
    json.set("findings", Json::array(deep->findings(), finding_json))
        .set("unchecked", Json::array(deep->unchecked(), unchecked_json))
        .set("passed", Json::array(deep->passed(),
                                   [](Check check) { return Json(name_of(check_names, check)); }));
  print_json(cx, json);
}

constexpr std::array tree_checks{Check::Children, Check::Values, Check::Counters};

void leave_out(DeepHealth& deep, std::span<const Check> checks, const std::string& reason) {
  for (const auto check : checks) deep.add(Unchecked{.check = check, .reason = reason});
}

/// The checks of nodes, of the whole tree whatever the chroot.
void look_at_nodes(Context& cx, const Args& a, std::int64_t largest_answer, DeepHealth& deep) {
  std::vector<Check> left{tree_checks.begin(), tree_checks.end()};
  left.push_back(Check::Quotas);
  try {
    const QuotaPlace place(cx.client, cx.stop);
    check_quotas(place.client(), deep, cx.stop);
    left.pop_back();
    if (a.no_tree) return leave_out(deep, left, "left out (--no-tree)");
    Progress progress(cx.out, cx.background, "nodes");
    check_nodes(
        place.client(), largest_answer, a.work.limits(), [&] { progress.advance(); }, deep,
        cx.stop);
  } catch (const ZkError& error) {
    leave_out(deep, left, error.what());
  }
}

DeepHealth look_deeper(Context& cx, const Args& a, const ServersToAsk& asked,
                       const EnsembleAnswers& all, Health& health) {
  DeepHealth deep;
  const auto details = ask_details(all, health.members, asked.admin_servers,
                                   patience_of(a.timeout, std::chrono::seconds(2)), cx.stop);
  check_servers(details, deep);
  const auto largest = largest_answer(details);
  const auto no_nodes = !a.hosts.empty()                      ? "only the named servers were asked"
                        : health.verdict == Verdict::NoQuorum ? "there is no quorum"
                                                              : "";
  if (*no_nodes != '\0') {
    leave_out(deep, tree_checks, no_nodes);
    leave_out(deep, std::array{Check::Quotas}, no_nodes);
  } else {
    look_at_nodes(cx, a, largest.value_or(usual_largest_answer), deep);
    if (!largest && !a.no_tree)
      health.notes.push_back(
          fmt::format("jute.maxbuffer is not known, since only an AdminServer tells; taken for the "
                      "usual {} bytes",
                      usual_largest_answer));
  }
  if (!deep.findings().empty() && health.verdict == Verdict::Healthy)
    health.verdict = Verdict::Degraded;
  return deep;
}

int run(Context& cx, const Args& a) {
  auto limits = a.limits;
  if (a.latency) limits.latency = parse_short_duration(*a.latency, "--max-latency");
  if (!a.deep && (a.no_tree || a.work.rate || a.work.window))
    throw UsageError("--no-tree, --rate and --window need --deep");
  a.work.limits();  // a wrong number is an error before anything is asked
  const auto asked = servers_to_ask(cx, a.hosts);
  const auto all =
      ask_members(asked, health_words(), patience_of(a.timeout, std::chrono::seconds(2)), cx.stop);
  std::vector<MemberHealth> members;
  members.reserve(all.members.size());
  for (const auto& member : all.members) members.push_back(read_health(member));
  auto health = judge(std::move(members), all.membership, limits);
  if (!all.mute.empty() && a.hosts.empty())
    health.notes.push_back(
        fmt::format("{} does not allow conf (4lw.commands.whitelist), so members that the connect "
                    "string does not name are unknown",
                    all.mute));
  std::optional<DeepHealth> deep;
  if (a.deep) deep = look_deeper(cx, a, asked, all, health);
  if (cx.out.json()) {
    print_json_health(cx, health, deep);
  } else if (cx.out.plain()) {
    print_plain(cx, health, deep);
  } else {
    print_table(cx, health);
    print_verdict(cx, health);
    if (deep) print_deep(cx, *deep);
  }
  return status_of(health.verdict);
}

}  // namespace

extern const Command health_command = make_command<Args>(
    {.name = "health",
     .group = "Servers",
     .summary = "Check the health of the ensemble",
     .keywords = {"status", "quorum", "monitor", "ruok", "cluster", "ensemble"},
     .details =
         "Asks every member of the ensemble and prints a table: role, last transaction (zxid), "
         "transactions behind the leader, connections, outstanding requests, and latency since the "
         "start. Below it come the verdict and the problems found. No session is needed, except "
         "for --deep. zksh uses the four-letter words srvr, mntr and conf; where a server's "
         "whitelist does not allow them, it asks the AdminServer (see `help 4lw`).\n\nThe exit "
         "status is 0 (healthy) if "
         "every member serves and all followers are in sync with the leader. It is 1 (degraded) if "
         "there is a quorum, but a member does not serve, a follower is not in sync, two servers "
         "claim to lead, a limit is exceeded, or --deep finds something. It is 3 if there is no "
         "quorum, or no leader or no server answers. Different server versions are only "
         "reported.\n\n-t limits the time for "
         "an answer; a frozen server costs no more. Members that only other members name are asked "
         "next, with the same limit. If you name hosts, only those are asked.\n\n--deep looks for "
         "trouble that is there, or near, and prints each with its figure and a remedy: members "
         "whose trees differ (digests; ZooKeeper 3.6 and later); unrecoverable errors, refused "
         "large requests and refused connections since the start (mntr); a host with 80% of the "
         "connections that maxClientCnxns allows it; 80% of the file descriptors in use; logs of "
         "more than 1 GiB and ten times the data while nothing purges them; passwords and a "
         "superDigest that the AdminServer shows; lists of children and values of half of "
         "jute.maxbuffer; counters of children above 1600000000; and quotas of which 90% are used. "
         "What could not be checked is listed, and does not count as passed. Every node is visited "
         "once, also those outside the chroot; --rate limits that, --no-tree leaves it out.\n\n-o "
         "plain prints a "
         "line for each member with tabs between the fields (server, id, role, zxid, behind, "
         "connections, pending, mean and longest latency in microseconds, version, state), with "
         "--deep a line for each finding (finding, check, server, node, figure, limit, problem, "
         "remedy) and each check that was not possible (unchecked, check, server, reason), then a "
         "line with the verdict.",
     .examples = {{"health", "Is the ensemble healthy?"},
                  {"health -o json -t 1s", "For monitoring; check the exit status."},
                  {"health --max-latency 500ms --max-pending 100", "Set limits."},
                  {"health --deep --rate 1000", "Look for trouble, at most 1000 nodes a second."}},
     .json = "verdict status summary leader memberCount serving voters quorum syncedFollowers "
             "problems notes members [findings] [unchecked] [passed]",
     .needs = Needs::Nothing,
     .strict = true},
    declare, run);
}  // namespace zksh::command_health
