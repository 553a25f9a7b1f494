// WorkAccount: reports how far work on many nodes got if it ends early.
#pragma once

#include "command/command.h"
#include "command/progress.h"

#include <functional>
#include <string>

namespace zksh {

/// Runs `work` and ends its progress. If `work` throws, prints to stderr what was done by then, and
/// rethrows: "not complete: 300 nodes were created; of 8 more it is not known". `summary` returns
/// the text after "not complete: "; if it is empty, nothing is printed, nor in a dry run. Blocks as
/// `work` does.
void report_if_incomplete(Context& cx, Progress& progress, const std::function<void()>& work,
                          const std::function<std::string()>& summary);

/// The end of that text, for nodes that may or may not be done.
std::string unknown_text(std::size_t nodes);

}  // namespace zksh
