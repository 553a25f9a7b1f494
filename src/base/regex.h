// Regex: regular expressions in RE2's syntax.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace zksh {

/// A compiled expression (https://github.com/google/re2/wiki/Syntax). Matching takes time in
/// proportion to the length of the text, whatever the expression: regexec(3) takes the square of it
/// for "a.*b.*c" and cannot be interrupted, and std::regex overflows the stack.
///
/// "^" and "$" match at the ends of lines, and "." does not match a newline. The text may hold any
/// bytes; a byte that is not part of a UTF-8 character matches nothing. In an expression that is
/// not UTF-8 itself, each byte is a character. Thread-safe.
class Regex {
 public:
  struct Options {
    bool ignore_case = false;
    bool literal = false;  ///< the expression is plain text
  };
  /// Throws ValueError, which names `what`, when the expression is malformed or too large.
  Regex(const std::string& expression, std::string_view what, Options options);
  Regex(const std::string& expression, std::string_view what) : Regex(expression, what, {}) {}
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex();

  /// Whether it matches anywhere.
  bool matches(std::string_view bytes) const;
  /// Whether it matches all of the bytes.
  bool matches_whole(std::string_view bytes) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace zksh
