// ExtendedRegex: POSIX extended regular expressions over values of any bytes and any length.
#include "extended_regex.h"

#include "error.h"

#include <fmt/core.h>

#include <array>

namespace zksh {

ExtendedRegex::ExtendedRegex(const std::string& text, std::string_view what, bool ignore_case) {
  const int result =
      regcomp(&compiled_, text.c_str(),
              REG_EXTENDED | REG_NEWLINE | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
  if (result == 0) return;
  std::array<char, 200> problem{};
  regerror(result, &compiled_, problem.data(), problem.size());
  throw ValueError(
      fmt::format("{}: \"{}\" is no regular expression: {}", what, text, problem.data()));
}

bool ExtendedRegex::matches(std::string_view bytes) const {
  // With its ends given (a GNU and BSD extension), a NUL byte is one as any other.
  regmatch_t ends{.rm_so = 0, .rm_eo = static_cast<regoff_t>(bytes.size())};
  return regexec(&compiled_, bytes.data() ? bytes.data() : "", 1, &ends, REG_STARTEND) == 0;
}

}  // namespace zksh
