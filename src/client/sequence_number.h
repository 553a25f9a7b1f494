// Sequence numbers: what servers append to the names of sequential nodes.
#pragma once

#include "client/client.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace zksh {

/// How many children have ever been created below the parent, which is the number that its next
/// sequential child gets. Servers report this counter c as cversion = 2 c - numChildren, in 32 bits
/// (DataNode.copyStat). So it never goes back, and deletions do not count.
std::int64_t sequence_counter(const Stat& parent);

/// The number at the end of a sequential node's name: ten digits (%010d). nullopt if there is none,
/// or it is beyond the counter's end.
std::optional<std::int32_t> sequence_number(std::string_view name);

}  // namespace zksh
