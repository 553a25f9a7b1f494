// health: show whether the ensemble has a quorum, and the state of its servers.
#include "ensemble/health.h"

#include "base/mapped.h"
#include "base/number.h"
#include "base/time.h"
#include "client/client.h"
#include "client/node_path.h"
#include "command/command.h"
#include "command/prose.h"
#include "command/record.h"
#include "command/screen.h"
#include "command/work.h"
#include "ensemble/deep_health.h"
#include "ensemble/server_command.h"
#include "node/node_json.h"
#include "node/quota.h"
#include "tree/walk.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace zksh::command_health {
namespace {

using namespace std::chrono_literals;

struct Args {
  std::vector<std::string> hosts;
  Patience patience{std::chrono::seconds(2)};
  HealthLimits limits;
  std::optional<std::string> latency;
  bool deep = false;
  bool no_tree = false;
  WorkOptions work;
};

void declare(Options& o, Args& a) {
  declare_hosts(o, a.hosts);
  a.patience.declare(o);
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

std::string zxid_of(const MemberHealth& member) {
  return member.zxid ? zxid_text(*member.zxid) : "";
}

std::string latency_of(const MemberHealth& member) {
  if (!member.mean_latency_us || !member.max_latency_us) return "";
  return fmt::format("{:.1f}/{}", static_cast<double>(*member.mean_latency_us) / 1000,
                     *member.max_latency_us / 1000);
}

std::string state_of(const MemberHealth& member) {
  if (!member.member) return "not a member";
  if (!member.asked) return "not asked: its client address is not known";
  return member.problem.empty() ? "serves" : member.problem;
}

std::string problem_of(const MemberHealth& member) {
  return member.serves() && member.member ? "" : state_of(member);
}

Record<MemberHealth> member_record() {
  using Member = MemberHealth;
  return {
      {"server", &Member::name, {.title = "server"}},
      {"serverId", &Member::id, {.title = "id", .right = true, .gives_way = 2}},
      {"serves", &Member::serves, {.plain = false}},
      {"opensSession", &Member::session, {.plain = false}},
      {"member", &Member::member, {.plain = false}},
      {"role", &Member::role, {.title = "role", .gives_way = 8}},
      {"serverVersion", &Member::version, {.plain = false}},
      {"zxid", zxid_of, {.title = "zxid", .right = true, .gives_way = 3}},
      {"behind", &Member::behind, {.title = "behind", .right = true, .gives_way = 7}},
      {"connections", &Member::connections, {.title = "conns", .right = true, .gives_way = 5}},
      {"outstanding", &Member::outstanding, {.title = "pending", .right = true, .gives_way = 4}},
      {{}, latency_of, {.title = "avg/max ms", .right = true, .plain = false, .gives_way = 6}},
      {"meanLatencyUs", &Member::mean_latency_us},
      {"maxLatencyUs", &Member::max_latency_us},
      {"nodes", &Member::nodes, {.plain = false}},
      {"watchCount", &Member::watches, {.plain = false}},
      {"pendingSyncs", &Member::pending_syncs, {.plain = false}},
      {"openFiles", &Member::open_files, {.plain = false}},
      {"maxFiles", &Member::max_files, {.plain = false}},
      {{}, &Member::version, {.title = "version", .gives_way = 1}},
      {{}, state_of, {.title = "state", .least_width = 20}},
      {"problem", problem_of, {.plain = false}},
  };
}

void print_verdict(Context& cx, const Health& health) {
  print_prose(cx.out, "{}: {}", name_of(verdict_names, health.verdict),
              cx.out.shown(health.summary));
  for (const auto& problem : health.problems) print_prose(cx.out, "- {}", cx.out.shown(problem));
  for (const auto& note : health.notes) print_prose(cx.out, "note: {}", cx.out.shown(note));
}

/// ": 0x1000, 0x1001, 0x1002 and 7 more"; empty for none.
std::string sessions_text(const std::vector<std::int64_t>& sessions) {
  constexpr std::size_t most = 3;
  if (sessions.empty()) return {};
  const auto first =
      mapped(std::span(sessions).first(std::min(most, sessions.size())), session_text);
  return fmt::format(
      ": {}{}", fmt::join(first, ", "),
      sessions.size() > most ? fmt::format(" and {} more", sessions.size() - most) : "");
}

/// Checks that were not possible for the same reason share a line, whatever the servers. What a
/// reason has in parentheses differs between servers, and is not compared.
void print_unchecked(Context& cx, const DeepHealth& deep) {
  struct Reason {
    std::string text;  ///< whole
    std::vector<std::string_view> checks{};
    std::set<std::string> servers{};
  };
  std::map<std::string, Reason> reasons;
  std::vector<const Reason*> in_order;
  for (const auto& each : deep.unchecked()) {
    const auto [place, fresh] =
        reasons.try_emplace(each.reason.substr(0, each.reason.find(" (")), Reason{each.reason});
    auto& reason = place->second;
    if (fresh) in_order.push_back(&reason);
    const auto name = name_of(check_names, each.check);
    if (std::ranges::find(reason.checks, name) == reason.checks.end())
      reason.checks.push_back(name);
    if (!each.server.empty()) reason.servers.insert(each.server);
  }
  for (const auto* const reason : in_order)
    print_prose(cx.out, "not checked: {}: {}{}{}", fmt::join(reason->checks, ", "),
                cx.out.shown(fmt::format("{}", fmt::join(reason->servers, ", "))),
                reason->servers.empty() ? "" : ": ", cx.out.shown(reason->text));
}

void print_deep(Context& cx, const DeepHealth& deep) {
  const auto passed =
      mapped(deep.passed(), [](Check check) { return name_of(check_names, check); });
  print_prose(cx.out, "checked, and well: {}",
              passed.empty() ? "nothing" : fmt::format("{}", fmt::join(passed, ", ")));
  for (const auto& finding : deep.findings()) {
    std::string place;
    for (const auto& name : {finding.server, finding.path})
      if (!name.empty()) place += name + ": ";
    print_prose(cx.out, "- {}",
                cx.out.shown(place + finding.problem + sessions_text(finding.sessions)));
    print_prose(cx.out, "  {}", finding.remedy);
  }
  print_unchecked(cx, deep);
}

template <class Row>
std::string check_of(const Row& row) {
  return std::string(name_of(check_names, row.check));
}

FieldValue sessions_of(const HealthFinding& finding) {
  return {"", Json::array(finding.sessions, session_text)};
}

Record<HealthFinding> finding_record() {
  return {
      {"check", check_of<HealthFinding>},
      {"server", &HealthFinding::server},
      {"path", &HealthFinding::path},
      {"problem", &HealthFinding::problem},
      {"measured", &HealthFinding::measured},
      {"limit", &HealthFinding::limit},
      {"sessions", sessions_of, {.plain = false}},
      {"remedy", &HealthFinding::remedy},
  };
}

Record<Unchecked> unchecked_record() {
  return {
      {"check", check_of<Unchecked>},
      {"server", &Unchecked::server},
      {"reason", &Unchecked::reason},
  };
}

void print_plain(Context& cx, const Health& health, const std::optional<DeepHealth>& deep) {
  print_rows(cx.out, "", member_record(), health.members);
  if (deep) {
    print_rows(cx.out, "finding\t", finding_record(), deep->findings());
    print_rows(cx.out, "unchecked\t", unchecked_record(), deep->unchecked());
  }
  cx.out.line("{}\t{}", name_of(verdict_names, health.verdict), health.summary);
}

/// As for all commands: a false answer is 1, and no server is no_connection.
int status_of(Verdict verdict) {
  return verdict == Verdict::Healthy    ? status::ok
         : verdict == Verdict::Degraded ? status::failure
                                        : status::no_connection;
}

void print_json_health(Context& cx, const Health& health, const std::optional<DeepHealth>& deep) {
  auto json = Json::object()
                  .set("verdict", name_of(verdict_names, health.verdict))
                  .set("status", status_of(health.verdict))
                  .set("summary", health.summary)
                  .set("leader", Json::text_or_null(health.leader))
                  .set("memberCount", std::ranges::count_if(health.members, &MemberHealth::member))
                  .set("serving", health.serving)
                  .set("voters", health.voters)
                  .set("quorum", health.quorum)
                  .set("syncedFollowers", health.synced_followers)
                  .set("problems", Json::array(health.problems))
                  .set("notes", Json::array(health.notes))
                  .set("members", rows_json(member_record(), health.members));
  if (deep)
    json.set("findings", rows_json(finding_record(), deep->findings()))
        .set("unchecked", rows_json(unchecked_record(), deep->unchecked()))
        .set("passed", Json::array(deep->passed(),
                                   [](Check check) { return Json(name_of(check_names, check)); }));
  print_json(cx, json);
}

/// All but the last need a look at every node.
constexpr std::array node_checks{Check::Children, Check::Values, Check::Counters, Check::Quotas};
constexpr auto tree_checks = std::span(node_checks).first<3>();

void leave_out(DeepHealth& deep, std::span<const Check> checks, const std::string& reason) {
  for (const auto check : checks) deep.add(Unchecked{.check = check, .reason = reason});
}

/// As servers send it: each name with its length, and the Stat.
std::int64_t list_size(const NameList& names) {
  constexpr std::int64_t length = 4;
  constexpr std::int64_t stat = 68;
  if (names.empty()) return 0;
  std::int64_t size = length + stat;
  for (std::size_t i = 0; i < names.size(); ++i)
    size += length + static_cast<std::int64_t>(names[i].size());
  return size;
}

void check_quota(const std::string& path, const QuotaText& limits, const QuotaText& usage,
                 DeepHealth& deep) {
  for (const auto& [what, hard, noun] :
       {std::tuple{QuotaText::count, QuotaText::count_hard_limit, "nodes"},
        std::tuple{QuotaText::bytes, QuotaText::byte_hard_limit, "bytes"}})
    for (const auto limit : {what, hard}) {
      const auto most = limits.get(limit);
      const auto used = usage.get(what);
      if (most < 0 || used <= 0 || used < most - most / 10) continue;
      deep.add(
          HealthFinding{.check = Check::Quotas,
                        .path = path,
                        .problem = fmt::format("{} of the {} {} of its {} quota are used", used,
                                               most, noun, limit == hard ? "hard" : "soft"),
                        .measured = used,
                        .limit = most,
                        .remedy = "Delete what nobody needs below it, or raise the quota "
                                  "(setquota)."});
    }
}

/// Visits all nodes that `client` can see. Finds lists of children and values that take at least
/// half of `largest_answer` bytes, and nodes whose counter of children nears the end of its 32
/// bits.
void check_nodes(Client& client, std::int64_t largest_answer, const WorkLimits& limits,
                 const std::function<void()>& visited, DeepHealth& deep,
                 const std::stop_token& stop) {
  constexpr std::int64_t most_changes = 1'600'000'000;
  std::size_t hidden = 0;
  std::string first_hidden;
  const auto check_size = [&](Check check, const std::string& path, std::int64_t bytes,
                              const std::string& what, const char* remedy) {
    if (bytes < largest_answer / 2) return;
    deep.add(HealthFinding{
        .check = check,
        .path = path,
        .problem = fmt::format("{} takes {} bytes of the {} that jute.maxbuffer allows", what,
                               bytes, largest_answer),
        .measured = bytes,
        .limit = largest_answer,
        .remedy = remedy});
  };
  WalkPlan plan{.tops = {"/"}, .limits = limits};
  plan.enter = [&](TreeNode& node) {
    visited();
    if ((node.hides_children() || !node.stat_readable) && hidden++ == 0) first_hidden = node.path;
    if (!node.stat_readable) return;
    check_size(Check::Children, node.path, list_size(*node.children),
               fmt::format("the list of its children ({})", node.children->size()),
               "Delete children that nobody needs, or spread them over several parents.");
    check_size(Check::Values, node.path, node.stat.data_length, "its value",
               "Keep large values elsewhere, or split them.");
    // The Stat shows the number of changes in 32 bits, and -1 where only one child was ever there.
    const auto counter = sequence_counter(node.stat);
    const auto cversion = 2 * counter - node.stat.num_children;
    if (cversion <= most_changes) return;
    deep.add(HealthFinding{
        .check = Check::Counters,
        .path = node.path,
        .problem = fmt::format("its list of children was changed {} times (cversion), and its next "
                               "sequential child gets the number {}",
                               cversion, counter),
        .measured = cversion,
        .limit = most_changes,
        .remedy = "Use a new parent before the number passes 2147483647, after which it is "
                  "negative."});
  };
  walk_tree(client, plan, stop);
  if (hidden == 0) return;
  leave_out(deep, tree_checks,
            fmt::format("no permission to look at {} and what is below: {}",
                        counted(hidden, "node"), first_hidden));
}

/// Finds quotas that are used to nine tenths or more. `client` has no chroot.
void check_quotas(Client& client, DeepHealth& deep, const std::stop_token& stop) {
  const std::string root(quota_root);
  std::string path;
  std::optional<QuotaText> limits;  // of the node last visited
  std::size_t hidden = 0;
  WalkPlan plan{.tops = {root}, .may_be_missing = true, .data = true};
  plan.enter = [&](TreeNode& node) {
    hidden += node.readable ? 0 : 1;
    const auto name = base_name(node.path);
    if (name == limits_name) {
      limits = QuotaText::parse(node.data.value_or(""));
      path = node.path.substr(root.size(), node.path.size() - root.size() - name.size() - 1);
    } else if (name == usage_name && limits) {
      const auto usage = QuotaText::parse(node.data.value_or(""));
      if (usage) check_quota(path.empty() ? "/" : path, *limits, *usage, deep);
      limits.reset();
    }
  };
  walk_tree(client, plan, stop);
  if (hidden > 0)
    leave_out(deep, std::array{Check::Quotas},
              fmt::format("no permission to read {} below {}", counted(hidden, "node"), root));
}

/// The checks of nodes, of the whole tree whatever the chroot.
void look_at_nodes(Context& cx, const Args& a, std::int64_t largest_answer, DeepHealth& deep) {
  std::span<const Check> left = node_checks;
  try {
    const QuotaPlace place(cx.client, cx.stop);
    check_quotas(place.client(), deep, cx.stop);
    left = tree_checks;
    if (a.no_tree) return leave_out(deep, left, "left out (--no-tree)");
    Progress progress(cx.out, cx.background, "nodes");
    check_nodes(
        place.client(), largest_answer, a.work.limits(), [&] { progress.advance(); }, deep,
        cx.stop);
  } catch (const ZkError& error) {
    leave_out(deep, left, error.what());
  }
}

DeepHealth look_deeper(Context& cx, const Args& a, std::vector<MemberDetails> details,
                       Health& health) {
  DeepHealth deep;
  for (std::size_t i = 0; i < details.size(); ++i) details[i].health = health.members[i];
  check_servers(details, deep);
  const auto largest = largest_answer(details);
  const auto no_nodes = !a.hosts.empty()                      ? "only the named servers were asked"
                        : health.verdict == Verdict::NoQuorum ? "there is no quorum"
                                                              : "";
  if (*no_nodes != '\0') {
    leave_out(deep, node_checks, no_nodes);
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

/// Opens a session with each server that serves, all at once, with the TLS and SASL of this one,
/// and closes them again: both are transactions, which the ensemble must commit; that they answer
/// words shows less. Sets `session` of each that was tried, and the problem of each that opened
/// none in `time`; one that refuses the identity gets a note, as nothing is known of its sessions
/// then. `answers` are the members', in the same order. Blocks for `time`, and for two seconds more
/// if a server falls silent.
void try_sessions(Context& cx, const std::vector<MemberAnswers>& answers,
                  std::vector<MemberHealth>& members, std::chrono::milliseconds time) {
  std::vector<std::pair<MemberHealth*, std::unique_ptr<Client>>> trials;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].serves()) continue;
    trials.emplace_back(&members[i], cx.client.another());
    trials.back().second->open(answers[i].address.text());
  }
  cx.monitor().wait_until(cx.stop, Clock::now() + time, [&](const Monitor::Held& held) {
    return std::ranges::all_of(trials, [&](const auto& trial) {
      const auto state = trial.second->state(held);
      return is_connected(state) || state == SessionState::AuthFailed;
    });
  });
  if (cx.stop.stop_requested()) throw Cancelled();
  for (const auto& [member, client] : trials) {
    const auto state = client->current_state();
    if (state == SessionState::AuthFailed) {
      member->note += (member->note.empty() ? "" : "; ") +
                      std::string("no session was tried, as it refuses the identity of this zksh");
      continue;
    }
    member->session = is_connected(state);
    if (is_connected(state)) continue;
    const auto waiting =
        static_cast<std::size_t>(std::max<std::int64_t>(member->outstanding.value_or(0), 0));
    member->problem = fmt::format(
        "it answers srvr, but opens no session within {}{}", short_time(time),
        waiting == 0
            ? ""
            : fmt::format("; {} {}", counted(waiting, "request"), waiting == 1 ? "waits" : "wait"));
  }
  // All at once: a server that does not answer takes a second or two.
  for (const auto& [member, client] : trials) client->begin_close();
  for (const auto& [member, client] : trials) client->close();
}

int run(Context& cx, const Args& a) {
  auto limits = a.limits;
  if (a.latency) limits.latency = parse_short_duration(*a.latency, "--max-latency");
  if (!a.deep && (a.no_tree || a.work.rate || a.work.window))
    throw UsageError("--no-tree, --rate and --window need --deep");
  a.work.limits();  // rejects a wrong number before asking anything
  const auto asked = servers_to_ask(cx, a.hosts);
  const auto time = a.patience.time();
  const auto all = ask_members(asked, health_words(), time, cx.stop);
  auto members = mapped(all.members, read_health);
  std::vector<MemberDetails> details;  // before this zksh is one of the servers' clients
  if (a.deep) details = ask_details(all, members, asked.admin_servers, time, cx.stop);
  try_sessions(cx, all.members, members, a.patience.time_or(1s));
  auto health = judge(std::move(members), all.membership, limits);
  if (!all.mute.empty() && a.hosts.empty())
    health.notes.push_back(
        fmt::format("{} does not allow conf (4lw.commands.whitelist), so members that the connect "
                    "string does not name are unknown",
                    all.mute));
  std::optional<DeepHealth> deep;
  if (a.deep) deep = look_deeper(cx, a, std::move(details), health);
  if (cx.out.json()) {
    print_json_health(cx, health, deep);
  } else if (cx.out.plain()) {
    print_plain(cx, health, deep);
  } else {
    cx.out.lines(table_lines(member_record(), health.members, result_columns(cx.out), cut_mark()));
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
     .keywords = {"status", "quorum", "monitor", "ruok", "cluster", "ensemble", "info", "endpoint",
                  "leader"},
     .details =
         "Asks every member of the ensemble and prints a table: role, last transaction (zxid), "
         "transactions behind the leader, connections, outstanding requests, and latency since the "
         "start. Below it come the verdict and the problems found. To see that clients can "
         "connect, it opens a session with each member that serves, and closes it at once; one "
         "that opens none within a second, or -t, does not serve. zksh uses the four-letter words "
         "srvr, mntr and conf; where a server's whitelist does not allow them, it asks the "
         "AdminServer (see `help 4lw`).\n\nThe exit status is 0 (healthy) if every member serves "
         "and all followers are in sync with the leader. It is 1 (degraded) if there is a quorum, "
         "but a member does not serve, a follower is not in sync, two servers claim to lead, a "
         "limit is exceeded, or --deep finds something. It is 3 if there is no quorum, or no "
         "leader or no server answers. Different server versions, and servers that are not members "
         "(removed by `reconfig`, but not stopped), are only reported.\n\n-t limits the time for "
         "an answer; a frozen server costs no more. Members that only other members name are asked "
         "next, with the same limit. If you name hosts, only those are asked.\n\n--deep looks for "
         "trouble that is there, or near, and prints each with its figure and a remedy: members "
         "whose trees differ (digests; ZooKeeper 3.6 and later); unrecoverable errors, refused "
         "large requests and refused connections since the start (mntr); a host with 80% of the "
         "connections that maxClientCnxns allows it; 80% of the file descriptors in use; logs of "
         "more than 1 GiB and ten times the data while nothing purges them; passwords and a "
         "superDigest that the AdminServer shows; lists of children and values of half of "
         "jute.maxbuffer; counters of children above 1600000000; and quotas that are 90% used. "
         "What could not be checked is listed, and does not count as passed. Every node is visited "
         "once, also those outside the chroot; --rate limits that, --no-tree leaves it out.\n\n-o "
         "plain prints a line for each member with tabs between the fields (server, id, role, "
         "zxid, behind, connections, pending, mean and longest latency in microseconds, version, "
         "state), with --deep a line for each finding (finding, check, server, node, problem, "
         "figure, limit, remedy) and each check that was not possible (unchecked, check, server, "
         "reason), then a line with the verdict.",
     .examples = {{"health", "Is the ensemble healthy?"},
                  {"health -o json -t 1s", "For monitoring; check the exit status."},
                  {"health --max-latency 500ms --max-pending 100", "Set limits."},
                  {"health --deep --rate 1000", "Look for trouble, at most 1000 nodes a second."}},
     .json = "verdict status summary leader memberCount serving voters quorum syncedFollowers "
             "problems notes members [findings] [unchecked] [passed]",
     .json_fields = {{"findings", "list of Finding", "With --deep: what is wrong."},
                     {"memberCount", "integer", "How many members there are."},
                     {"members", "list of Member", "The servers."},
                     {"notes", "list of string", "Notes that are not problems."},
                     {"passed", "list of string", "The checks that found nothing."},
                     {"problems", "list of string", "What is wrong with the ensemble."},
                     {"quorum", "integer?", "How many voters must serve."},
                     {"serving", "integer", "How many servers serve."},
                     {"summary", "string", "A summary in one sentence."},
                     {"syncedFollowers", "integer?", "Followers that are in sync."},
                     {"unchecked", "list of Unchecked",
                      "With --deep: the checks that were not possible."},
                     {"verdict", "string", "healthy, degraded or no quorum."},
                     {"voters", "integer", "How many servers vote."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_health
