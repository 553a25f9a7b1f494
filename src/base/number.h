// Numbers: whole numbers as the user writes them.
#pragma once

#include <cstdint>
#include <string_view>

namespace zksh {

/// Whether a word is a decimal number with an optional sign, of any size.
bool is_number(std::string_view word);
/// Whether a word begins as a number does: with a digit, behind a sign or not.
bool begins_as_number(std::string_view word);

/// A decimal number of the given range, else UsageError naming `what` and the word.
std::int64_t parse_number(std::string_view word, std::string_view what, std::int64_t min,
                          std::int64_t max);

}  // namespace zksh
