// Suggestions: the known words that a mistyped one may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The candidates within a small edit distance of `word` (Damerau-Levenshtein, optimal string
/// alignment; at most a third of the longer word, two edits at least allowed for three letters and
/// more), and those that it begins; best first, at most three. Case counts half an edit.
std::vector<std::string> suggestions(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace zksh
