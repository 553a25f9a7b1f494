// Line style: the colours of the line being typed.
#pragma once

#include "term/edit_layout.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace zksh {

/// The parts of a line with a style of their own, in order: the command, existing or not, its
/// options, quoted words, operators, and comments. An incomplete name that may become a command's
/// has no style while the cursor is after it. A line over 16 KiB has no styles.
std::vector<StyledBytes> line_styles(std::string_view line, std::size_t cursor);

}  // namespace zksh
