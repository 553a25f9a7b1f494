// DeepHealth: finds present and coming trouble in what servers report.
#include "ensemble/deep_health.h"

#include "base/number.h"
#include "base/text.h"
#include "base/words.h"
#include "client/server_version.h"
#include "ensemble/server_poller.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace zksh {
namespace {

/// False if the version is not known.
bool is_before(const std::string& version, ServerVersion other) {
  const auto known = server_version_in(version);
  return known.major > 0 && known < other;
}

bool is_nearly(std::int64_t value, std::int64_t limit) {
  constexpr double nearly = 0.8;
  return static_cast<double>(value) >= nearly * static_cast<double>(limit);
}

/// Evaluates what one server says.
class MemberCheck {
 public:
  MemberCheck(const MemberDetails& member, DeepHealth& deep)
      : member_(member),
        configuration_(admin_fields(member.configuration.body)["initial_configuration"]),
        deep_(deep) {}

  void run() {
    sessions();
    counters();
    clients();
    descriptors();
    logs();
    secrets();
  }

 private:
  void cannot(Check check, std::string reason) {
    deep_.add(
        Unchecked{.check = check, .server = member_.health.name, .reason = std::move(reason)});
  }
  void add(HealthFinding finding) {
    finding.server = member_.health.name;
    deep_.add(std::move(finding));
  }

  /// A figure of mntr. If it is missing, notes that the check is not possible.
  std::optional<std::int64_t> figure(Check check, const char* key) {
    const auto problem = no_answer("mntr", member_.mntr);
    const auto value = problem ? std::nullopt : number_field(member_.mntr.text, key);
    if (value) return value;
    const bool is_old = is_before(member_.health.version, {3, 6});
    cannot(check, problem  ? *problem
                  : is_old ? "ZooKeeper before 3.6 does not count them"
                           : fmt::format("its mntr has no {}", key));
    return value;
  }

  /// A server may answer words while nobody can connect, as after all of them were frozen.
  void sessions() {
    if (!member_.health.session) return cannot(Check::Sessions, "no session was tried");
    if (*member_.health.session) return;
    add({.check = Check::Sessions,
         .problem = member_.health.problem,
         .measured = member_.health.outstanding,
         .remedy = "Look in its log and the leader's for requests that are not committed; restart "
                   "the leader, and then the server, if it stays so."});
  }

  /// Counters since the server's start that stay 0 on a server without trouble.
  void counters() {
    struct Counter {
      Check check;
      const char* key;
      const char* noun;
      const char* remedy;
    };
    static constexpr std::array<Counter, 4> all{{
        {Check::Digests, "zk_digest_mismatches_count",
         "transaction that led to another digest than the leader's",
         "Stop the server, remove its data (not myid), and start it: it copies the leader's tree."},
        {Check::Errors, "zk_unrecoverable_error_count", "unrecoverable error",
         "Look for \"unrecoverable\" in the server's log, mend the cause, and restart it."},
        {Check::LargeRequests, "zk_large_requests_rejected", "large request refused",
         "Split the requests, or raise zookeeper.largeRequestMaxBytes."},
        {Check::RefusedConnections, "zk_connection_rejected", "connection refused",
         "Close connections that nobody uses, or raise maxClientCnxns; the server's log names the "
         "hosts."},
    }};
    for (const auto& [check, key, noun, remedy] : all) {
      if (check == Check::Digests && member_.health.role == "standalone") continue;
      const auto count = figure(check, key);
      if (count.value_or(0) > 0)
        add({.check = check,
             .problem = fmt::format("{} ({} since its start)", noun, *count),
             .measured = count,
             .remedy = remedy});
    }
  }

