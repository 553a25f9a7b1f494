// Line editor: what is shown behind the line, and taken into it.
#include "term/readline_bridge.h"

#include <algorithm>
#include <cctype>

namespace zksh {
namespace {

constexpr std::string_view slow_note = "  … asking the server";

/// How the newest line of the history goes on that begins with this text; empty: there is none.
std::string_view rest_of_newest(std::string_view text) {
  HIST_ENTRY** const entries = text.empty() ? nullptr : history_list();
  if (entries == nullptr) return {};
  for (int i = history_length - 1; i >= 0; --i) {
    const std::string_view line = entries[i]->line;
    if (line.size() > text.size() && line.starts_with(text)) return line.substr(text.size());
  }
  return {};
}

/// The bytes up to the end of the first word: letters and digits, and what stands before them.
std::size_t first_word(std::string_view text) {
  const auto is_in_word = [&](std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  };
  std::size_t end = 0;
  while (end < text.size() && !is_in_word(end)) ++end;
  while (end < text.size() && is_in_word(end)) ++end;
  return end;
}

}  // namespace

/// What is to stand behind the line now.
std::string_view LineEditor::hint_now() {
  if (dumb_ || rl_point != rl_end) return {};
  if (awaited_ && awaited_->slow && still_awaited()) return slow_note;
  const auto text = readline_text();
  if (!options_.hint || text.empty() || RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH)) return {};
  if (hinted_line_ != text) {
    hint_ = options_.hint(text, rest_of_newest(text));
    hinted_line_ = text;
  }
  return hint_.text;
}

bool LineEditor::take_hint(bool one_word) {
  if (rl_point != rl_end || rl_end == 0) return false;
  hint_now();
  if (!hinted_line_ || *hinted_line_ != readline_text() || !hint_.takeable || hint_.text.empty())
    return false;
  const std::string text = one_word ? hint_.text.substr(0, first_word(hint_.text)) : hint_.text;
  rl_insert_text(text.c_str());
  return true;
}

}  // namespace zksh
