// LockDistance: whether servers are too far away for a lock to be held.
#include "recipes/lock_distance.h"

#include "base/error.h"
#include "client/client.h"
#include "client/lease_renewal.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace zksh {

std::string too_far_for_lock(Client& client, BootClock::duration reserve) {
  const BootClock::duration timeout = client.lease().timeout;
  const auto round_trip = client.round_trip();
  if (timeout.count() == 0 || !round_trip) return {};
  const auto needed = std::max(reserve, usual_reserve(timeout));
  const auto share = static_cast<double>(needed.count()) / static_cast<double>(timeout.count());
  const auto least = LeaseRenewal::least_timeout(*round_trip, share);
  if (timeout >= least) return {};
  return fmt::format("answers take {}; a lock needs -t {} or more here, and this session has {}",
                     short_time(std::chrono::ceil<std::chrono::milliseconds>(*round_trip)),
                     short_time(std::chrono::ceil<std::chrono::seconds>(least)),
                     short_time(timeout));
}

void refuse_distance(Client& client, BootClock::duration reserve, const std::stop_token& stop) {
  // A server, or this machine, may be busy: the shortest of some answers counts.
  constexpr int enough_answers = 4;
  constexpr BootClock::duration longest = std::chrono::seconds(2);
  const auto until =
      BootClock::now() + std::min<BootClock::duration>(client.lease().timeout / 2, longest);
  auto why = too_far_for_lock(client, reserve);
  for (int i = 0; !why.empty() && (i < enough_answers || BootClock::now() < until); ++i) {
    client.await_connection("/", stop);
    client.await(client.start_exists("/", Watch::none()), stop);
    why = too_far_for_lock(client, reserve);
  }
  if (!why.empty()) throw ValueError(why);
}

}  // namespace zksh
