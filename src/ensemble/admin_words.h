// AdminWords: gets the answers to four-letter words from AdminServers, where servers refuse them.
#pragma once

#include "client/four_letter_word.h"
#include "ensemble/admin_server.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The AdminServer's commands whose answers together correspond to a word's; empty if there are
/// none.
std::vector<std::string> admin_commands(std::string_view word);

/// Converts the JSON bodies of admin_commands, which are untrusted, to the word's answer, or to the
/// reason why there is none. What an AdminServer does not know is missing: in conf all but nine
/// lines and the voting members, in dump the connections and the time of day, and on a follower the
/// sessions. Source: Commands.java and the classes in server/command of ZooKeeper 3.5 to 3.9.
ServerAnswer admin_answer(std::string_view word, std::span<const std::string> bodies);

/// As inquire, but if a server does not allow a word, which only AdminServers know if it has more
/// than four letters, or closes the connection, asks its
/// AdminServer, within the same time again. The answer then has the word's form. If that fails too,
/// it is the server's own answer with admin_problem set.
std::vector<ServerAnswer> ask_words(const std::vector<ServerQuestion>& questions,
                                    const AdminServers& admin_servers, const AskLimits& limits);

/// A note for the reason why a server did not answer: that its AdminServer did not either. Empty if
/// that was not asked.
std::string admin_note(const ServerAnswer& answer);

}  // namespace zksh
