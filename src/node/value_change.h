// ValueChange: a node's value read, changed, and written if nobody else wrote meanwhile.
#pragma once

#include "client/client.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace zksh {

/// Hands `decide` what the node is now, and writes what it returns on the condition that the
/// version is still the one that was read. When somebody else was faster, all of that is done
/// again: the server said that nothing was written. No other failure is tried again, a lost
/// connection least of all, which leaves open whether the value was written. Returns the Stat after
/// the write, or nothing when `decide` returned nothing. Blocks; throws ZkError, Cancelled, and
/// what `decide` throws.
std::optional<Stat> change_value(Client& client, const std::string& path,
                                 const std::function<std::optional<Data>(const Node&)>& decide,
                                 const std::stop_token& stop);

}  // namespace zksh
