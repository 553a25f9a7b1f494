// JobArgument: which job in the background a command is about.
#pragma once

#include "command/command.h"
#include "command/job_table.h"

#include <optional>
#include <string>

namespace zksh {

/// The jobs of the shell. Throws ValueError in a script, where there are none.
JobTable& jobs_of(const Context& cx);

/// The job that `%N` or `N` names; without a word the newest, or, `only`, the only one.
/// Throws ValueError when there is no such job, or none, or more than one.
JobTable::Job job_of(const Context& cx, const std::optional<std::string>& word, bool only);

}  // namespace zksh
