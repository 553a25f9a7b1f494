// Line completion: the word before the cursor completed, written as the grammar of lines wants it.
#include "base/quoting.h"
#include "base/words.h"
#include "shell/complete.h"
#include "shell/complete_values.h"

#include <utility>

namespace zksh {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// What stands behind the cursor.
enum class Behind { Nothing, ClosingQuote, Text };

Behind behind(std::string_view line, std::size_t cursor, char quote) {
  if (cursor >= line.size()) return Behind::Nothing;
  const char next = line[cursor];
  if (quote == '\0') return is_blank(next) ? Behind::Nothing : Behind::Text;
  const bool closes = next == (quote == '$' ? '\'' : quote);
  const bool last = cursor + 1 == line.size() || is_blank(line[cursor + 1]);
  return closes && last ? Behind::ClosingQuote : Behind::Text;
}

/// What is typed for `text`, the whole word or its beginning. No value where it would not be read
/// back as that together with what stands behind the cursor.
std::optional<std::string> written(const std::string& text, bool whole, const TypedWords& typed,
                                   Behind what_follows, bool blank_follows) {
  const auto word = write_word(text, typed.quote);
  const char quote = word.closing.empty() ? '\0' : word.text.front();
  if (quote != typed.quote && what_follows != Behind::Nothing) return std::nullopt;
  if (!whole || what_follows == Behind::Text) return word.text;
  if (what_follows == Behind::ClosingQuote) return word.text;
  return word.text + word.closing + (blank_follows ? "" : " ");
}

/// The sign that sends results elsewhere, once it stands in the line; else empty. `last`: the one
/// that stands right before the word that is being typed.
struct SignBefore {
  std::string_view first{};
  std::string_view last{};
};

SignBefore sign_before(const TypedWords& typed) {
  SignBefore sign;
  for (const auto& word : typed.words) {
    const bool is_one = !word.quoted && (word.text == "|" || word.text == ">" || word.text == ">>");
    sign.last = is_one ? std::string_view(word.text) : std::string_view();
    if (is_one && sign.first.empty()) sign.first = word.text;
  }
  return sign;
}

Candidates candidates_for(const TypedWords& typed, const CompletionSources& sources) {
  if (const auto sign = sign_before(typed); !sign.first.empty()) {
    if (sign.first == "|") return complete_program(typed.last.text, sign.last == "|");
    return sign.last.empty() ? Candidates() : complete_program(typed.last.text, false);
  }
  std::vector<std::string> words;
  words.reserve(typed.words.size() + 1);
  for (const auto& word : typed.words) words.push_back(word.text);
  words.push_back(typed.last.text);
  return complete_command(words, sources);
}

std::vector<std::string> shown(const Candidates& candidates) {
  std::vector<std::string> list;
  list.reserve(candidates.first.size());
  for (const auto& candidate : candidates.first) {
    list.push_back(candidate.text.substr(candidates.directory));
    if (candidate.mark != '\0') list.back() += candidate.mark;
  }
  return list;
}

}  // namespace

LineCompletion complete_line(std::string_view line, std::size_t cursor,
                             const CompletionSources& sources) {
  LineCompletion completion{.begin = cursor, .text = {}};
  const auto typed = split_typed(line.substr(0, cursor));
  if (!typed) return completion;
  auto candidates = candidates_for(*typed, sources);
  completion.begin = typed->last.begin;
  completion.text = line.substr(completion.begin, cursor - completion.begin);
  completion.awaited = candidates.awaited;
  completion.count = candidates.count;
  if (candidates.count == 0) return completion;

  const bool only_one = candidates.count == 1 && candidates.first.size() == 1;
  const bool whole = only_one && !candidates.first.front().open;
  const auto& text = only_one ? candidates.first.front().text : candidates.common;
  // What is typed may be written in other ways than ours, which are left alone.
  if (whole || text.size() > typed->last.text.size()) {
    const auto what_follows = behind(line, cursor, typed->quote);
    const bool blank_follows = cursor < line.size() && is_blank(line[cursor]);
    if (auto better = written(text, whole, *typed, what_follows, blank_follows))
      completion.text = std::move(*better);
  }
  if (candidates.count > 1) completion.list = shown(candidates);
  return completion;
}

}  // namespace zksh
