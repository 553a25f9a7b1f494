// Script arguments: substitutes $1, $2, …, $# and $@ in the lines of a script.
#pragma once

#include "base/words.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Whether a text refers to arguments, in quotes or not.
bool names_arguments(std::string_view text);

/// Substitutes a script's arguments in bare words and "…", but not in '…' and $'…'. $N or ${N}
/// anywhere in a word is the Nth argument: whatever it contains, blanks or quotes, the word remains
/// one, its pattern characters are literal, and it is no option. $# is their number, and a word $@
/// becomes all of them, one word each. Throws ValueError naming an argument that was not given.
/// `line` is the text that the words were split from.
std::vector<Word> with_arguments(std::vector<Word> words, std::string_view line,
                                 const std::vector<std::string>& arguments);

}  // namespace zksh
