// Line completion: the word before the cursor completed, written as the grammar of lines wants it.
#include "complete.h"
#include "quoting.h"
#include "words.h"

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
  std::vector<std::string> words;
  words.reserve(typed->words.size() + 1);
  for (const auto& word : typed->words) words.push_back(word.text);
  words.push_back(typed->last.text);
  auto candidates = complete_command(words, sources);
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
