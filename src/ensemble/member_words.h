// MemberWords: asks all members of an ensemble four-letter words, even those not in the connect
// string.
#pragma once

#include "client/connect_string.h"
#include "client/four_letter_word.h"
#include "ensemble/admin_server.h"
#include "ensemble/membership.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct ServersToAsk {
  std::vector<ServerAddress> servers{};
  /// Also ask the other members of their ensemble, as far as conf names them.
  bool with_others = true;
  AdminServers admin_servers{};
};

/// A server and its answer to each word.
struct MemberAnswers {
  /// For clients. If the port is 0, the configuration does not name it, and nothing was asked.
  ServerAddress address;
  std::optional<std::int64_t> id{};  ///< its server number, if known
  std::vector<ServerAnswer> answers{};

  /// "127.0.0.1:2181", or "server.3" if the address is not known.
  std::string name() const;
};

struct EnsembleAnswers {
  std::vector<MemberAnswers> members;  ///< those named by the user come first
  /// As conf reports it; nullopt if no server does or may.
  std::optional<Membership> membership{};
  /// If no server reports it, the first that is not allowed to; else empty.
  std::string mute{};
};

/// Asks all servers at once, then those that only the answers name; in both rounds also
/// AdminServers (ask_words), whose answers do not name observers. Blocks for at most four times
/// `time`, plus name look-ups. Throws Cancelled.
EnsembleAnswers ask_members(const ServersToAsk& asked, std::vector<std::string> words,
                            std::chrono::milliseconds time, const std::stop_token& stop);

/// As answer_field, for a whole number; nullopt if it is missing or something else.
std::optional<std::int64_t> number_field(std::string_view answer, std::string_view key);

/// A message that a server does not allow words, with the remedy. `answer` is its answer to one of
/// them.
std::string refusal(const std::vector<std::string>& words, const ServerAnswer& answer);

/// Why a server's answer does not answer the word, for the user, with the remedy; nullopt if it
/// does. A server that runs but does not serve has not answered.
std::optional<std::string> no_answer(const std::string& word, const ServerAnswer& answer);

}  // namespace zksh
