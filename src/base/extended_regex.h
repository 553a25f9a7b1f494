// ExtendedRegex: POSIX extended regular expressions over values of any bytes and any length.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace zksh {

/// Matched by RE2, in a time and a memory that grow with the value's length alone. The C library's
/// regexec takes the square of the length for expressions as "a.*b.*c", and cannot be interrupted;
/// std::regex overflows the stack.
///
/// Values need not be UTF-8: a byte that is none is matched by no character. Where the expression
/// itself is no UTF-8, each byte is a character.
class ExtendedRegex {
 public:
  /// Throws ValueError, which names `what`, when it is malformed or too large (posix_regex.h).
  ExtendedRegex(const std::string& text, std::string_view what, bool ignore_case = false);
  ExtendedRegex(const ExtendedRegex&) = delete;
  ExtendedRegex& operator=(const ExtendedRegex&) = delete;
  ~ExtendedRegex();

  /// Whether it matches anywhere; ^ and $ match at every line's ends, as with grep -E.
  bool matches(std::string_view bytes) const;
  /// Whether it matches all from the first to the last byte.
  bool matches_whole(std::string_view bytes) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace zksh
