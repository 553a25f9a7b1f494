// AdminAnswer: what an AdminServer (ZooKeeper 3.5 and later) tells in JSON, in the form of the
// four-letter word that it stands for.
#pragma once

#include "client/four_letter_word.h"

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

}  // namespace zksh
