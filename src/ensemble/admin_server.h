// AdminServer: asks servers' AdminServers, and gives their answers the form of four-letter words.
#pragma once

#include "client/connect_string.h"
#include "client/four_letter_word.h"
#include "client/tls.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The addresses of the servers' AdminServers: HTTP (ZooKeeper 3.5 and later); over TLS if zksh
/// uses that (3.6 and later), unless the user says otherwise.
class AdminServers {
 public:
  /// Port 8080 of each server's host.
  AdminServers() = default;
  /// `text` is a port of each server's host; "HOST:PORT,…", one for each server of the connect
  /// string, in the same order; "off", to ask none; or empty, for port 8080. "http://" before it:
  /// without TLS. Throws ValueError.
  AdminServers(std::string_view text, const std::string& connect_string);

  /// nullopt: not to be asked.
  std::optional<ServerAddress> of(const ServerAddress& server) const;
  /// Whether the user has not specified them.
  bool guessed() const { return guessed_; }
  /// Null: they are asked without TLS.
  Tls* tls() const { return plain_ ? nullptr : zksh::tls(); }

 private:
  std::optional<int> port_ = 8080;
  bool guessed_ = true;
  bool plain_ = false;
  std::map<std::string, ServerAddress> named_;  ///< by ServerAddress::text()
};

/// A command of a server's AdminServer, such as "system_properties".
struct AdminRequest {
  ServerAddress server;  ///< for clients
  std::string command;
};
struct AdminReply {
  std::string server{};   ///< the AdminServer's address; empty: none was asked
  std::string body{};     ///< untrusted; empty if there is a problem
  std::string problem{};  ///< for the user: "zk1:8080: Connection refused"
};
/// As inquire. If their addresses are guessed, AdminServers must accept the connection within a
/// second.
std::vector<AdminReply> ask_admin_servers(const std::vector<AdminRequest>& requests,
                                          const AdminServers& admin_servers, AskLimits limits);
/// The values in a body outside of objects and lists; empty if it is not an AdminServer's, or holds
/// an error.
std::map<std::string, std::string> admin_fields(std::string_view body);

/// The body of a web server's untrusted answer to a GET, whose status is 200. Otherwise empty, and
/// `flaw` says why, for the user: "it answers HTTP 404".
std::string http_body(std::string answer, std::string& flaw);

struct FourLetterWord {
  std::string_view word;
  std::string_view meaning;
  bool writes = false;      ///< changes the server's state: its counters
  bool has_fields = false;  ///< its answer consists of lines with a key and a value
};
/// The words of ZooKeeper 3.4 to 3.9, and those of AdminServers alone, in alphabetical order.
std::span<const FourLetterWord> four_letter_words();
/// Null: there is none of this name.
const FourLetterWord* find_word(std::string_view name);

/// The AdminServer's commands whose answers together correspond to a word's; empty if there are
/// none.
std::vector<std::string> admin_commands(std::string_view word);

/// Converts the JSON bodies of admin_commands, which are untrusted, to the word's answer, or to the
/// reason why there is none. What an AdminServer does not know is missing: in conf all but nine
/// lines and the voting members, in dump the connections and the time of day, and on a follower the
/// sessions. Source: Commands.java and the classes in server/command of ZooKeeper 3.5 to 3.9.
ServerAnswer admin_answer(std::string_view word, std::span<const std::string> bodies);

/// As inquire, but if a server does not allow a word or closes the connection, asks its
/// AdminServer, within the same time again; only AdminServers know words of more than four letters.
/// The answer then has the word's form. If that fails too, it is the server's own answer with
/// admin_problem set.
std::vector<ServerAnswer> ask_words(const std::vector<ServerQuestion>& questions,
                                    const AdminServers& admin_servers, const AskLimits& limits);

/// A note to add to the reason why a server did not answer: that its AdminServer did not either.
/// Empty if the AdminServer was not asked.
std::string admin_note(const ServerAnswer& answer);

}  // namespace zksh
