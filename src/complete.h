// Complete: what could stand in a word's place, derived from the declarations of the commands.
#pragma once

#include "options.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Gives the names of a node's children that begin with `prefix`, in their order. A name that ends
/// in a slash has children itself. Must not throw, and may block no longer than its caller can
/// wait. None: no node paths are offered.
using PathSource =
    std::function<std::vector<std::string>(const std::string& parent, const std::string& prefix)>;

/// Whether more is to come behind a candidate, so that no blank belongs there: below a node, or
/// the value of an option.
bool goes_on(std::string_view candidate);

/// The candidates for the last of a command's words (the first is its name; the last may be empty),
/// each the whole word: commands and aliases, options, choices, files or node paths. They may stand
/// in any order.
std::vector<std::string> complete_command(const std::vector<std::string>& words,
                                          const PathSource& paths);

/// The same for a line that is being typed: for the word between `word_begin` and `cursor`. None
/// within quotes.
std::vector<std::string> complete_line(std::string_view line, std::size_t word_begin,
                                       std::size_t cursor, const PathSource& paths);

/// The same for the command line of zksh itself, in the user's own shell: `words` without the
/// program's name. `options` are zksh's own; `paths_of` gives the nodes of the server that is named
/// there (empty: none is).
std::vector<std::string> complete_invocation(
    const std::vector<std::string>& words, const std::vector<Argument>& options,
    const std::function<PathSource(const std::string& server)>& paths_of);

}  // namespace zksh
