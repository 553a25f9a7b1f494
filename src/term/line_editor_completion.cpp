// Line editor: Tab, and the completion that comes while somebody types.
#include "term/candidate_list.h"
#include "term/readline_bridge.h"

#include <algorithm>
#include <termios.h>

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

/// Returns the number of candidates; 0 while they are awaited.
std::size_t LineEditor::complete(bool again) {
  awaited_.reset();
  if (!options_.complete) return 0;
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
  return found.awaited ? 0 : found.count;
}

bool LineEditor::still_awaited() const {
  return awaited_ && active_ && !suspended_ && !readline_is_busy() &&
         rl_point == awaited_->cursor && readline_text() == awaited_->line;
}

void LineEditor::completion_is_slow() {
  if (!still_awaited() || awaited_->slow) return;
  awaited_->slow = true;
  if (awaited_->enter) drop_enter();
  paint();
}

void LineEditor::completion_came() {
  if (!still_awaited()) {
    awaited_.reset();
    return;
  }
  const bool enter = awaited_->enter;
  const bool one = complete(true) == 1;
  if (enter && one) {
    input_.put_back('\n');
  } else if (enter) {
    drop_enter();
  }
  paint();
}

/// Enter behind a Tab whose completion is still to come: what stands there is not what is meant.
/// False: there is no such Tab.
bool LineEditor::hold_enter() {
  if (!still_awaited() || awaited_->slow) return false;
  awaited_->enter = true;
  return true;
}

/// Whoever typed on has not seen that the line did not run.
void LineEditor::drop_enter() {
  if (awaited_) awaited_->enter = false;
  input_.drop_ahead();
  tcflush(options_.in, TCIFLUSH);
  rl_ding();
}

}  // namespace zksh
