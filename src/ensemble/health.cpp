// Health: evaluates the answers of an ensemble's servers: who serves, leads and lags.
#include "ensemble/health.h"

#include "base/number.h"
#include "base/time.h"
#include "ensemble/admin_server.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace zksh {
namespace {

/// Converts milliseconds, perhaps with a fraction.
std::optional<std::int64_t> microseconds(std::string_view text) {
  const auto value = leading_decimal(text);
  if (!value || !value->rest.empty() || !(value->number < 1e12)) return std::nullopt;
  return std::chrono::round<std::chrono::microseconds>(
             std::chrono::duration<double, std::milli>(value->number))
      .count();
}

/// The leading number or version; the rest of the line is ignored.
std::string word_of(std::string_view text) {
  const auto end =
      text.find_first_not_of("0123456789.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return std::string(text.substr(0, std::min({end, text.size(), std::size_t{32}})));
}

constexpr std::array<std::string_view, 5> roles{"leader", "follower", "observer", "standalone",
                                                "read-only"};

std::string known_role(std::string_view text) {
  return std::ranges::find(roles, text) == roles.end() ? "" : std::string(text);
}

void read_srvr(std::string_view srvr, MemberHealth& member) {
  member.role = known_role(answer_field(srvr, "Mode"));
  member.version = word_of(answer_field(srvr, "Zookeeper version"));
  if (const auto zxid = answer_field(srvr, "Zxid"); zxid.starts_with("0x"))
    member.zxid = number_in<std::int64_t>(std::string_view(zxid).substr(2), 16);
  // "min/avg/max"
  const auto latency = answer_field(srvr, "Latency min/avg/max");
  const auto first = latency.find('/');
  const auto last = latency.rfind('/');
  if (first != std::string::npos && last > first) {
    member.mean_latency_us =
        microseconds(std::string_view(latency).substr(first + 1, last - first - 1));
    member.max_latency_us = microseconds(std::string_view(latency).substr(last + 1));
  }
  member.connections = number_field(srvr, "Connections");
  member.outstanding = number_field(srvr, "Outstanding");
  member.nodes = number_field(srvr, "Node count");
}

void read_mntr(std::string_view mntr, MemberHealth& member) {
  if (member.role.empty()) {
    member.role = known_role(answer_field(mntr, "zk_server_state"));
    member.version = word_of(answer_field(mntr, "zk_version"));
    member.mean_latency_us = microseconds(answer_field(mntr, "zk_avg_latency"));
    member.max_latency_us = microseconds(answer_field(mntr, "zk_max_latency"));
    member.connections = number_field(mntr, "zk_num_alive_connections");
    member.outstanding = number_field(mntr, "zk_outstanding_requests");
    member.nodes = number_field(mntr, "zk_znode_count");
  }
  member.watches = number_field(mntr, "zk_watch_count");
  member.synced_followers = number_field(mntr, "zk_synced_followers");
  // Since 3.6 servers also report how many of these follow without being members.
  if (member.synced_followers)
    *member.synced_followers -=
        std::clamp<std::int64_t>(number_field(mntr, "zk_synced_non_voting_followers").value_or(0),
                                 0, std::max<std::int64_t>(*member.synced_followers, 0));
  member.pending_syncs = number_field(mntr, "zk_pending_syncs");
  member.open_files = number_field(mntr, "zk_open_file_descriptor_count");
  member.max_files = number_field(mntr, "zk_max_file_descriptor_count");
}

/// Computes lags against the leader, or without one against the newest zxid.
void find_lags(std::vector<MemberHealth>& members) {
  std::optional<std::int64_t> newest;
  bool from_leader = false;
  for (const auto& member : members) {
    if (!member.serves() || !member.zxid || member.role == "standalone" || from_leader) continue;
    from_leader = member.role == "leader";
    newest = from_leader ? member.zxid : std::max(newest, member.zxid);
  }
  for (auto& member : members) {
    if (!member.serves() || !member.zxid || !newest || member.role == "standalone") continue;
    if (epoch_of(*member.zxid) == epoch_of(*newest))
      // A server asked a moment after the leader may have seen more.
      member.behind = std::max<std::int64_t>(counter_of(*newest) - counter_of(*member.zxid), 0);
    else if (counter_of(*newest) == 0)
      member.behind = 0;  // nothing was written since this leader was elected
  }
}

class Judge {
 public:
  Judge(std::vector<MemberHealth> members, const std::optional<Membership>& membership,
        const HealthLimits& limits)
      : membership_(membership), limits_(limits) {
    health_.members = std::move(members);
  }

  Health verdict() {
    for (auto& each : health_.members)
      each.member = !membership_ || !each.id || membership_->members.contains(*each.id);
    find_lags(health_.members);
    count();
    for (const auto& member : health_.members) look_at(member);
    std::set<std::string> versions;
    for (const auto& member : health_.members)
      if (member.serves() && !member.version.empty()) versions.insert(member.version);
    if (versions.size() > 1)
      health_.notes.push_back(fmt::format("versions differ: {}", fmt::join(versions, ", ")));
    if (alone_)
      judge_alone();
    else
      judge_ensemble();
    if (health_.verdict != Verdict::NoQuorum) health_.summary += "; " + sessions();
    return std::move(health_);
  }

 private:
  void count() {
    auto& all = health_.members;
    const auto count_if = [&](auto&& is) {
      return static_cast<std::size_t>(std::ranges::count_if(all, is));
    };
    members_ = count_if(&MemberHealth::member);
    health_.serving =
        count_if([](const MemberHealth& each) { return each.member && each.serves(); });
    voting_ = count_if(
        [](const MemberHealth& each) { return each.member && each.serves() && each.votes(); });
    const auto standing =
        count_if([](const MemberHealth& each) { return each.role == "standalone"; });
    alone_ = standing > 0 && std::ranges::none_of(all, [](const MemberHealth& each) {
               return each.serves() && each.role != "standalone";
             });
    const auto observers =
        count_if([](const MemberHealth& each) { return each.role == "observer"; });
    health_.voters = membership_ ? membership_->voters() : all.size() - observers;
    health_.quorum = alone_ ? 1 : health_.voters / 2 + 1;
    all_asked_ = membership_ && members_ >= membership_->members.size() &&
                 std::ranges::all_of(all, &MemberHealth::asked);
  }

  void look_at(const MemberHealth& member) {
    auto& problems = health_.problems;
    if (!member.member) {
      health_.notes.push_back(fmt::format(
          "{}: not a member of the ensemble (any more), but {}; stop it, or add it (help reconfig)",
          member.name, member.serves() ? "it still serves clients" : "it runs"));
      return;
    }
    if (!member.asked) {
      health_.notes.push_back(
          fmt::format("{}: not asked, since its client address is not known", member.name));
      return;
    }
    if (!member.problem.empty()) problems.push_back(member.name + ": " + member.problem);
    if (member.role == "read-only")
      problems.push_back(member.name + ": read-only, since it has no quorum");
    if (!member.note.empty()) health_.notes.push_back(member.name + ": " + member.note);
    if (limits_.behind && member.behind.value_or(0) > *limits_.behind)
      problems.push_back(fmt::format("{}: {} transactions behind", member.name, *member.behind));
    if (limits_.outstanding && member.outstanding.value_or(0) > *limits_.outstanding)
      problems.push_back(
          fmt::format("{}: {} outstanding requests", member.name, *member.outstanding));
    if (limits_.latency && member.mean_latency_us.value_or(0) > limits_.latency->count())
      problems.push_back(
          fmt::format("{}: the mean latency is {}", member.name,
                      short_time(std::chrono::microseconds(*member.mean_latency_us))));
    if (member.open_files && member.max_files && *member.open_files > *member.max_files / 10 * 9)
      problems.push_back(fmt::format("{}: {} of {} file descriptors are in use", member.name,
                                     *member.open_files, *member.max_files));
  }

  /// What is known of the sessions of the members that serve.
  std::string sessions() const {
    const auto tried = static_cast<std::size_t>(std::ranges::count_if(
        health_.members,
        [](const MemberHealth& each) { return each.member && each.serves() && each.session; }));
    if (tried == 0) return "no session was tried";
    if (tried < health_.serving) return fmt::format("sessions were tried at {} of these", tried);
    return tried == 1 ? "it opens sessions" : "each opens sessions";
  }

  void judge_alone() {
    if (health_.serving == 0) {
      health_.verdict = Verdict::NoQuorum;
      health_.summary = health_.members.size() == 1 ? "a standalone server, which opens no session"
                                                    : "no server opens a session";
      return;
    }
    health_.summary = health_.members.size() == 1
                          ? "a standalone server, which is serving"
                          : fmt::format("{} of {} serving, each standalone", health_.serving,
                                        counted(health_.members.size(), "server"));
    if (!health_.problems.empty()) health_.verdict = Verdict::Degraded;
  }

  void judge_ensemble() {
    find_leader();
    std::string lacks;
    const bool answers = std::ranges::any_of(health_.members, &MemberHealth::answers);
    if (!answers)
      lacks = health_.members.size() == 1 ? "the server does not answer" : "no server answers";
    else if (!hang_without_leader() && voting_ < health_.quorum && (all_asked_ || voting_ == 0))
      lacks = fmt::format("{} serve{}, but {} must", counted(voting_, "voting member"),
                          voting_ == 1 ? "s" : "", health_.quorum);
    else if (hang_without_leader() || (health_.leader.empty() && !health_.problems.empty()))
      lacks = "no leader answers";
    if (!lacks.empty()) {
      health_.verdict = Verdict::NoQuorum;
      health_.summary = lacks;
      return;
    }
    count_synced();
    health_.summary = fmt::format(
        "{} of {} serve{}, {}{}", health_.serving, counted(members_, "member"),
        health_.serving == 1 ? "s" : "",
        health_.leader.empty() ? "the leader was not asked" : health_.leader + " leads", synced_);
    if (!health_.problems.empty()) health_.verdict = Verdict::Degraded;
  }

  /// Whether followers answer but open no session, because nobody leads them.
  bool hang_without_leader() const {
    const auto& all = health_.members;
    return std::ranges::any_of(all,
                               [](const MemberHealth& each) { return each.session == false; }) &&
           std::ranges::none_of(all, &MemberHealth::serves) &&
           std::ranges::find(all, "leader", &MemberHealth::role) == all.end();
  }

  void find_leader() {
    std::vector<std::string> leaders;
    for (const auto& member : health_.members) {
      if (member.role != "leader" || !member.serves()) continue;
      leaders.push_back(member.name);
      health_.synced_followers = member.synced_followers;
    }
    if (leaders.empty()) return;
    health_.leader = leaders.front();
    if (leaders.size() > 1)
      health_.problems.push_back(
          fmt::format("{} both claim to lead: one is cut off, or these are different ensembles",
                      fmt::join(leaders, " and ")));
  }

  /// How many of the members that were asked and do not serve must be voters.
  std::int64_t silent_voters() const {
    std::int64_t silent = 0;
    auto observers = membership_ ? static_cast<std::int64_t>(membership_->members.size()) -
                                       static_cast<std::int64_t>(membership_->voters())
                                 : 0;
    for (const auto& member : health_.members) {
      if (member.member && member.asked && !member.serves()) ++silent;
      if (member.member && member.role == "observer") --observers;
    }
    return std::max<std::int64_t>(silent - std::max<std::int64_t>(observers, 0), 0);
  }

  void count_synced() {
    if (!health_.synced_followers || health_.voters == 0) return;
    const auto followers = static_cast<std::int64_t>(health_.voters - 1);
    const auto synced = *health_.synced_followers;
    const auto serving = std::max<std::int64_t>(followers - silent_voters(), 0);
    if (synced > serving) {
      synced_ = fmt::format(", and still counts {} of {} followers in sync", synced,
                            std::max(followers, synced));
      return;
    }
    synced_ = fmt::format(", {} of {} followers in sync", synced, std::max(followers, synced));
    if (synced < followers)
      health_.problems.push_back(fmt::format("{} of {} followers {} in sync with the leader",
                                             synced, followers, synced == 1 ? "is" : "are"));
  }

  const std::optional<Membership>& membership_;
  const HealthLimits& limits_;
  Health health_;
  std::size_t members_ = 0;
  std::size_t voting_ = 0;  ///< members that serve
  bool alone_ = false;
  bool all_asked_ = false;
  std::string synced_;
};

}  // namespace

std::vector<std::string> health_words() { return {"srvr", "mntr"}; }

MemberHealth read_health(const MemberAnswers& member) {
  MemberHealth health{.name = member.name(), .id = member.id};
  health.asked = !member.answers.empty();
  if (!health.asked) return health;
  const auto words = health_words();
  const auto no_srvr = no_answer(words[0], member.answers[0]);
  const auto no_mntr = no_answer(words[1], member.answers[1]);
  health.answers = std::ranges::any_of(
      member.answers, [](const ServerAnswer& answer) { return answer.problem.empty(); });
  if (!no_srvr) read_srvr(member.answers[0].text, health);
  if (!no_mntr) read_mntr(member.answers[1].text, health);
  if (is_refusal(member.answers[1].text)) health.note = *no_mntr;
  if (!health.role.empty()) return health;
  if (no_srvr && no_mntr && is_refusal(member.answers[0].text) &&
      is_refusal(member.answers[1].text))
    health.problem = "it is running, but allows neither srvr nor mntr (4lw.commands.whitelist)" +
                     admin_note(member.answers[0]);
  else if (no_srvr)
    health.problem = *no_srvr;
  else
    health.problem = "its answer to srvr is not that of a ZooKeeper server";
  return health;
}

Health judge(std::vector<MemberHealth> members, const std::optional<Membership>& membership,
             const HealthLimits& limits) {
  return Judge(std::move(members), membership, limits).verdict();
}

}  // namespace zksh
