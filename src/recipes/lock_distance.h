// LockDistance: whether servers are too far away for a lock to be held.
#pragma once

#include "base/time.h"

#include <stop_token>
#include <string>

namespace zksh {

class Client;

/// How much of the lease of a session with this timeout a lock needs: as much as a program with the
/// usual grace period (ProgramDeadlines).
constexpr BootClock::duration usual_reserve(BootClock::duration timeout) { return timeout / 3; }

/// A message with the remedy if the session's timeout is too short for the time that answers take;
/// else empty. `reserve`: what is needed if that is more than usual. From any thread.
std::string too_far_for_lock(Client& client, BootClock::duration reserve = {});

/// Throws ValueError with that text if a few answers confirm it. Blocks until they have come; needs
/// a connection. Throws Cancelled.
void refuse_distance(Client& client, BootClock::duration reserve, const std::stop_token& stop);

}  // namespace zksh
