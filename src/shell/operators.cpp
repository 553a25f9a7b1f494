// Operators: finds the operators of a line, which say where its results and errors go.
#include "shell/operators.h"

#include "base/error.h"
#include "base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace zksh {
namespace {

using OperatorKind = Operator::Kind;
constexpr std::string_view fd_digits = "0123456789";

constexpr auto known_operators = std::to_array<std::pair<std::string_view, OperatorKind>>({
    {"|", OperatorKind::Program},
    {">", OperatorKind::File},
    {"1>", OperatorKind::File},
    {">>", OperatorKind::Append},
    {"1>>", OperatorKind::Append},
    {"2>", OperatorKind::ErrorFile},
    {"2>>", OperatorKind::AppendErrors},
    {"2>&1", OperatorKind::ErrorsToResults},
});

/// The end of a quote that opens inside a bare word, so that `{"a":">"}` is one value;
/// npos if it is not closed: an apostrophe.
std::size_t closing_inside(std::string_view word, std::size_t at) {
  return word[at] == '"' || word[at] == '\'' ? word.find(word[at], at + 1) : std::string_view::npos;
}

/// The length of the operator at the beginning of a text, without a number before it; 0: none.
std::size_t length_at(std::string_view text) {
  constexpr std::array<std::string_view, 11> signs{"&>>", "&>", "&&", "||", "|&", "|",
                                                   ">>",  ">|", ">&", ">",  "<"};
  const auto* const sign =
      std::ranges::find_if(signs, [&](std::string_view known) { return text.starts_with(known); });
  if (sign == signs.end()) return 0;
  if (*sign == "<") return std::min(text.find_first_not_of('<'), text.size());
  if (*sign == ">&") return std::min(text.find_first_not_of("0123456789-", 2), text.size());
  return sign->size();
}

std::optional<Operator> operator_in(std::string_view line, const WordPlace& place) {
  const auto word = line.substr(0, place.end);
  // At the end of a line, & has been taken off; a comment's line begins with #.
  if (const auto text = word.substr(place.begin); text == "&" || text == "#")
    return Operator{.begin = place.begin, .end = place.end};
  for (auto at = place.begin; at < word.size(); ++at) {
    if (const auto closing = closing_inside(word, at); closing != std::string_view::npos) {
      at = closing;
      continue;
    }
    const auto length = length_at(word.substr(at));
    if (length == 0) continue;
    const auto before = word.substr(place.begin, at - place.begin);
    const bool numbered = (word[at] == '>' || word[at] == '<') && !before.empty() &&
                          before.find_first_not_of(fd_digits) == std::string_view::npos;
    Operator found{.begin = numbered ? place.begin : at, .end = at + length};
    const auto text = found.text_in(line);
    const auto* const known =
        std::ranges::find(known_operators, text, &std::pair<std::string_view, OperatorKind>::first);
    if (known != known_operators.end()) found.kind = known->second;
    return found;
  }
  return std::nullopt;
}

std::string_view instead_of(std::string_view text) {
  const auto sign = text.substr(std::min(text.find_first_not_of(fd_digits), text.size()));
  if (sign == "&")
    return "only a line typed at the prompt runs in the background, with & at its end";
  if (sign == "#") return "write a comment on a line of its own";
  if (sign == "&&") return "use ;, which stops after a failure";
  if (sign == "||") return "use your shell's (zksh … || zksh …)";
  if (sign == "|&") return "use 2>&1 |";
  if (sign == "&>" || sign == ">&") return "use > FILE 2>&1";
  if (sign == "&>>") return "use >> FILE 2>&1";
  if (sign == ">|") return "use >, which replaces a file";
  if (sign == "<<<") return "write the text as the value";
  if (sign.starts_with("<<")) return "write the lines as one value in $'…' with \\n, or use @FILE";
  if (sign.starts_with('<')) return "use @FILE as the value to read it from a file";
  if (sign.starts_with(">&")) return "only 2>&1 joins two streams";
  return "only results (> or 1>) and errors (2>) can go to a file";
}

}  // namespace

std::vector<Operator> operators_in(std::string_view line) {
  std::vector<Operator> found;
  if (is_blank_or_comment(line)) return found;
  std::size_t at = 0;
  while (const auto place = word_place_from(line, at)) {
    at = place->end;
    if (place->quoted()) continue;
    if (const auto next = operator_in(line, *place)) {
      found.push_back(*next);
      if (next->kind == OperatorKind::Program) break;
      at = next->end;
    }
  }
  return found;
}

void refuse_operator(std::string_view text) {
  const auto* const where = text == "&" || text == "#" ? " here" : "";
  throw ValueError(fmt::format("zksh has no {0}{1}; {2} (to use {0} as a value, quote it)", text,
                               where, instead_of(text)));
}

}  // namespace zksh
