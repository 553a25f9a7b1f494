// Regex: regular expressions in RE2's syntax.
#include "base/regex.h"

#include "base/error.h"
#include "base/text.h"

#include <fmt/core.h>

#include <re2/re2.h>

namespace zksh {

Regex::Regex(const std::string& expression, std::string_view what, Options options) {
  RE2::Options how;
  how.set_log_errors(false);
  how.set_case_sensitive(!options.ignore_case);
  how.set_literal(options.literal);
  if (!is_utf8(expression)) how.set_encoding(RE2::Options::EncodingLatin1);
  const std::string lines = options.literal ? "" : "(?m)";
  compiled_ = std::make_unique<RE2>(lines + expression, how);
  if (compiled_->ok()) return;
  auto problem = compiled_->error();
  if (const auto at = problem.find(lines + expression); at != std::string::npos)
    problem.erase(at, lines.size());
  throw ValueError(
      fmt::format("{}: \"{}\" is not a valid regular expression: {}", what, expression, problem));
}

Regex::~Regex() = default;

bool Regex::matches(std::string_view bytes) const {
  return RE2::PartialMatch({bytes.data(), bytes.size()}, *compiled_);
}

bool Regex::matches_whole(std::string_view bytes) const {
  return RE2::FullMatch({bytes.data(), bytes.size()}, *compiled_);
}

}  // namespace zksh
