// Confirmation: asks the user to confirm a removal.
#pragma once

#include "command/command.h"

#include <cstddef>
#include <optional>
#include <string>

namespace zksh {

/// Whether a command must ask before it removes nodes: not with `yes` (--yes), with the setting
/// confirm off, on piped input, in a dry run, or if nobody can be asked. Throws UsageError in the
/// background, where the question would never be seen.
bool needs_confirmation(const Context& cx, bool yes);

/// Nodes that are about to be removed.
struct PlannedRemoval {
  std::string what;    ///< for the question, a sentence: "/app: 3 nodes."
  std::string word;    ///< what must be typed if they are many, or the servers are of production
  std::string path{};  ///< what may be typed instead
  std::size_t nodes = 0;
};
/// Asks whether to remove them, more insistently for many. Returns why nothing is removed, or
/// nullopt to go on. Blocks until the answer; throws Cancelled on a stop.
std::optional<std::string> removal_refusal(const Context& cx, const PlannedRemoval& removal);

/// Asks a yes-or-no question; anything but a yes is a no. Blocks until the answer; throws Cancelled
/// on a stop.
bool confirmed_by_user(const Context& cx, const std::string& question);

}  // namespace zksh
