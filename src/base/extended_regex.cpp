// ExtendedRegex: POSIX extended regular expressions over values of any bytes and any length.
#include "base/extended_regex.h"

#include "base/error.h"
#include "base/posix_regex.h"
#include "base/utf8.h"

#include <fmt/core.h>

#include <re2/re2.h>

namespace zksh {

ExtendedRegex::ExtendedRegex(const std::string& text, std::string_view what, bool ignore_case) {
  const auto refuse = [&](std::string_view problem) {
    throw ValueError(fmt::format("{}: \"{}\" is no regular expression: {}", what, text, problem));
  };
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!ignore_case);
  const bool utf8 = is_utf8(text);
  if (!utf8) options.set_encoding(RE2::Options::EncodingLatin1);
  try {
    const auto written = re2_of_posix(text, utf8 ? RegexText::Utf8 : RegexText::Bytes);
    compiled_ = std::make_unique<RE2>("(?m)" + written, options);
  } catch (const RegexProblem& problem) {
    refuse(problem.what());
  }
  if (!compiled_->ok()) refuse("Regular expression too big");
}

ExtendedRegex::~ExtendedRegex() = default;

bool ExtendedRegex::matches(std::string_view bytes) const {
  return RE2::PartialMatch({bytes.data(), bytes.size()}, *compiled_);
}

bool ExtendedRegex::matches_whole(std::string_view bytes) const {
  return RE2::FullMatch({bytes.data(), bytes.size()}, *compiled_);
}

}  // namespace zksh
