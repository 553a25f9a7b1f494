// health: show whether the ensemble has a quorum, and the state of its servers.
#include "ensemble/health.h"

#include "base/column_table.h"
#include "command/command.h"
#include "command/live_picture.h"
#include "ensemble/server_command.h"
#include "node/node_json.h"

#include <algorithm>

namespace zksh::command_health {
namespace {

struct Args {
  std::vector<std::string> hosts;
  std::optional<std::string> timeout;
  HealthLimits limits;
  std::optional<std::string> latency;
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

void print_plain(Context& cx, const Health& health) {
  for (const auto& m : health.members)
    cx.out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", m.name, cell(m.id), cell(m.role),
                zxid_text(m), cell(m.behind), cell(m.connections), cell(m.outstanding),
                cell(m.mean_latency_us), cell(m.max_latency_us), cell(m.version), state_text(m));
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

void print_json_health(Context& cx, const Health& health) {
  print_json(cx, Json::object()
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
                     .set("members", Json::array(health.members, member_json)));
}

int run(Context& cx, const Args& a) {
  auto limits = a.limits;
  if (a.latency) limits.latency = parse_short_duration(*a.latency, "--max-latency");
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
  if (cx.out.json()) {
    print_json_health(cx, health);
  } else if (cx.out.plain()) {
    print_plain(cx, health);
  } else {
    print_table(cx, health);
    print_verdict(cx, health);
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
         "start. Below it come the verdict and the problems found. No session is needed. zksh uses "
         "the four-letter words srvr, mntr and conf; where a server's whitelist does not allow "
         "them, it asks the AdminServer (see `help 4lw`).\n\nThe exit status is 0 (healthy) if "
         "every member serves and all followers are in sync with the leader. It is 1 (degraded) if "
         "there is a quorum, but a member does not serve, a follower is not in sync, two servers "
         "claim to lead, or a limit is exceeded. It is 3 if there is no quorum, or no leader or no "
         "server answers. Different server versions are only reported.\n\n-t limits the time for "
         "an answer; a frozen server costs no more. Members that only other members name are asked "
         "next, with the same limit. If you name hosts, only those are asked.\n\n-o plain prints a "
         "line for each member with tabs between the fields (server, id, role, zxid, behind, "
         "connections, pending, mean and longest latency in microseconds, version, state), then a "
         "line with the verdict.",
     .examples = {{"health", "Is the ensemble healthy?"},
                  {"health -o json -t 1s", "For monitoring; check the exit status."},
                  {"health --max-latency 500ms --max-pending 100", "Set limits."}},
     .json = "verdict status summary leader memberCount serving voters quorum syncedFollowers "
             "problems notes members",
     .needs = Needs::Nothing,
     .strict = true},
    declare, run);
}  // namespace zksh::command_health
