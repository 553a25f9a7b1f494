// ContentionTrial: a contention with one recipe, measured from outside too.
#pragma once

#include "ensemble/admin_server.h"
#include "lock/contention_sessions.h"
#include "lock/contention_table.h"

#include <stop_token>
#include <string>

namespace zksh {

struct ContentionTrial {
  ContentionResult result;
  ContentionSummary summary;
  std::string not_counted;  ///< why the servers did not say how many events there were, or empty
};

/// Runs a contention, asks the servers before and after it how many watches they fired, and looks
/// for what it left behind. Blocks. After a stop there is only what the contenders know. Throws
/// what made a contender fail.
ContentionTrial try_contention(const std::string& title, const ContentionPlan& plan,
                               const ContentionSessions& sessions,
                               const AdminServers& admin_servers, const ContentionReport& report,
                               const std::stop_token& stop);

}  // namespace zksh
