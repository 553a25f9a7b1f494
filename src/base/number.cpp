// Numbers: whole numbers as the user writes them.
#include "base/number.h"

#include "base/error.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

namespace zksh {

bool is_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool begins_as_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() && word.front() >= '0' && word.front() <= '9';
}

std::int64_t parse_number(std::string_view word, std::string_view what, std::int64_t min,
                          std::int64_t max) {
  auto digits = word;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || end != digits.data() + digits.size() ||
      problem == std::errc::invalid_argument)
    throw UsageError(fmt::format("{}: \"{}\" is not a whole number", what, word));
  if (problem != std::errc{} || number < min || number > max)
    throw UsageError(fmt::format("{}: {} is out of range, {} to {}", what, word, min, max));
  return number;
}

}  // namespace zksh
