// WorkAccount: what is said of work on many nodes that ends before its end.
#pragma once

#include "command/command.h"
#include "command/progress.h"

#include <functional>
#include <string>

namespace zksh {

/// Runs `work` and takes its progress away. When the work throws, it says on stderr what was done
/// by then, and throws on: "not complete: 300 nodes were created; of 8 more it is not known".
/// `told` gives what comes behind "not complete: "; empty: there is nothing to say. Nothing is said
/// of a rehearsal. Blocks as `work` does.
void accounting(Context& cx, Progress& progress, const std::function<void()>& work,
                const std::function<std::string()>& told);

/// The end of what `told` gives, where a number of nodes may be done or not.
std::string unknown_text(std::size_t nodes);

}  // namespace zksh
