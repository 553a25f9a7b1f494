// WhoAccount: what `who` shows of a session, or of a node: put together, and written down.
#pragma once

#include "base/json.h"
#include "ensemble/server_poller.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Of one session; paths are whole.
struct SessionAccount {
  std::int64_t session = 0;
  std::optional<bool> alive{};
  std::optional<Connection> connection{};
  bool connections_told = false;                         ///< by some server
  std::optional<std::vector<std::string>> ephemerals{};  ///< nothing: no server told
  std::optional<std::vector<std::string>> watches{};
};
SessionAccount account_of(const SessionSurvey& words, std::int64_t session);

/// Who has to do with a node.
struct NodeAccount {
  std::string path;                       ///< as the user knows it
  std::string whole;                      ///< as the servers do
  std::string kind;                       ///< persistent, ephemeral, container, ttl
  std::optional<SessionAccount> owner{};  ///< of an ephemeral
  std::optional<std::vector<std::int64_t>> watchers{};
  /// The ephemerals below it and their owners.
  std::optional<std::vector<std::pair<std::string, std::int64_t>>> below{};
};
/// `owner`: Stat::ephemeral_owner.
NodeAccount account_of(const SessionSurvey& words, const std::string& path,
                       const std::string& whole, std::int64_t owner);

struct AccountStyle {
  std::size_t most = 0;  ///< of what is listed; 0: all
  std::int64_t now = 0;  ///< in ms since 1970
  std::int64_t own = 0;  ///< this shell's session
};
/// For people; lines are not escaped.
std::vector<std::string> account_lines(const SessionAccount& account, const AccountStyle& style);
std::vector<std::string> account_lines(const NodeAccount& account, const SessionSurvey& words,
                                       const AccountStyle& style);
/// A fact a line, its fields separated by tabs: session, ephemeral, watch.
std::vector<std::string> account_fields(const SessionAccount& account);
/// The same of the owner; and node, watcher, below.
std::vector<std::string> account_fields(const NodeAccount& account, const SessionSurvey& words);
Json account_json(const SessionAccount& account);
Json account_json(const NodeAccount& account, const SessionSurvey& words);

}  // namespace zksh
