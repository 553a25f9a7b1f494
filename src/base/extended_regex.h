// Extended regex: POSIX extended regular expressions, matched by RE2.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace zksh {

/// What is wrong with an expression, in the words of grep -E.
class RegexProblem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How the bytes of an expression are to be taken.
enum class RegexText { Utf8, Bytes };

/// The expression (IEEE Std 1003.1, 9.4) in RE2's own syntax, with the extensions of the GNU
/// library: \w \W \s \S \b \B \< \> \` \' and {,n}. As with its REG_NEWLINE, neither "." nor
/// "[^…]" takes a newline; "^" and "$" are the ends of lines where RE2 is told so (?m).
///
/// Classes as [[:alpha:]] and \w know all letters of Unicode; \b knows those of ASCII, and \< and
/// \> are the same as it.
/// Throws RegexProblem for what is malformed, and for back-references: no expression with them can
/// be matched in a time that grows with the text alone.
std::string re2_of_posix(const std::string& expression, RegexText text);

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
