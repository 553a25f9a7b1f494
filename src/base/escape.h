// Escape: untrusted text made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

/// Escapes what could move the cursor, set the title or fake a prompt: control bytes (C0, C1, DEL),
/// bidi marks and invalid UTF-8 become \n, \t, \xHH or \uHHHH; a backslash stays as it is.
/// `keep_newlines`: for values, whose lines are shown as lines.
std::string escape_for_terminal(std::string_view bytes, bool keep_newlines = false);

}  // namespace zksh
