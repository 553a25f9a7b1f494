// Line hint: what is shown behind the line that is being typed.
#pragma once

#include "term/line_editor.h"

#include <string>
#include <string_view>

namespace zksh {

/// What may still come by the command's declaration, with a blank before it where the line needs
/// one; empty when nothing may, or nobody knows the command.
std::string syntax_ahead(std::string_view line);

/// Of the last command of a text, the syntax while its first argument is still to come: it says
/// what the command wants. From then on, and while the command's name is incomplete, the newest
/// line of the history that begins like `text`, if there is one. `history_rest`: how that line goes
/// on.
LineHint line_hint(std::string_view text, std::string_view history_rest);

}  // namespace zksh
