// Script arguments: $1, $2, …, $# and $@ in the lines of a script.
#pragma once

#include "base/words.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Whether a text has something that stands for arguments, in quotes or not.
bool names_arguments(std::string_view text);

/// Puts a script's arguments into a line's words, bare ones and those in "…"; '…' and $'…' stay.
/// $N or ${N} is the Nth argument, wherever in a word it stands: whatever it holds, blanks or
/// quotes, that stays one word, and its pattern characters match nothing but themselves. $# is
/// their number, and a word $@ all of them, each as a word. Throws ValueError that names an
/// argument that was not given.
/// `line`: from which the words were split.
std::vector<Word> with_arguments(std::vector<Word> words, std::string_view line,
                                 const std::vector<std::string>& arguments);

}  // namespace zksh