  /// Compares the number of connections from each client host with the server's limit.
  void clients() {
    for (const auto& [word, answer] : {std::pair("conf", &member_.conf), {"cons", &member_.cons}})
      if (const auto problem = no_answer(word, *answer)) return cannot(Check::Clients, *problem);
    const auto limit = number_field(member_.conf.text, "maxClientCnxns");
    if (!limit) return cannot(Check::Clients, "its conf has no maxClientCnxns");
    if (*limit <= 0) return;  // no limit
    std::map<std::string, std::vector<std::int64_t>> hosts;
    for (const auto& connection : parse_connections(member_.cons.text))
      hosts[connection.address.substr(0, connection.address.rfind(':'))].push_back(
          connection.session);
    for (auto& [host, sessions] : hosts) {
      const auto count = static_cast<std::int64_t>(sessions.size());
      if (!is_nearly(count, *limit)) continue;
      add({.check = Check::Clients,
           .problem = fmt::format("{} has {} of the {} connections that maxClientCnxns allows "
                                  "a host",
                                  host, count, *limit),
           .measured = count,
           .limit = limit,
           .sessions = std::move(sessions),
           .remedy = "Close sessions there that nobody uses (`who SESSION` shows what each "
                     "owns), or raise maxClientCnxns."});
    }
  }

  void descriptors() {
    const auto open = figure(Check::Descriptors, "zk_open_file_descriptor_count");
    const auto most = open ? figure(Check::Descriptors, "zk_max_file_descriptor_count") : open;
    if (!most || !is_nearly(*open, *most)) return;
    add({.check = Check::Descriptors,
         .problem = fmt::format("{} of {} file descriptors are open", *open, *most),
         .measured = open,
         .limit = most,
         .remedy = "Close connections that nobody uses, or raise the limit (ulimit -n, "
                   "LimitNOFILE) and restart the server."});
  }

  /// The value in the server's configuration file.
  std::string configured(std::string_view key) const {
    for (const auto line : lines_of(configuration_)) {
      const auto end = line.find('=');
      if (end != std::string_view::npos && trimmed(line.substr(0, end)) == key)
        return std::string(trimmed(line.substr(end + 1)));
    }
    return {};
  }

  void logs() {
    if (is_before(member_.health.version, {3, 5}))
      return cannot(Check::Logs, "ZooKeeper before 3.5 does not say how large its logs are");
    if (const auto problem = no_answer("dirs", member_.dirs)) return cannot(Check::Logs, *problem);
    const auto size = number_field(member_.dirs.text, "logdir_size");
    const auto data = figure(Check::Logs, "zk_approximate_data_size");
    if (!size) return cannot(Check::Logs, "its dirs has no logdir_size");
    if (!data) return;
    constexpr std::int64_t least = std::int64_t{1} << 30U;
    constexpr std::int64_t usual_block = 65536;        // in KiB
    constexpr std::int64_t largest_block = 1U << 30U;  // as Java multiplies it
    const auto given =
        number_in<std::int64_t>(member_.property("zookeeper.preAllocSize").value_or(""));
    const auto block = given && *given >= 0 && *given < largest_block ? *given : usual_block;
    const auto stored = std::max<std::int64_t>(*data, 0);
    const auto used = *size - std::min(*size, block * 1024);
    if (used <= least || used / 10 <= stored) return;
    const auto text = fmt::format("{} in the directory of its logs, for {} of data",
                                  size_text(used), size_text(stored));
    if (!member_.configuration.problem.empty())
      return cannot(Check::Logs, fmt::format("{}; whether old ones are purged only its AdminServer "
                                             "says ({})",
                                             text, member_.configuration.problem));
    if (number_in<std::int64_t>(configured("autopurge.purgeInterval")).value_or(0) > 0) return;
    add({.check = Check::Logs,
         .problem = text + ", and old ones are not purged",
         .measured = used,
         .limit = std::max(least, stored * 10),
         .remedy = "Set autopurge.purgeInterval in zoo.cfg and restart the server, or let cron "
                   "run zkCleanup.sh."});
  }

  /// Passwords, and the digest of the superuser, whose password may be found from it.
  static bool is_secret(std::string_view name) {
    return name.ends_with(".superDigest") || name.ends_with(".password");
  }

