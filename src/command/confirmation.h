// Confirmation: whether the user agrees to a removal before it begins.
#pragma once

#include "command/command.h"

#include <string>

namespace zksh {

/// Whether a command that removes nodes is to ask first: not with `yes` (--yes), where questions
/// are switched off, on piped input, in a rehearsal, nor where nobody can be asked. Throws
/// UsageError in the background, where a question would never be seen.
bool asks_before_removal(const Context& cx, bool yes);

/// The question as it is shown: servers that are called production are named as such.
std::string removal_question(const Context& cx, const std::string& question);

/// Asks a yes-or-no question; whatever is not a yes is a no. Blocks until the answer; throws
/// Cancelled on a stop.
bool agreed(const Context& cx, const std::string& question);

}  // namespace zksh
