// TypedLine: the colours of the line being typed, and the hint after it.
#pragma once

#include "term/edit_layout.h"
#include "term/line_editor.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The parts of a line with a style of their own, in order: the command, existing or not, its
/// options, quoted words, operators, and comments. An incomplete name that may become a command's
/// has no style while the cursor is after it. A line over 16 KiB has no styles.
std::vector<StyledBytes> line_styles(std::string_view line, std::size_t cursor);

/// What may follow according to the command's declaration, with a blank before it if needed; empty
/// if nothing may, or the command is unknown.
std::string syntax_ahead(std::string_view line);

/// The hint for the last command of a text: its syntax until its first argument is typed;
/// afterwards, and while the command's name is incomplete, the newest history line that begins with
/// `text`, if any. `history_rest` is the rest of that line.
LineHint line_hint(std::string_view text, std::string_view history_rest);

}  // namespace zksh
