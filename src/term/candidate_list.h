// Candidate list: several completions as a table, to be shown above the line that is typed.
#pragma once

#include "term/terminal.h"

#include <string>
#include <vector>

namespace zksh {

/// The texts in columns, from top to bottom and then from left to right, as many as fit on the
/// screen above the edited line; a last line says how many more there are, of `count` in all.
/// Control characters are shown escaped.
std::string candidate_list(const std::vector<std::string>& candidates, std::size_t count,
                           ScreenSize screen);

}  // namespace zksh