  /// An AdminServer does not authenticate anybody.
  void secrets() {
    if (is_before(member_.health.version, {3, 5})) return;
    for (const auto* const reply : {&member_.properties, &member_.configuration})
      if (!reply->problem.empty())
        return cannot(Check::Secrets,
                      fmt::format("only its AdminServer tells ({})", reply->problem));
    std::set<std::string> names;
    for (const auto& [name, value] : admin_fields(member_.properties.body))
      if (is_secret(name) && !value.empty()) names.insert(name);
    for (const auto line : lines_of(configuration_)) {
      const std::string name(trimmed(line.substr(0, line.find('='))));
      if (is_secret(name) && !names.contains("zookeeper." + name)) names.insert(name);
    }
    if (names.empty()) return;
    add({.check = Check::Secrets,
         .problem = fmt::format("its AdminServer shows {} to everybody who can reach it",
                                fmt::join(names, ", ")),
         .measured = static_cast<std::int64_t>(names.size()),
         .remedy = "Restart the server without it once it is not needed, or with "
                   "admin.serverAddress=127.0.0.1 or admin.enableServer=false."});
  }

  const MemberDetails& member_;
  const std::string configuration_;  ///< the server's configuration file; empty if not known
  DeepHealth& deep_;
};

/// Digests of the same tree are the same. Servers note one for each 128th transaction.
class DigestComparison {
 public:
  void add(const MemberDetails& member, DeepHealth& deep) {
    const auto& name = member.health.name;
    const auto cannot = [&](std::string reason) {
      deep.add(Unchecked{.check = Check::Digests, .server = name, .reason = std::move(reason)});
    };
    if (member.health.role == "standalone") return;
    ++members_;
    if (is_before(member.health.version, {3, 6}))
      return cannot("ZooKeeper before 3.6 has no digests");
    if (member.hash.turned_away) return;  // it also does that while it has no digest yet
    if (const auto problem = no_answer("hash", member.hash)) return cannot(*problem);
    for (const auto line : lines_of(member.hash.text)) {
      const auto colon = line.find(": ");
      if (colon == std::string_view::npos) continue;
      const auto zxid = number_in<std::uint64_t>(line.substr(0, colon), 16);
      if (zxid) digests_[*zxid][std::string(trimmed(line.substr(colon + 2)))].insert(name);
    }
  }

  void compare(DeepHealth& deep) const {
    bool compared = members_ < 2;
    for (const auto& [zxid, digests] : digests_) {
      std::size_t members = 0;
      for (const auto& [digest, names] : digests) members += names.size();
      compared = compared || members > 1;
      if (digests.size() < 2) continue;
      std::vector<std::string> parts;
      for (const auto& [digest, names] : digests)
        parts.push_back(fmt::format("{} at {}", digest, fmt::join(names, ", ")));
      deep.add(HealthFinding{
          .check = Check::Digests,
          .problem =
              fmt::format("the trees of the members differ: at zxid {} the digest is {}",
                          zxid_text(static_cast<std::int64_t>(zxid)), fmt::join(parts, ", and ")),
          .measured = static_cast<std::int64_t>(digests.size()),
          .limit = 1,
          .remedy = "Stop the member that differs from the others, remove its data "
                    "(not myid), and start it: it copies the leader's tree."});
      return;
    }
    if (!compared)
      deep.add(Unchecked{.check = Check::Digests,
                         .reason = "no two members have a digest of the same transaction; they "
                                   "note one for each 128th"});
  }

 private:
  std::map<std::uint64_t, std::map<std::string, std::set<std::string>>> digests_;
  std::size_t members_ = 0;
};

constexpr std::array server_checks{
    Check::Sessions, Check::Errors,      Check::LargeRequests, Check::RefusedConnections,
    Check::Clients,  Check::Descriptors, Check::Logs,          Check::Secrets,
    Check::Digests};

}  // namespace

void DeepHealth::add(HealthFinding finding) {
  auto& found = found_[finding.check];
  if (++found.count <= most) found.first.push_back(std::move(finding));
}

