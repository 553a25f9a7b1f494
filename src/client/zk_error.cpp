// ZkError: ZooKeeper's error codes, with their messages and exit statuses.
#include "client/zk_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace zksh {
namespace {

struct CodeMessage {
  int code;
  const char* text;
  const char* name = text;  ///< KeeperException.Code's name, if the text is not a single word
};

// The texts of CliWrapperException (3.8.0) that are followed by the path.
constexpr auto wrapper_texts = std::to_array<CodeMessage>({
    {code::no_node, "Node does not exist: "},
    {code::no_children_for_ephemerals, "Ephemerals cannot have children: "},
    {code::node_exists, "Node already exists: "},
    {code::not_empty, "Node not empty: "},
    {code::not_read_only, "Not a read-only call: "},
    {code::invalid_acl, "Acl is not valid : "},
    {code::no_auth, "Insufficient permission : "},
    {code::bad_arguments, "Arguments are not valid : "},
    {code::bad_version, "version No is not valid : "},
    {code::quota_exceeded, "Quota has exceeded : "},
});

// KeeperException.getCodeMessage.
constexpr auto code_messages = std::to_array<CodeMessage>({
    {code::system_error, "SystemError"},
    {code::runtime_inconsistency, "RuntimeInconsistency"},
    {code::data_inconsistency, "DataInconsistency"},
    {code::connection_loss, "ConnectionLoss"},
    {code::marshalling_error, "MarshallingError"},
    {code::unimplemented, "Unimplemented"},
    {code::operation_timeout, "OperationTimeout"},
    {code::bad_arguments, "BadArguments"},
    {code::new_config_no_quorum, "NewConfigNoQuorum"},
    {code::reconfig_in_progress, "ReconfigInProgress"},
    {code::api_error, "APIError"},
    {code::no_node, "NoNode"},
    {code::no_auth, "NoAuth"},
    {code::bad_version, "BadVersion"},
    {code::no_children_for_ephemerals, "NoChildrenForEphemerals"},
    {code::node_exists, "NodeExists"},
    {code::not_empty, "Directory not empty", "NotEmpty"},
    {code::invalid_acl, "InvalidACL"},
    {code::not_read_only, "Not a read-only call", "NotReadOnly"},
    {code::quota_exceeded, "Quota has exceeded", "QuotaExceeded"},
    {code::session_expired, "Session expired", "SessionExpired"},
    {code::invalid_callback, "Invalid callback", "InvalidCallback"},
    {code::auth_failed, "AuthFailed"},
    {code::session_moved, "Session moved", "SessionMoved"},
    {code::ephemeral_on_local_session, "Ephemeral node on local session",
     "EphemeralOnLocalSession"},
    {code::no_watcher, "No such watcher", "NoWatcher"},
    {code::request_timeout, "Unknown error REQUESTTIMEOUT", "RequestTimeout"},
    {code::reconfig_disabled, "Reconfig is disabled", "ReconfigDisabled"},
    {code::session_closed_require_sasl, "Session closed because client failed to authenticate",
     "SessionClosedRequireSaslAuth"},
    {code::throttled, "Op throttled due to high load", "ThrottledOp"},
    // C client only. Requests of a closed Java client fail as if the session had expired.
    {code::invalid_state, "Session expired", "SessionExpired"},
    {code::closing, "Session expired", "SessionExpired"},
});

std::string code_message(int code) {
  const auto* known = std::ranges::find(code_messages, code, &CodeMessage::code);
  return known == code_messages.end() ? fmt::format("Unknown error {}", code) : known->text;
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
  const auto* wrapped = std::ranges::find(wrapper_texts, code, &CodeMessage::code);
  if (wrapped != wrapper_texts.end()) return wrapped->text + path;
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
  const auto* known = std::ranges::find(code_messages, code, &CodeMessage::code);
  return known == code_messages.end() ? fmt::format("Unknown{}", code) : known->name;
}

std::string keeper_message(int code, const std::string& path) {
  const auto text = "KeeperErrorCode = " + code_message(code);
  return path.empty() ? text : text + " for " + path;
}

int exit_status_of(int code) {
  switch (code) {
    case code::ok:
      return status::ok;
    case code::connection_loss:
    case code::operation_timeout:
    case code::request_timeout:
      return status::no_connection;
    case code::no_node:
      return status::no_node;
    case code::node_exists:
      return status::node_exists;
    case code::bad_version:
      return status::bad_version;
    case code::no_auth:
    case code::invalid_acl:
    case code::auth_failed:
    case code::session_closed_require_sasl:
      return status::not_authorised;
    case code::not_empty:
    case code::no_children_for_ephemerals:
      return status::has_children;
    case code::session_expired:
    case code::session_moved:
    case code::invalid_state:
    case code::closing:
      return status::session_expired;
    case code::not_read_only:
      return status::read_only;
    case code::lock_lost:
      return status::lock_lost;
    case code::no_watcher:
    case code::invalid_callback:
      return status::failure;
    default:
      return status::server_refused;
  }
}

}  // namespace zksh
