// SessionSettings: what a session is opened with.
#pragma once

#include "client/nodes.h"
#include "client/security.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

struct KnownServers;

struct SessionSettings {
  int session_timeout_ms = 30000;  ///< requested; the server decides
  std::chrono::milliseconds connect_timeout{10000};
  /// Give up when every server has refused the first connection once.
  bool one_round = false;
  /// As in zkCli: an expired session is not replaced by another, and what waits for a connection
  /// when the session ends fails with code::auth_failed or session_expired; what comes later fails
  /// with invalid_state.
  bool as_zkcli = false;
  bool read_only = false;                 ///< accept a read-only server
  int log_level = 0;                      ///< of the C client, to stderr: 0 nothing … 4 debug
  std::vector<Credential> credentials{};  ///< added to every session when it is opened
  std::string credentials_file{};         ///< where they come from, for messages
  Security security{};                    ///< as passed to prepare_security
  /// What sessions with the same settings have learnt; a session without one starts with nothing.
  std::shared_ptr<KnownServers> known_servers{};
};

}  // namespace zksh
