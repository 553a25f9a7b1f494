// ZkError: ZooKeeper's error codes, with their messages and exit statuses.
#include "client/zk_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace zksh {
namespace {

constexpr const char* same = nullptr;

/// What is known about an error code, except zksh's own.
struct CodeEntry {
  int code;
  const char* name;                     ///< KeeperException.Code's
  int status = status::server_refused;  ///< zksh's exit status
  const char* message = same;           ///< KeeperException.getCodeMessage, if not the same as name
  const char* before_path = nullptr;    ///< CliWrapperException's text (3.8.0), if it has one
};

constexpr auto entries = std::to_array<CodeEntry>({
    {code::system_error, "SystemError"},
    {code::runtime_inconsistency, "RuntimeInconsistency"},
    {code::data_inconsistency, "DataInconsistency"},
    {code::connection_loss, "ConnectionLoss", status::no_connection},
    {code::marshalling_error, "MarshallingError"},
    {code::unimplemented, "Unimplemented"},
    {code::operation_timeout, "OperationTimeout", status::no_connection},
    {code::bad_arguments, "BadArguments", status::server_refused, same,
     "Arguments are not valid : "},
    {code::new_config_no_quorum, "NewConfigNoQuorum"},
    {code::reconfig_in_progress, "ReconfigInProgress"},
    {code::api_error, "APIError"},
    {code::no_node, "NoNode", status::no_node, same, "Node does not exist: "},
    {code::no_auth, "NoAuth", status::not_authorised, same, "Insufficient permission : "},
    {code::bad_version, "BadVersion", status::bad_version, same, "version No is not valid : "},
    {code::no_children_for_ephemerals, "NoChildrenForEphemerals", status::has_children, same,
     "Ephemerals cannot have children: "},
    {code::node_exists, "NodeExists", status::node_exists, same, "Node already exists: "},
    {code::not_empty, "NotEmpty", status::has_children, "Directory not empty", "Node not empty: "},
    {code::invalid_acl, "InvalidACL", status::not_authorised, same, "Acl is not valid : "},
    {code::not_read_only, "NotReadOnly", status::read_only, "Not a read-only call",
     "Not a read-only call: "},
    {code::quota_exceeded, "QuotaExceeded", status::server_refused, "Quota has exceeded",
     "Quota has exceeded : "},
    {code::session_expired, "SessionExpired", status::session_expired, "Session expired"},
    {code::invalid_callback, "InvalidCallback", status::failure, "Invalid callback"},
    {code::auth_failed, "AuthFailed", status::not_authorised},
    {code::session_moved, "SessionMoved", status::session_expired, "Session moved"},
    {code::ephemeral_on_local_session, "EphemeralOnLocalSession", status::server_refused,
     "Ephemeral node on local session"},
    {code::no_watcher, "NoWatcher", status::failure, "No such watcher"},
    {code::request_timeout, "RequestTimeout", status::no_connection,
     "Unknown error REQUESTTIMEOUT"},
    {code::reconfig_disabled, "ReconfigDisabled", status::server_refused, "Reconfig is disabled"},
    {code::session_closed_require_sasl, "SessionClosedRequireSaslAuth", status::not_authorised,
     "Session closed because client failed to authenticate"},
    {code::throttled, "ThrottledOp", status::server_refused, "Op throttled due to high load"},
    // C client only. Requests of a closed Java client fail as if the session had expired.
    {code::invalid_state, "SessionExpired", status::session_expired, "Session expired"},
    {code::closing, "SessionExpired", status::session_expired, "Session expired"},
});

/// Null if there is none.
const CodeEntry* entry_of(int code) {
  const auto* const found = std::ranges::find(entries, code, &CodeEntry::code);
  return found == entries.end() ? nullptr : found;
}

/// Whether the request may have been carried out although no answer arrived.
bool answer_was_lost(int code) {
  return code == code::connection_loss || code == code::operation_timeout ||
         code == code::request_timeout || code == code::closing;
}

/// Whether the server seems to have closed the connection because of the request's size.
bool was_too_large(int code, const std::string& path, std::size_t bytes) {
  constexpr std::size_t rest = 128;  // of the request: numbers, and usually a short ACL
  return code == code::connection_loss && bytes + path.size() + rest > usual_request_limit;
}

std::string full_text(int code, const std::string& path, bool unknown, std::size_t bytes) {
  if (unknown && was_too_large(code, path, bytes))
    return fmt::format("{}; check the node with `stat {}` before you try again",
                       too_large_text(fmt::format("{} bytes were sent for {}", bytes, path)), path);
  auto text = error_text(code, path);
  if (!unknown) return text;
  text += "\noutcome unknown: the connection was lost after the request was sent";
  if (path.empty())
    text += "; check its nodes before you try again";
  else
    text += fmt::format(
        ", so it may have been applied; check the node with `stat {}` before you try again", path);
  return text;
}

int full_status(int code, const std::string& path, bool unknown, std::size_t bytes) {
  if (!unknown) return exit_status_of(code);
  return was_too_large(code, path, bytes) ? status::server_refused : status::outcome_unknown;
}

}  // namespace

ZkError::ZkError(int code, const std::string& path, bool sent_write, std::size_t bytes)
    : Error(full_text(code, path, sent_write && answer_was_lost(code), bytes),
            full_status(code, path, sent_write && answer_was_lost(code), bytes), path),
      code_(code),
      outcome_unknown_(sent_write && answer_was_lost(code)) {}

ZkError::ZkError(const ZkError& error, const std::string& remedy)
    : Error(error.what() + remedy, error.exit_status(), error.path()),
      code_(error.code_),
      outcome_unknown_(error.outcome_unknown_) {}

std::string too_large_text(std::string_view what) {
  return fmt::format(
      "the connection was lost while {}: servers close it when a request is larger than "
      "jute.maxbuffer, 1 MiB by default",
      what);
}

std::string error_text(int code, const std::string& path) {
  const auto* const entry = entry_of(code);
  if (entry && entry->before_path) return entry->before_path + path;
  if (code == code::lock_lost)
    return fmt::format("the lock {} is lost; this write was refused and changed nothing", path);
  if (code == code::reconfig_in_progress) {
    return "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)";
  }
  if (code == code::new_config_no_quorum) {
    return "No quorum of new config is connected and up-to-date with the leader of last committed "
           "config - try invoking reconfiguration after new servers are connected and synced";
  }
  return keeper_message(code, path);
}

std::string code_name(int code) {
  const auto* const entry = entry_of(code);
  return entry ? entry->name : fmt::format("Unknown{}", code);
}

std::string keeper_message(int code, const std::string& path) {
  const auto* const entry = entry_of(code);
  return fmt::format("KeeperErrorCode = {}{}{}",
                     entry ? (entry->message ? entry->message : entry->name)
                           : fmt::format("Unknown error {}", code),
                     path.empty() ? "" : " for ", path);
}

int exit_status_of(int code) {
  if (code == code::ok) return status::ok;
  if (code == code::lock_lost) return status::lock_lost;
  const auto* const entry = entry_of(code);
  return entry ? entry->status : status::server_refused;
}

}  // namespace zksh
