// Inquiry: answers requests from the build, the tests and the shells' completion.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// Answers a request by a tool instead of a person; --help does not list these options:
///
///     --man FRAME        print the manual page, from its hand-written frame
///     --examples         print the examples of all commands, as NAME<TAB>LINE
///     --complete WORD…   print the completions of the last word of a `zksh` command line
///
/// Writes to standard output and returns the exit status; nullopt if `words`, zksh's own arguments,
/// begin with none of them. Throws Error. Candidates are printed within a second or not at all,
/// whatever the servers do, and failures are not reported.
std::optional<int> answer_inquiry(const std::vector<std::string>& words);

}  // namespace zksh
