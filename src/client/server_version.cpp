// Server version: parses what servers report, and says what a server is too old for.
#include "client/server_version.h"

#include "client/client.h"
#include "client/connect_string.h"
#include "client/four_letter_word.h"

#include <fmt/core.h>

#include <charconv>
#include <chrono>
#include <system_error>

namespace zksh {
namespace {

/// The version ("3.4.13") of the first server that answers; empty if none does.
std::string reported_version(const std::string& server) {
  constexpr std::chrono::seconds patience{1};
  std::vector<ServerQuestion> questions;
  for (const auto& address : parse_connect_string(server).servers)
    questions.push_back({.server = address, .word = "srvr"});
  for (const auto& answer : inquire(questions, {.deadline = Clock::now() + patience})) {
    const auto version = answer_field(answer.text, "Zookeeper version");
    if (!version.empty()) return version.substr(0, version.find_first_not_of("0123456789."));
  }
  return {};
}

/// What an error says of a server that lacks something. `version`: the server's; empty if it does
/// not say.
std::string too_old_for(std::string_view what, std::string_view required,
                        const std::string& version) {
  return fmt::format(": ZooKeeper {} or later is required for {}, but {}", required, what,
                     version.empty() ? "this server is older, or does not tell its version (srvr)"
                                     : "this server has version " + version);
}

}  // namespace

ServerVersion server_version_in(std::string_view text) {
  ServerVersion version;
  const auto* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.' ||
      std::from_chars(dot + 1, end, version.minor).ec != std::errc())
    return {};
  return version;
}

void require_newer(Client& client, const std::string& path, std::string_view what,
                   const std::stop_token& stop) {
  client.await_connection(path, stop);
  const auto probe = client.await(client.start_probe_newer(), stop);
  if (probe.code == code::ok) return;
  const ZkError error(probe.code, path);
  if (probe.code != code::unimplemented) throw ZkError(error);
  throw ZkError(error, too_old_for(what, "3.5", reported_version(client.server())));
}

ZkError with_version_for_watches(Client& client, const ZkError& error) {
  if (error.code() != code::unimplemented) return error;
  const auto version = reported_version(client.server());
  const bool has_watches = !(server_version_in(version) < ServerVersion{3, 6});
  return {error, has_watches ? too_old_for("watches of different modes on a node", "3.9", version)
                             : too_old_for("persistent and recursive watches", "3.6", version)};
}

ZkError without_extended_types(const ZkError& error) {
  return {error,
          ": the servers keep nodes with a TTL only if they run with "
          "zookeeper.extendedTypesEnabled=true"};
}

}  // namespace zksh
