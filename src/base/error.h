// Error: zksh's exceptions and exit statuses.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace zksh {

/// The exit statuses of zksh; README.md documents the same table.
namespace status {
inline constexpr int ok = 0;
inline constexpr int failure = 1;  ///< a false answer, or a failure that has no status of its own
inline constexpr int usage = 2;    ///< unknown command, bad option or argument, malformed path
inline constexpr int no_connection = 3;  ///< no server, or no quorum, within the connect timeout
inline constexpr int no_node = 4;
inline constexpr int node_exists = 5;
inline constexpr int bad_version = 6;
inline constexpr int not_authorised = 7;  ///< also: authentication failed, a bad ACL
inline constexpr int has_children = 8;    ///< also: an ephemeral cannot have children
inline constexpr int session_expired = 9;
inline constexpr int outcome_unknown = 10;  ///< the connection was lost after a write was sent
inline constexpr int read_only = 11;
inline constexpr int server_refused = 12;  ///< quota, request too large, other server errors
inline constexpr int lock_busy = 75;
inline constexpr int lock_lost = 76;
inline constexpr int timed_out = 124;
inline constexpr int cannot_run = 126;
inline constexpr int program_not_found = 127;
inline constexpr int signal_base = 128;  ///< ended by signal n: 128 + n
}  // namespace status

/// A failure whose message is a sentence for the user, without a final newline.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, int exit_status = status::failure,
                 std::string path = {})
      : std::runtime_error(message), exit_status_(exit_status), path_(std::move(path)) {}

  int exit_status() const { return exit_status_; }
  /// The node that the error is about; empty if there is none, or if it is the only one that the
  /// command was given.
  const std::string& path() const { return path_; }
  /// Whether zkCli reports it with status 0.
  bool excused() const { return excused_; }
  /// The same error, excused.
  friend Error excused_error(Error error) {
    error.excused_ = true;
    return error;
  }

 private:
  int exit_status_;
  bool excused_ = false;
  std::string path_;
};

/// The command line is malformed; nothing was sent.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message, std::string path = {})
      : Error(message, status::usage, std::move(path)) {}
};

/// A path or another argument's value is malformed. The message says it all: the command's usage
/// would not help.
class ValueError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A wait was ended by Ctrl-C, a signal or quit. What was already sent may still take effect. The
/// message may be empty: the user knows the reason.
class Cancelled : public Error {
 public:
  explicit Cancelled(const std::string& message = "") : Error(message, status::signal_base + 2) {}
};

}  // namespace zksh
