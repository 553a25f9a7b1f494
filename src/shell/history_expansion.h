// History expansion: a typed line that begins with ! stands for an earlier one.
#pragma once

#include "command/line_history.h"

#include <optional>
#include <string>

namespace zksh {

/// The line that is meant by `!!` (the line before), `!N` (the line with this number), `!-N` (the
/// Nth before) or `!TEXT` (the newest that begins with TEXT), with what was typed behind that word;
/// nullopt when the line does not begin with `!`. Elsewhere a `!` is data.
/// Throws ValueError when there is no such line, or when it held a secret, which was not kept.
std::optional<std::string> expand_history(const std::string& line, const LineHistory& history);

}  // namespace zksh
