// Line style: the colours of the line that is being typed.
#pragma once

#include "term/edit_layout.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace zksh {

/// The parts of a line that are drawn in a style of their own, in their order: the command, whether
/// there is one of that name, its options, quoted words, the signs of redirections, pipes and the
/// background, and comments. A name that still may become a command's has none while the cursor is
/// behind it. Of a line over 16 KiB nothing has one.
std::vector<StyledBytes> line_styles(std::string_view line, std::size_t cursor);

}  // namespace zksh
