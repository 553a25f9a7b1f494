// AnswerNotes: passes content from the connection to the completions.
#include "session/answer_notes.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace zksh {

void AnswerNotes::note_creation(std::string_view path, std::int64_t zxid) {
  const std::lock_guard lock(mutex_);
  if (creations_.size() == most_creations) creations_.pop_front();
  creations_.push_back({.path = std::string(path), .zxid = zxid});
}

std::int64_t AnswerNotes::take_creation(std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      creations_, [&](const Creation& creation) { return creation.path.ends_with(path); });
  if (found == creations_.end()) return 0;
  const auto zxid = found->zxid;
  creations_.erase(creations_.begin(), std::next(found));
  return zxid;
}

std::int64_t AnswerNotes::keep(LargeAnswer answer) {
  static std::atomic<std::int64_t> last{0};
  const auto number = ++last;
  const std::lock_guard lock(mutex_);
  answers_.emplace(number, std::move(answer));
  return number;
}

std::optional<LargeAnswer> AnswerNotes::take_answer(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  auto found = answers_.extract(number);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

}  // namespace zksh
