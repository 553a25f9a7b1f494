// Distance: whether a server is so near that one round trip more is not felt.
#pragma once

#include "client/client.h"

#include <chrono>

namespace zksh {

/// A person notices a tenth of a second, a few round trips of this length.
constexpr std::chrono::milliseconds nearby{20};

/// Whether the connected server is farther away. What may turn out to be of no use is sent ahead
/// only to such a server: to one nearby, a request costs as much as waiting for its answer.
inline bool is_far(Client& client) { return client.round_trip().value_or(nearby) > nearby; }

}  // namespace zksh
