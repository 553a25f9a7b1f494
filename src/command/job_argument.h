// JobArgument: finds the background job that a command's argument names.
#pragma once

#include "command/command.h"
#include "command/job_table.h"

#include <optional>
#include <string>

namespace zksh {

/// The shell's jobs. Throws ValueError in a script, which has none.
JobTable& jobs_of(const Context& cx);

/// The job named by `%N` or `N`. Without a word, the newest job, or with `only`, the only one.
/// Throws ValueError if there is no such job, or more than one.
JobTable::Job job_of(const Context& cx, const std::optional<std::string>& word, bool only);

}  // namespace zksh
