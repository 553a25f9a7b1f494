// State names: what the state of a session is called.
#pragma once

#include "client/watch.h"

#include <string_view>

namespace zksh {

/// zkCli's words (ZooKeeper.States), except for EXPIRED, which Java's client calls CLOSED.
std::string_view state_name(SessionState state);

}  // namespace zksh
