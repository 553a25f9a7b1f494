// DeepHealth: finds present and coming trouble in what servers report.
#pragma once

#include "base/named_values.h"
#include "ensemble/admin_server.h"
#include "ensemble/health.h"
#include "ensemble/member_words.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

enum class Check {
  Sessions,
  Digests,
  Errors,
  LargeRequests,
  RefusedConnections,
  Clients,
  Descriptors,
  Logs,
  Secrets,
  Children,
  Values,
  Counters,
  Quotas
};
inline constexpr NamedValues<Check, 13> check_names{
    {{"sessions", Check::Sessions},
     {"digests", Check::Digests},
     {"errors", Check::Errors},
     {"large requests", Check::LargeRequests},
     {"refused connections", Check::RefusedConnections},
     {"clients", Check::Clients},
     {"descriptors", Check::Descriptors},
     {"logs", Check::Logs},
     {"secrets", Check::Secrets},
     {"children", Check::Children},
     {"values", Check::Values},
     {"counters", Check::Counters},
     {"quotas", Check::Quotas}}};

/// Something that is wrong. Texts are untrusted.
struct HealthFinding {
  Check check = Check::Digests;
  std::string server{};  ///< which reports it; empty: the ensemble
  std::string path{};    ///< the node; empty: none
  std::string problem;   ///< with the figure measured, without the server and the path
  std::optional<std::int64_t> measured{};
  std::optional<std::int64_t> limit{};
  std::vector<std::int64_t> sessions{};
  std::string remedy;
};

/// A check that was not possible.
struct Unchecked {
  Check check = Check::Digests;
  std::string server{};  ///< empty: the ensemble
  std::string reason;    ///< for the user
};

/// What was found, in the order of the checks and then of the servers or nodes.
class DeepHealth {
 public:
  void add(HealthFinding finding);
  void add(Unchecked unchecked) { unchecked_.push_back(std::move(unchecked)); }
  /// The first hundred of each check, and then one that counts the others.
  std::vector<HealthFinding> findings() const;
  const std::vector<Unchecked>& unchecked() const { return unchecked_; }
  /// The checks that were done completely and found nothing.
  std::vector<Check> passed() const;

 private:
  static constexpr std::size_t most = 100;
  struct Found {
    std::vector<HealthFinding> first{};
    std::size_t count = 0;
  };
  std::map<Check, Found> found_;
  std::vector<Unchecked> unchecked_;
};

/// A member that is asked for more than Health needs.
struct MemberDetails {
  MemberHealth health{};
  ServerAnswer mntr{};
  ServerAnswer conf{};
  ServerAnswer cons{};
  ServerAnswer dirs{};
  ServerAnswer hash{};
  AdminReply properties{};     ///< Java's system properties
  AdminReply configuration{};  ///< the server's configuration file

  /// The system property; empty if it is not set. nullopt: the AdminServer did not say.
  std::optional<std::string> property(const std::string& name) const;
};

/// Asks the members that serve, a few words at a time, since a server may limit the connections of
/// a host. `members` are those of `all`. Blocks for at most six times `time`, plus name look-ups.
/// Throws Cancelled.
std::vector<MemberDetails> ask_details(const EnsembleAnswers& all,
                                       const std::vector<MemberHealth>& members,
                                       const AdminServers& admin_servers,
                                       std::chrono::milliseconds time, const std::stop_token& stop);

/// Evaluates what the servers say: all checks except those of nodes.
void check_servers(const std::vector<MemberDetails>& members, DeepHealth& deep);

/// The largest answer that clients and servers accept, in bytes: jute.maxbuffer, the smallest of
/// those of the members. nullopt: not all report it.
std::optional<std::int64_t> largest_answer(const std::vector<MemberDetails>& members);
/// ZooKeeper's default.
inline constexpr std::int64_t usual_largest_answer = 0xfffff;

}  // namespace zksh
