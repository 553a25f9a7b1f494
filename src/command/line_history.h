// LineHistory: the numbered lines of this run, for `history`, `redo` and `!`.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Numbers start at 0 and never change. The oldest lines are dropped when there are many, or long
/// ones. Used by one thread at a time.
class LineHistory {
 public:
  struct Line {
    std::string text;     ///< with secrets masked
    bool masked = false;  ///< cannot be run again, since a secret was masked
  };

  /// Adds a line as typed, masking its secrets.
  void add(const std::string& line);
  /// Counts a line that must not be kept.
  void add_unkept() { lines_.push_back({.text = "", .masked = true}); }
  /// Replaces the last line: `redo` is replaced by the line that it ran. The history must not be
  /// empty.
  void replace_last(const Line& line);
  /// A line is being run again while the returned object lives.
  std::shared_ptr<void> begin_redo() {
    redoing_ = true;
    return {nullptr, [this](void*) { redoing_ = false; }};
  }
  bool redoing() const { return redoing_; }

  /// Sets the function that reads the lines other shells have saved meanwhile.
  void read_others_with(std::function<std::vector<std::string>()> read) {
    read_others_ = std::move(read);
  }
  /// Reads those lines, oldest first. They get no numbers. nullopt if this shell is not
  /// interactive.
  std::optional<std::vector<std::string>> read_others() {
    return read_others_ ? std::optional(read_others_()) : std::nullopt;
  }

  /// Sets the function that finds the lines that contain a text, including those of earlier days.
  void find_with(std::function<std::vector<std::string>(std::string_view text)> find) {
    find_ = std::move(find);
  }
  /// Finds those lines, oldest first; nullopt if this shell is not interactive.
  std::optional<std::vector<std::string>> find(std::string_view text) const {
    return find_ ? std::optional(find_(text)) : std::nullopt;
  }

  /// The number of the oldest line kept, and that of the next line.
  std::size_t first() const { return first_; }
  std::size_t next() const { return first_ + lines_.size(); }
  /// Requires `first() <= number < next()`.
  const Line& at(std::size_t number) const { return lines_[number - first_]; }

 private:
  void trim();

  std::deque<Line> lines_;
  std::function<std::vector<std::string>()> read_others_;
  std::function<std::vector<std::string>(std::string_view)> find_;
  std::size_t first_ = 0;
  std::size_t bytes_ = 0;
  bool redoing_ = false;
};

/// Expands `!!` (the previous line), `!N` (line number N), `!-N` (the Nth line before) or `!TEXT`
/// (the newest line that begins with TEXT), and appends what follows that word; nullopt if the line
/// does not begin with `!`. Elsewhere `!` is data. Throws ValueError if there is no such line, or
/// if it had a secret, which was not kept.
std::optional<std::string> expand_history(const std::string& line, const LineHistory& history);

}  // namespace zksh
