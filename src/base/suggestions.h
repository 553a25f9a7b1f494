// Suggestions: the known words closest to a misspelled one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// At most three candidates, best first: those that `word` is a prefix of, and those within a small
/// edit distance (Damerau-Levenshtein, optimal string alignment): a third of the longer word, or
/// two edits if it has three letters or more. A difference in case counts half an edit.
std::vector<std::string> suggestions(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace zksh
