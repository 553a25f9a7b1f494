// Complete values: completes values by their kind.
#pragma once

#include "shell/complete.h"

#include <string>

namespace zksh {

/// The candidates for the value of `argument`, of which `word` has been typed.
Candidates complete_value(const Argument& argument, const std::string& word,
                          const CompletionSources& sources);

/// The candidates for a word of a program's command line: for the first, programs in $PATH unless
/// it names a directory; then files.
Candidates complete_program(const std::string& word, bool first);

}  // namespace zksh
