// Line hint: the hint after the line being typed.
#pragma once

#include "term/line_editor.h"

#include <string>
#include <string_view>

namespace zksh {

/// What may follow according to the command's declaration, with a blank before it if needed; empty
/// if nothing may, or the command is unknown.
std::string syntax_ahead(std::string_view line);

/// The hint for the last command of a text: its syntax until its first argument is typed;
/// afterwards, and while the command's name is incomplete, the newest history line that begins with
/// `text`, if any. `history_rest` is the rest of that line.
LineHint line_hint(std::string_view text, std::string_view history_rest);

}  // namespace zksh
