// History expansion: replaces a typed line that begins with ! by an earlier one.
#pragma once

#include "command/line_history.h"

#include <optional>
#include <string>

namespace zksh {

/// Expands `!!` (the previous line), `!N` (line number N), `!-N` (the Nth line before) or `!TEXT`
/// (the newest line that begins with TEXT), and appends what follows that word; nullopt if the line
/// does not begin with `!`. Elsewhere `!` is data. Throws ValueError if there is no such line, or
/// if it had a secret, which was not kept.
std::optional<std::string> expand_history(const std::string& line, const LineHistory& history);

}  // namespace zksh
