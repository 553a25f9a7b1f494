// State names: the names of session states.
#pragma once

#include "client/watch.h"

#include <string_view>

namespace zksh {

/// zkCli's names (ZooKeeper.States), except EXPIRED, which Java's client calls CLOSED.
std::string_view state_name(SessionState state);

}  // namespace zksh
