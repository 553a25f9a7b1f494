// Extended regex: POSIX extended regular expressions, matched by RE2.
#include "base/extended_regex.h"

#include "base/error.h"
#include "base/text.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <re2/re2.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// What stands for a class within RE2's brackets.
std::optional<std::string_view> class_members(std::string_view name) {
  using Class = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Class, 12> classes{{
      {"alpha", R"(\p{L})"},
      {"digit", "0-9"},
      {"alnum", R"(\p{L}\p{Nd})"},
      {"upper", R"(\p{Lu})"},
      {"lower", R"(\p{Ll})"},
      {"space", R"(\s\v\p{Z})"},
      {"blank", R"(\t\p{Zs})"},
      {"punct", R"([:punct:]\p{P}\p{S})"},
      {"cntrl", R"(\p{Cc})"},
      {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs})"},
      {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S})"},
      {"xdigit", "0-9A-Fa-f"},
  }};
  for (const auto& [known, members] : classes)
    if (known == name) return members;
  return std::nullopt;
}

/// Reads the expression once, from the left to the right.
class Translation {
 public:
  Translation(std::string_view expression, RegexText text) : in_(expression), text_(text) {}

  std::string result() {
    while (at_ < in_.size()) take();
    if (!groups_.empty()) throw RegexProblem(R"(Unmatched ( or \()");
    return std::move(out_);
  }

 private:
  void take() {
    switch (const char c = in_[at_]) {
      case '\\':
        return take_escape();
      case '[':
        return take_brackets();
      case '(':
        groups_.push_back(out_.size());
        return take_as("(?:", false);
      case ')':
        if (groups_.empty()) return take_character();
        atom_ = groups_.back();
        groups_.pop_back();
        return take_as(")", true);
      case '|':
      case '^':
      case '$':
        return take_as(std::string_view(&c, 1), false);
      case '.':
        atom_ = out_.size();
        return take_as(".", true);
      case '*':
      case '+':
      case '?':
        ++at_;
        return repeat(std::string(1, c));
      case '{':
        return take_interval();
      default:
        return take_character();
    }
  }

  /// One byte of the expression; `repeatable`: whether it ended what a "*" may stand behind.
  void take_as(std::string_view written, bool repeatable) {
    ++at_;
    out_ += written;
    repeatable_ = repeatable;
    repeated_ = false;
  }

  void take_character() {
    atom_ = out_.size();
    out_ += written(character());
    repeatable_ = true;
    repeated_ = false;
  }

  void take_escape() {
    if (++at_ == in_.size()) throw RegexProblem("Trailing backslash");
    atom_ = out_.size();
    switch (const char c = in_[at_]) {
      case 'w':
        return take_as(R"([\p{L}\p{Nd}_])", true);
      case 'W':
        return take_as(R"([^\p{L}\p{Nd}_])", true);
      case 's':
        return take_as(R"([\s\v\p{Z}])", true);
      case 'S':
        return take_as(R"([^\s\v\p{Z}])", true);
      case 'b':
      case '<':
      case '>':
        return take_as(R"(\b)", false);
      case 'B':
        return take_as(R"(\B)", false);
      case '`':
        return take_as(R"(\A)", false);
      case '\'':
        return take_as(R"(\z)", false);
      default:
        if (c >= '1' && c <= '9') throw RegexProblem("back-references are not supported");
        return take_character();
    }
  }

  /// A repetition of a repetition is one of a group: "+?" would mean something else to RE2.
  void repeat(const std::string& how) {
    if (!repeatable_) throw RegexProblem("Invalid preceding regular expression");
    if (repeated_) {
      out_.insert(atom_, "(?:");
      out_ += ')';
    }
    out_ += how;
    repeated_ = true;
  }

