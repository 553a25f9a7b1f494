// PosixRegex: a POSIX extended regular expression, written as RE2 wants it.
#pragma once

#include <stdexcept>
#include <string>

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

}  // namespace zksh
