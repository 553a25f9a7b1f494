// LineHistory: the numbered lines of this run, for `history` and `redo`.
#include "command/line_history.h"

#include "base/secrets.h"

namespace zksh {
namespace {

constexpr std::size_t most_lines = 10000;
constexpr std::size_t most_bytes = 4U << 20U;

}  // namespace

void LineHistory::add(const std::string& line) {
  const auto masked = mask_secrets(line);
  lines_.push_back({masked.value_or(line), masked.has_value()});
  bytes_ += lines_.back().text.size();
  trim();
}

void LineHistory::replace_last(const Line& line) {
  bytes_ -= lines_.back().text.size();
  lines_.back() = line;
  bytes_ += lines_.back().text.size();
  trim();
}

void LineHistory::trim() {
  while (lines_.size() > 1 && (lines_.size() > most_lines || bytes_ > most_bytes)) {
    bytes_ -= lines_.front().text.size();
    lines_.pop_front();
    ++first_;
  }
}

}  // namespace zksh
