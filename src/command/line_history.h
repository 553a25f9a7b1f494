// LineHistory: the numbered lines of this run, for `history` and `redo`.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Numbers count from 0 and never change; the oldest lines are dropped when many, or long ones,
/// have gathered. Used by one thread at a time.
class LineHistory {
 public:
  struct Line {
    std::string text;     ///< a secret in it is masked
    bool masked = false;  ///< it cannot be run again as it stands here
  };

  /// Takes a line as it was typed; masks the secrets in it.
  void add(const std::string& line);
  /// Takes a line that is to be kept out, and counts it.
  void add_unkept() { lines_.push_back({.text = "", .masked = true}); }
  /// `redo` puts the line that it ran again in its own place. Not of an empty history.
  void replace_last(const Line& line);
  /// While what is returned lives, a line is being run again.
  std::shared_ptr<void> begin_redo() {
    redoing_ = true;
    return {nullptr, [this](void*) { redoing_ = false; }};
  }
  bool redoing() const { return redoing_; }

  /// What reads the lines that other shells have saved meanwhile; where lines are typed.
  void read_others_with(std::function<std::vector<std::string>()> read) {
    read_others_ = std::move(read);
  }
  /// Those lines, oldest first. They get no numbers. nullopt: nobody types here.
  std::optional<std::vector<std::string>> read_others() {
    return read_others_ ? std::optional(read_others_()) : std::nullopt;
  }

  /// The first number still kept, and the one that the next line will get.
  std::size_t first() const { return first_; }
  std::size_t next() const { return first_ + lines_.size(); }
  /// `first() <= number < next()`.
  const Line& at(std::size_t number) const { return lines_[number - first_]; }

 private:
  void trim();

  std::deque<Line> lines_;
  std::function<std::vector<std::string>()> read_others_;
  std::size_t first_ = 0;
  std::size_t bytes_ = 0;
  bool redoing_ = false;
};

}  // namespace zksh
