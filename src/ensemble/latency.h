// Latency: round trips of single requests to each server of an ensemble, one at a time.
#pragma once

#include "client/client.h"
#include "client/connect_string.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// exists, sync, and set of a node of its own.
enum class Probe { Read, Sync, Write };
std::string_view probe_name(Probe probe);

struct ProbeTimes {
  Probe probe = Probe::Read;
  std::vector<std::chrono::nanoseconds> times{};
  std::string problem{};  ///< why there are no more of them; for the user
};

/// One server.
struct MemberLatency {
  ServerAddress address;
  std::string name;
  std::optional<std::int64_t> id{};
  std::string role{};
  std::string problem{};  ///< why it was not measured, or not to the end; for the user
  std::vector<ProbeTimes> probes{};
};

struct LatencyPlan {
  std::size_t rounds = 100;
  std::string chroot{};    ///< of the sessions
  std::string path = "/";  ///< what is read and synced; it need not exist
  bool write = false;
  std::string parent = "/";  ///< of the ephemeral node that is written; it must exist
  std::chrono::milliseconds patience{2000};  ///< for a session, and for an answer

  /// What is created, and then written again and again.
  CreateOp node() const {
    return {.path = parent + (parent == "/" ? "" : "/") + "zksh-latency-",
            .data = "zksh latency",
            .mode = CreateMode::Ephemeral,
            .sequential = true};
  }
};

/// Opens a session to each server that has no problem yet, with the credentials of `own`, and sends
/// each in turn one request after the other. The sessions and their ephemerals are gone when it
/// returns, but those of a server that does not answer. Ends early on a stop, with what was
/// measured. Blocks. Throws Error when `own` may not write.
void measure_latency(Client& own, std::vector<MemberLatency>& members, const LatencyPlan& plan,
                     const std::stop_token& stop);

/// How often times fell between two bounds, each bound a constant factor above the one before.
class Histogram {
 public:
  /// `shortest` must be above 0 and not above `longest`.
  Histogram(std::chrono::nanoseconds shortest, std::chrono::nanoseconds longest,
            std::size_t buckets);

  std::vector<std::size_t> count(const std::vector<std::chrono::nanoseconds>& times) const;
  /// The lower bound of a bucket; of the one behind the last, the upper bound of the last.
  std::chrono::nanoseconds bound(std::size_t bucket) const;

 private:
  double shortest_;
  double ratio_;  ///< of the two ends, as a logarithm
  std::size_t buckets_;
};

/// A bar for each count, as high as it is beside the greatest one; 0 is a blank.
std::string bars(const std::vector<std::size_t>& counts, bool ascii);

}  // namespace zksh
