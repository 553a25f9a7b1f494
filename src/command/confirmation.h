// Confirmation: asks the user to confirm a removal.
#pragma once

#include "command/command.h"

#include <string>

namespace zksh {

/// Whether a command must ask before it removes nodes: not with `yes` (--yes), with the setting
/// confirm off, on piped input, in a dry run, or if nobody can be asked. Throws UsageError in the
/// background, where the question would never be seen.
bool needs_confirmation(const Context& cx, bool yes);

/// The question as shown, which mentions production servers.
std::string removal_question(const Context& cx, const std::string& question);

/// Asks a yes-or-no question; anything but a yes is a no. Blocks until the answer; throws Cancelled
/// on a stop.
bool confirmed_by_user(const Context& cx, const std::string& question);

}  // namespace zksh
