// Suggestions: the known words closest to a misspelled one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// At most three candidates: the nearest of those that `word` is a prefix of, and those within a
/// small edit distance (Damerau-Levenshtein, optimal string alignment): one edit, two from seven
/// letters, three from thirteen. A letter in the wrong case counts half an edit, as does a word
/// that differs in nothing else.
std::vector<std::string> suggestions(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace zksh
