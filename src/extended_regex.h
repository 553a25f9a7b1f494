// ExtendedRegex: POSIX extended regular expressions over values of any bytes and any length.
#pragma once

#include <regex.h>
#include <string>
#include <string_view>

namespace zksh {

/// The C library's, not std::regex, whose recursion overflows the stack on long values.
class ExtendedRegex {
 public:
  /// Throws ValueError, which names `what`, when it is malformed.
  ExtendedRegex(const std::string& text, std::string_view what, bool ignore_case = false);
  ExtendedRegex(const ExtendedRegex&) = delete;
  ExtendedRegex& operator=(const ExtendedRegex&) = delete;
  ~ExtendedRegex() { regfree(&compiled_); }

  /// Whether it matches anywhere; ^ and $ match at every line's ends, as with grep -E.
  bool matches(std::string_view bytes) const;

 private:
  regex_t compiled_{};
};

}  // namespace zksh
