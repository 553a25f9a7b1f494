// ZkError: ZooKeeper's error codes, with their messages and exit statuses.
#pragma once

#include "base/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace zksh {

/// ZooKeeper's error codes (KeeperException.Code); the C client does not name them all.
namespace code {
inline constexpr int ok = 0;
inline constexpr int system_error = -1;
inline constexpr int runtime_inconsistency = -2;
inline constexpr int data_inconsistency = -3;
inline constexpr int connection_loss = -4;
inline constexpr int marshalling_error = -5;
inline constexpr int unimplemented = -6;
inline constexpr int operation_timeout = -7;
inline constexpr int bad_arguments = -8;
inline constexpr int invalid_state = -9;  ///< C client only: the handle is unusable
inline constexpr int new_config_no_quorum = -13;
inline constexpr int reconfig_in_progress = -14;
inline constexpr int api_error = -100;
inline constexpr int no_node = -101;
inline constexpr int no_auth = -102;
inline constexpr int bad_version = -103;
inline constexpr int no_children_for_ephemerals = -108;
inline constexpr int node_exists = -110;
inline constexpr int not_empty = -111;
inline constexpr int session_expired = -112;
inline constexpr int invalid_callback = -113;
inline constexpr int invalid_acl = -114;
inline constexpr int auth_failed = -115;
inline constexpr int closing = -116;  ///< C client only: the session is being closed
inline constexpr int session_moved = -118;
inline constexpr int not_read_only = -119;
inline constexpr int ephemeral_on_local_session = -120;
inline constexpr int no_watcher = -121;
inline constexpr int request_timeout = -122;
inline constexpr int reconfig_disabled = -123;
inline constexpr int session_closed_require_sasl = -124;
inline constexpr int quota_exceeded = -125;
inline constexpr int throttled = -127;
/// zksh's own: the write was refused because a lock that guards it is lost (GuardedClient).
inline constexpr int lock_lost = 1;
}  // namespace code

/// A request failed, at the server or because of the connection.
class ZkError : public Error {
 public:
  /// `path` is the node's, or that of the lock that was lost. `sent_write`: the request was a write
  /// that may have reached the server, so a lost connection leaves its outcome unknown. `bytes` is
  /// the size of the write's value; if servers close the connection because of such a size, the
  /// message says so, and the status is status::server_refused.
  ZkError(int code, const std::string& path, bool sent_write = false, std::size_t bytes = 0);

  /// The same error; `remedy`, appended to the message, says what the user can do.
  ZkError(const ZkError& error, const std::string& remedy);

  int code() const { return code_; }
  bool outcome_unknown() const { return outcome_unknown_; }

 private:
  int code_;
  bool outcome_unknown_;
};

/// Servers with the default jute.maxbuffer close the connection for requests of this size or more.
inline constexpr std::size_t usual_request_limit = 0xfffff;
/// The message for such a request. `what`: "5 bytes were sent for /p".
std::string too_large_text(std::string_view what);

/// The text that zkCli.sh 3.8.0 prints for an error (CliWrapperException.java).
std::string error_text(int code, const std::string& path);
/// The name of an error for programs: "NoNode".
std::string code_name(int code);
/// "KeeperErrorCode = NoNode for /p": KeeperException.getMessage in 3.8.0.
std::string keeper_message(int code, const std::string& path);
/// The exit status for a ZooKeeper error code.
int exit_status_of(int code);

}  // namespace zksh