std::vector<HealthFinding> DeepHealth::findings() const {
  std::vector<HealthFinding> all;
  for (const auto& [check, found] : found_) {
    all.insert(all.end(), found.first.begin(), found.first.end());
    if (found.count <= most) continue;
    const auto more = static_cast<std::int64_t>(found.count - most);
    all.push_back({.check = check,
                   .problem = fmt::format("{} more like these", more),
                   .measured = more,
                   .remedy = found.first.back().remedy});
  }
  return all;
}

std::vector<Check> DeepHealth::passed() const {
  std::vector<Check> all;
  for (const auto& [name, check] : check_names)
    if (!found_.contains(check) && std::ranges::count(unchecked_, check, &Unchecked::check) == 0)
      all.push_back(check);
  return all;
}

std::optional<std::string> MemberDetails::property(const std::string& name) const {
  auto fields = admin_fields(properties.body);
  return fields.empty() ? std::nullopt : std::optional(fields[name]);
}

std::vector<MemberDetails> ask_details(const EnsembleAnswers& all,
                                       const std::vector<MemberHealth>& members,
                                       const AdminServers& admin_servers,
                                       std::chrono::milliseconds time,
                                       const std::stop_token& stop) {
  std::vector<MemberDetails> details;
  std::vector<ServerAddress> addresses;
  for (std::size_t i = 0; i < members.size(); ++i) {
    details.push_back({.health = members[i]});
    if (members[i].asked && members[i].answers) details[i].mntr = all.members[i].answers[1];
  }
  const auto serving = [&](auto&& use) {
    for (std::size_t i = 0; i < members.size(); ++i)
      if (members[i].asked && members[i].answers) use(all.members[i].address, details[i]);
  };
  const auto limits = [&] { return AskLimits{.deadline = Clock::now() + time, .stop = stop}; };
  using Words = std::array<std::pair<const char*, ServerAnswer MemberDetails::*>, 2>;
  for (const Words& words :
       {Words{{{"conf", &MemberDetails::conf}, {"cons", &MemberDetails::cons}}},
        Words{{{"dirs", &MemberDetails::dirs}, {"hash", &MemberDetails::hash}}}}) {
    std::vector<ServerQuestion> questions;
    serving([&](const ServerAddress& address, MemberDetails&) {
      for (const auto& [word, answer] : words)
        questions.push_back({.server = address, .word = word});
    });
    auto answers = ask_words(questions, admin_servers, limits());
    std::size_t next = 0;
    serving([&](const ServerAddress&, MemberDetails& member) {
      for (const auto& [word, answer] : words) member.*answer = std::move(answers[next++]);
    });
  }
  std::vector<AdminRequest> requests;
  serving([&](const ServerAddress& address, MemberDetails&) {
    for (const char* const command : {"system_properties", "initial_configuration"})
      requests.push_back({.server = address, .command = command});
  });
  auto replies = ask_admin_servers(requests, admin_servers, limits());
  std::size_t next = 0;
  serving([&](const ServerAddress&, MemberDetails& member) {
    for (auto* const reply : {&member.properties, &member.configuration}) {
      *reply = std::move(replies[next++]);
      if (reply->problem.empty() && admin_fields(reply->body).empty())
        reply->problem = "its AdminServer does not tell";
    }
  });
  return details;
}

void check_servers(const std::vector<MemberDetails>& members, DeepHealth& deep) {
  DigestComparison digests;
  for (const auto& member : members) {
    if (member.health.serves() || member.health.session == false) {
      MemberCheck(member, deep).run();
      digests.add(member, deep);
      continue;
    }
    for (const auto check : server_checks)
      deep.add(
          Unchecked{.check = check, .server = member.health.name, .reason = "it does not serve"});
  }
  digests.compare(deep);
}

std::optional<std::int64_t> largest_answer(const std::vector<MemberDetails>& members) {
  std::optional<std::int64_t> least;
  for (const auto& member : members) {
    const auto text = member.property("jute.maxbuffer");
    if (!text) return std::nullopt;
    const auto value = number_in<std::int64_t>(*text).value_or(usual_largest_answer);
    least = std::min(least.value_or(value), value);
  }
  return least;
}

}  // namespace zksh
