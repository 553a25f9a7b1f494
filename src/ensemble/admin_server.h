// AdminServer: where four-letter words are refused, the HTTP server that answers the same.
#pragma once

#include "client/connect_string.h"
#include "client/four_letter_word.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The commands of an AdminServer that tell together what a word does; none for another word.
std::vector<std::string> admin_commands(std::string_view word);

/// `bodies`: JSON, untrusted, of each of admin_commands. What the word would have answered, or why
/// there is nothing. What an AdminServer does not know is left out: of conf all but nine lines and
/// the voting members, of dump the connections and the time of day; on a follower its sessions.
/// Source: Commands.java and the classes in server/command of ZooKeeper 3.5 to 3.9.
ServerAnswer admin_answer(std::string_view word, std::span<const std::string> bodies);

/// Where the AdminServers of servers are: plain HTTP, ZooKeeper 3.5 and later.
class AdminServers {
 public:
  /// At port 8080 of each server's host.
  AdminServers() = default;
  /// `text`: a port, of each server's host; "HOST:PORT,…", one for each server of the connect
  /// string, in its order; "off": none is asked; empty: port 8080. Throws ValueError.
  AdminServers(std::string_view text, const std::string& connect_string);

  /// Nothing: it is not asked.
  std::optional<ServerAddress> of(const ServerAddress& server) const;
  /// Nobody has said where they are.
  bool guessed() const { return guessed_; }

 private:
  std::optional<int> port_ = 8080;
  bool guessed_ = true;
  std::map<std::string, ServerAddress> named_;  ///< by the text of the server's address
};

/// As inquire. A word that a server does not allow, or that it closes the connection on, is asked
/// of its AdminServer, which has the same time again, and a second to take the connection when it
/// is only guessed where it is; `text` is then in the word's form. When that fails too, the answer
/// is the server's own with an admin_problem.
std::vector<ServerAnswer> ask_words(const std::vector<ServerQuestion>& questions,
                                    const AdminServers& admin_servers, const AskLimits& limits);

/// What is to be added to the reason why a server did not answer: that its AdminServer did not,
/// either; empty when none was asked.
std::string admin_note(const ServerAnswer& answer);

}  // namespace zksh
