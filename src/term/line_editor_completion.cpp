// Line editor: Tab, and the completion that comes while somebody types.
#include "term/candidate_list.h"
#include "term/readline_bridge.h"

#include <algorithm>

namespace zksh {
namespace {

/// What is found out and listed at a time: a screenful of short names.
std::size_t candidates_on(ScreenSize screen) {
  constexpr int most = 200;
  constexpr int typical_columns = 4;
  return static_cast<std::size_t>(std::clamp(typical_columns * (screen.rows - 3), 1, most));
}

/// Whether readline is in the middle of something (a search, a count, a key of several bytes) that
/// a change of the line would confuse.
bool readline_is_busy() {
  return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_NUMERICARG | RL_STATE_MULTIKEY |
                    RL_STATE_METANEXT | RL_STATE_MOREINPUT | RL_STATE_VIMOTION) != 0;
}

void replace_before_cursor(std::size_t begin, const std::string& text) {
  rl_begin_undo_group();
  rl_delete_text(static_cast<int>(begin), rl_point);
  rl_point = static_cast<int>(begin);
  rl_insert_text(text.c_str());
  rl_end_undo_group();
}

}  // namespace

void LineEditor::complete(bool again) {
  awaited_.reset();
  if (!options_.complete) return;
  const auto cursor = static_cast<std::size_t>(rl_point);
  const auto found = options_.complete({.line = readline_text(),
                                        .cursor = cursor,
                                        .room = candidates_on(painter_.screen()),
                                        .again = again});
  const bool gained = found.text != readline_text().substr(found.begin, cursor - found.begin);
  if (gained && !found.awaited) {
    replace_before_cursor(found.begin, found.text);
  } else if (found.awaited) {
    awaited_ = {.line = std::string(readline_text()), .cursor = rl_point};
  } else if (found.list.empty()) {
    if (!again) rl_ding();
  } else {
    print(candidate_list(found.list, found.count, painter_.screen()));
  }
}

bool LineEditor::still_awaited() const {
  return awaited_ && active_ && !suspended_ && !readline_is_busy() &&
         rl_point == awaited_->cursor && readline_text() == awaited_->line;
}

void LineEditor::completion_is_slow() {
  if (!still_awaited() || awaited_->slow) return;
  awaited_->slow = true;
  paint();
}

void LineEditor::completion_came() {
  if (!still_awaited()) {
    awaited_.reset();
    return;
  }
  complete(true);
  paint();
}

}  // namespace zksh