  void take_interval() {
    const auto end = in_.find('}', at_);
    if (!repeatable_) throw RegexProblem("Invalid preceding regular expression");
    if (end == std::string_view::npos) throw RegexProblem(R"(Unmatched { or \{)");
    const auto inside = in_.substr(at_ + 1, end - at_ - 1);
    const auto comma = inside.find(',');
    const auto least = count(inside.substr(0, comma));
    const auto most = comma == std::string_view::npos ? least : count(inside.substr(comma + 1));
    const bool open = comma != std::string_view::npos && inside.size() == comma + 1;
    const bool nothing = !least && (comma == std::string_view::npos || open);
    if (nothing || (!open && least.value_or(0) > *most))
      throw RegexProblem(R"(Invalid content of \{\})");
    at_ = end + 1;
    repeat(open ? fmt::format("{{{},}}", *least)
                : fmt::format("{{{},{}}}", least.value_or(0), *most));
  }

  /// RE2 repeats nothing more often than 1000 times: what is matched would be too large.
  static std::optional<int> count(std::string_view digits) {
    constexpr int limit = 1000;
    if (digits.empty()) return std::nullopt;
    int value = 0;
    const auto* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    if (rest != end || value < 0) throw RegexProblem(R"(Invalid content of \{\})");
    if (error != std::errc() || value > limit)
      throw RegexProblem(fmt::format("a repetition of more than {} is not supported", limit));
    return value;
  }

  void take_brackets() {
    atom_ = out_.size();
    out_ += '[';
    ++at_;
    if (at_ < in_.size() && in_[at_] == '^') {
      out_ += R"(^\n)";
      ++at_;
    }
    for (bool first = true; first || byte_in_brackets() != ']'; first = false) take_member();
    take_as("]", true);
  }

  char byte_in_brackets() const {
    if (at_ >= in_.size()) throw RegexProblem("Unmatched [, [^, [:, [., or [=");
    return in_[at_];
  }

  void take_member() {
    byte_in_brackets();
    if (const auto name = named(':')) {
      const auto members = class_members(*name);
      if (!members) throw RegexProblem("Invalid character class name");
      out_ += *members;
      return;
    }
    const auto from = bracketed();
    out_ += written(from);
    const bool range = byte_in_brackets() == '-' && at_ + 1 < in_.size() && in_[at_ + 1] != ']';
    if (!range) return;
    ++at_;
    const auto to = bracketed();
    if (to < from) throw RegexProblem("Invalid range end");
    out_ += '-' + written(to);
  }

  /// A single one of the characters in brackets, as "a", "[.-.]" or "[=a=]".
  char32_t bracketed() {
    for (const char sign : {'.', '='})
      if (const auto name = named(sign)) {
        Translation inside(*name, text_);
        if (name->empty()) throw RegexProblem("Invalid collation character");
        const auto found = inside.character();
        if (inside.at_ != name->size()) throw RegexProblem("Invalid collation character");
        return found;
      }
    return character();
  }

  /// What is between "[:" and ":]", and steps behind that; nullopt when there is no such thing.
  std::optional<std::string_view> named(char sign) {
    if (in_[at_] != '[' || at_ + 1 >= in_.size() || in_[at_ + 1] != sign) return std::nullopt;
    const std::array<char, 2> closing{sign, ']'};
    const auto end = in_.find(std::string_view(closing.data(), closing.size()), at_ + 2);
    if (end == std::string_view::npos) throw RegexProblem("Unmatched [, [^, [:, [., or [=");
    const auto name = in_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 2;
    return name;
  }

  char32_t character() {
    if (text_ == RegexText::Bytes) return static_cast<unsigned char>(in_[at_++]);
    const auto step = decode_utf8(in_, at_);
    at_ += step.length;
    return step.code_point;
  }

  static std::string written(char32_t code_point) {
    return fmt::format(R"(\x{{{:x}}})", static_cast<std::uint32_t>(code_point));
  }

  std::string_view in_;
  RegexText text_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<std::size_t> groups_;  ///< where open ones begin in out_
  std::size_t atom_ = 0;             ///< where what was read last begins in out_
  bool repeatable_ = false;
  bool repeated_ = false;
};

}  // namespace

std::string re2_of_posix(const std::string& expression, RegexText text) {
  return Translation(expression, text).result();
}

ExtendedRegex::ExtendedRegex(const std::string& text, std::string_view what, bool ignore_case) {
  const auto refuse = [&](std::string_view problem) {
    throw ValueError(
        fmt::format("{}: \"{}\" is not a regular expression: {}", what, text, problem));
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
