// Latency: measures round trips of single requests to each server of an ensemble.
#pragma once

#include "base/named_values.h"
#include "client/connect_string.h"
#include "client/node_path.h"
#include "client/nodes.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

class Client;

/// exists, sync, and set on a node of its own.
enum class Probe { Read, Sync, Write };
inline constexpr NamedValues<Probe, 3> probe_names{
    {{"read", Probe::Read}, {"sync", Probe::Sync}, {"write", Probe::Write}}};

struct ProbeTimes {
  Probe probe = Probe::Read;
  std::vector<std::chrono::nanoseconds> times{};
  std::string problem{};  ///< why there are not more, for the user
};

/// A server and its measurements.
struct MemberLatency {
  ServerAddress address;
  std::string name;
  std::optional<std::int64_t> id{};
  std::string role{};
  std::string problem{};  ///< why it was not measured, or not completely, for the user
  std::vector<ProbeTimes> probes{};
};

struct LatencyPlan {
  std::size_t rounds = 100;
  std::string chroot{};    ///< of the sessions
  std::string path = "/";  ///< the node to read and sync; it need not exist
  bool write = false;
  std::string parent = "/";  ///< the parent of the ephemeral node to write; must exist
  std::chrono::milliseconds patience{2000};  ///< for a session, and for an answer

  /// The node that is created and then repeatedly written.
  CreateOp node() const {
    return {.path = join_path(parent, "zksh-latency-"),
            .data = "zksh latency",
            .mode = CreateMode::Ephemeral,
            .sequential = true};
  }
};

/// Opens a session to each server without a problem, with the credentials of `own`, and sends the
/// servers one request at a time, in turn. Closes the sessions, which removes their ephemerals,
/// unless a server does not answer. On a stop, returns early with what was measured. Blocks. Throws
/// Error if `own` may not write.
void measure_latency(Client& own, std::vector<MemberLatency>& members, const LatencyPlan& plan,
                     const std::stop_token& stop);

/// Counts times in buckets whose bounds grow by a constant factor.
class Histogram {
 public:
  /// Requires 0 < `shortest` <= `longest`, and a bucket.
  Histogram(std::chrono::nanoseconds shortest, std::chrono::nanoseconds longest,
            std::size_t buckets);

  std::vector<std::size_t> count(const std::vector<std::chrono::nanoseconds>& times) const;
  /// The lower bound of a bucket; a time equal to it counts in the bucket before. For the index
  /// after the last, the last one's upper bound.
  std::chrono::nanoseconds bound(std::size_t bucket) const;

 private:
  std::vector<std::chrono::nanoseconds> bounds_;  ///< each the same multiple of the one before
};

/// A bar for each count, relative to the greatest; a blank for 0.
std::string bars(const std::vector<std::size_t>& counts, bool ascii);

}  // namespace zksh
