// MemberWords: asks every member of an ensemble some four-letter words, also those that the connect
// string does not name.
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

/// Who is asked.
struct AskedServers {
  std::vector<ServerAddress> servers;
  /// These are some of an ensemble, and the others are asked too, as far as conf names them.
  bool with_others = true;
  AdminServers admin_servers{};
};
/// `hosts`: what the user named, each a list as in a connect string; none: the servers of
/// `connect_string`, and the others of their ensemble. `admin_servers`: as the user names them.
/// Throws ValueError.
AskedServers asked_servers(const std::vector<std::string>& hosts, const std::string& connect_string,
                           std::string_view admin_servers);

/// One server and what it said to each word.
struct MemberAnswers {
  /// For clients. Its port is 0 where the configuration does not tell: then nothing was asked.
  ServerAddress address;
  std::optional<std::int64_t> id{};  ///< its number in the ensemble, where that is known
  std::vector<ServerAnswer> answers{};
  bool known_from_others = false;  ///< the user has not named it

  /// "127.0.0.1:2181", or "server.3" where the address is not known.
  std::string name() const;
};

struct EnsembleAnswers {
  std::vector<MemberAnswers> members;  ///< those that the user named first
  /// As the servers tell (conf); nothing where none does, or none is allowed to.
  std::optional<Membership> membership{};
  /// The first of the servers that may not tell it, when none does; else empty.
  std::string mute{};
};

/// Asks all at once; those that only the answers name, after that; and in both rounds AdminServers
/// (ask_words), whose answers name no observers. Blocks for at most four times the time, and for as
/// long as names take to resolve. Throws Cancelled.
EnsembleAnswers ask_members(const AskedServers& asked, std::vector<std::string> words,
                            std::chrono::milliseconds time, const std::stop_token& stop);

/// That a server does not allow words, for the user, with the remedy. `answer`: to one of them.
std::string refusal(const std::vector<std::string>& words, const ServerAnswer& answer);

/// Why there is no answer to a word in what a server said, for the user, with the remedy; nothing
/// when it is an answer. A server that runs but does not serve has given none.
std::optional<std::string> no_answer(const std::string& word, const ServerAnswer& answer);

}  // namespace zksh
