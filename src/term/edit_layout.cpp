// EditLayout: lays out the prompt and the edited line on the screen, cell by cell.
#include "term/edit_layout.h"

#include "base/text.h"
#include "base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cwchar>
#include <numeric>

namespace zksh {
namespace {

/// Code points that are invisible or change the direction of text.
bool is_invisible(char32_t c) {
  return c == 0xAD || (c >= 0x200B && c <= 0x200F && c != 0x200D) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE0FFF);
}

constexpr std::string_view hint_style = "\033[2m";  // dim

class Builder {
 public:
  explicit Builder(int width) : width_(std::max(width, 2)) { layout_.rows.emplace_back(); }

  /// Puts the character of `text` at `at`; returns its length in bytes.
  std::size_t put_character(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\t') {
      do put_cell(" ", 1);
      while (column_ % 8 != 0 && column_ < width_);
      return 1;
    }
    if (byte < 0x20 || byte == 0x7F) {
      put_ascii(fmt::format("^{}", static_cast<char>(byte ^ 0x40U)));
      return 1;
    }
    const Utf8Step step = decode_utf8(text, at);
    if (!step.valid) {
      put_ascii(fmt::format("\\x{:02x}", byte));
      return 1;
    }
    const int columns = wcwidth(static_cast<wchar_t>(step.code_point));
    const auto number = static_cast<unsigned>(step.code_point);
    if (columns < 0 || is_invisible(step.code_point))
      put_ascii(number > 0xFFFF ? fmt::format("\\U{:08x}", number)
                                : fmt::format("\\u{:04x}", number));
    else if (columns == 0)
      combine(text.substr(at, step.length));
    else
      put_cell(std::string(text.substr(at, step.length)), columns);
    return step.length;
  }

  void put_ascii(std::string_view text) {
    for (const char c : text) put_cell(std::string(1, c), 1);
  }

  /// Ends the row with a newline.
  void end_row() {
    layout_.rows.emplace_back();
    column_ = 0;
  }

  void mark_cursor() {
    if (column_ == width_) wrap();
    layout_.cursor_row = row();
    layout_.cursor_column = column_;
  }

  /// Puts as much as fits, without the last column, after which terminals differ.
  void put_hint(std::string_view hint) {
    constexpr int endless = 1 << 20;
    const int room = width_ - 1 - column_;
    Builder scratch(endless);
    // A character has at most four bytes; combining marks of a long text are cut with it.
    hint = hint.substr(0, 4 * static_cast<std::size_t>(width_));
    for (std::size_t at = 0; at < hint.size();) at += scratch.put_character(hint, at);
    const auto row = scratch.take().rows.front();
    const bool fits = row.columns() <= room;
    style_ = hint_style;
    int used = 0;
    for (const auto& cell : row.cells) {
      if (used + cell.width > (fits ? room : room - 1)) break;
      used += cell.width;
      put_cell(cell.text, cell.width);
    }
    if (!fits && room > 0) put_cell("…", 1);
    style_.clear();
  }

  void set_style(std::string style) { style_ = std::move(style); }
  void set_in_prompt(bool in_prompt) { in_prompt_ = in_prompt; }
  const std::string& style() const { return style_; }
  /// Wraps if a character of this width does not fit.
  void make_room(int columns) {
    if (column_ + columns > width_) wrap();
  }
  int row() const { return static_cast<int>(layout_.rows.size()) - 1; }
  Layout take() { return std::move(layout_); }

 private:
  void put_cell(std::string text, int columns) {
    make_room(columns);
    layout_.rows.back().cells.push_back({std::move(text), columns, style_});
    column_ += columns;
  }

  void combine(std::string_view mark) {
    constexpr std::size_t bytes_in_a_cell = 32;
    auto& cells = layout_.rows.back().cells;
    if (cells.empty())
      put_cell(' ' + std::string(mark), 1);
    else if (cells.back().text.size() + mark.size() <= bytes_in_a_cell)
      cells.back().text += mark;
  }

  void wrap() {
    // A wide character that does not fit leaves a free column: fill it, so that wrapped rows are
    // full.
    while (column_ < width_) {
      layout_.rows.back().cells.push_back({" ", 1, style_});
      ++column_;
    }
    layout_.rows.back().wraps = true;
    end_row();
    layout_.rows.back().begins_in_prompt = in_prompt_;
  }

  Layout layout_;
  int width_;
  int column_ = 0;
  bool in_prompt_ = false;
  std::string style_;
};

/// The length of the escape sequence at `at`; `text[at]` is ESC.
std::size_t escape_length(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return 1;
  const std::string_view rest = text.substr(at + 2);
  if (text[at + 1] == '[') {
    const auto final_byte =
        std::find_if(rest.begin(), rest.end(), [](char c) { return c >= 0x40 && c <= 0x7E; });
    const auto before = static_cast<std::size_t>(final_byte - rest.begin());
    return std::min(before + 3, text.size() - at);
  }
  if (text[at + 1] == ']') {
    const auto bell = rest.find('\a');
    const auto terminator = rest.find("\033\\");
    const auto end = std::min(bell == std::string_view::npos ? rest.size() : bell + 1,
                              terminator == std::string_view::npos ? rest.size() : terminator + 2);
    return 2 + end;
  }
  return 2;
}

void put_prompt(Builder& builder, std::string_view prompt) {
  builder.set_in_prompt(true);
  for (std::size_t at = 0; at < prompt.size();) {
    const char c = prompt[at];
    if (c == '\033') {
      const auto sequence = prompt.substr(at, escape_length(prompt, at));
      const bool sgr = sequence.size() > 2 && sequence[1] == '[' && sequence.back() == 'm';
      const bool reset = sequence == "\033[m" || sequence == "\033[0m";
      if (sgr) builder.set_style(reset ? "" : builder.style() + std::string(sequence));
      at += sequence.size();
    } else if (c == '\n') {
      builder.end_row();
      ++at;
    } else if (c == '\001' || c == '\002') {  // readline's marks around invisible text
      ++at;
    } else {
      at += builder.put_character(prompt, at);
    }
  }
  builder.set_style("");
  builder.set_in_prompt(false);
}

/// Where to start, so that at most a few screens precede the cursor. Moves in large steps, so that
/// the picture does not move with the cursor.
std::size_t window_begin(const EditedLine& line, ScreenSize screen) {
  const auto area =
      static_cast<std::size_t>(screen.columns) * static_cast<std::size_t>(screen.rows);
  const std::size_t stride = 2 * area;
  if (line.cursor <= 2 * stride) return 0;
  return character_begin(line.text, line.cursor / stride * stride - stride);
}

void keep_rows_around_cursor(Layout& layout, int height) {
  const int first = std::max(0, layout.cursor_row - height + 1);
  layout.rows.erase(layout.rows.begin(), layout.rows.begin() + first);
  layout.cursor_row -= first;
  if (layout.rows.size() <= static_cast<std::size_t>(height)) return;
  layout.rows.resize(static_cast<std::size_t>(height));
  layout.rows.back().wraps = false;
}

/// The quoted words of a text of several lines, in order.
std::vector<WordPlace> quoted_words(std::string_view text) {
  constexpr std::size_t longest = 16U << 10U;  // as for the line's styles
  std::vector<WordPlace> quoted;
  if (text.size() > longest || text.find('\n') == std::string_view::npos) return quoted;
  for (const auto& part : parts_of(text, PartBy::Line))
    for (auto place : word_places(text.substr(part.begin, part.end - part.begin))) {
      place.begin += part.begin;
      place.end += part.begin;
      if (place.quoted()) quoted.push_back(place);
    }
  return quoted;
}

/// What begins the row after a newline: which quote is open there, if one is.
std::string_view continuation_mark(std::string_view text, const std::vector<WordPlace>& quoted,
                                   std::size_t newline) {
  const auto within = std::ranges::upper_bound(quoted, newline, {}, &WordPlace::end);
  if (within == quoted.end() || newline < within->text_begin()) return "> ";
  return text[within->text_begin() - 1] == '"' ? "\"> " : "'> ";
}

}  // namespace

int Row::columns() const {
  return std::accumulate(cells.begin(), cells.end(), 0,
                         [](int sum, const Cell& cell) { return sum + cell.width; });
}

Layout lay_out(const EditedLine& line, ScreenSize screen) {
  Builder builder(screen.columns);
  const auto quoted = quoted_words(line.one_row ? std::string_view() : line.text);
  const std::size_t begin = window_begin(line, screen);
  if (begin == 0)
    put_prompt(builder, line.prompt);
  else
    builder.put_ascii("<");
  int last_row = -1;
  auto style_at = [styles = line.styles](std::size_t byte) mutable {
    while (!styles.empty() && styles.front().end <= byte) styles = styles.subspan(1);
    const bool inside = !styles.empty() && styles.front().begin <= byte;
    return std::string(inside ? styles.front().style : "");
  };
  for (std::size_t at = begin; at < line.text.size();) {
    if (at == line.cursor) {
      const Utf8Step step = decode_utf8(line.text, at);
      builder.make_room(step.valid ? std::max(1, wcwidth(static_cast<wchar_t>(step.code_point)))
                                   : 1);
      builder.mark_cursor();
      last_row = builder.row() + screen.rows;
    }
    if (last_row >= 0 && builder.row() > last_row) break;
    if (line.text[at] == '\n' && !line.one_row) {
      builder.set_style("");
      builder.end_row();
      builder.put_ascii(continuation_mark(line.text, quoted, at));
      ++at;
    } else {
      builder.set_style(style_at(at));
      at += builder.put_character(line.text, at);
    }
  }
  builder.set_style("");
  if (line.cursor >= line.text.size()) {
    builder.mark_cursor();
    if (!line.hint.empty()) builder.put_hint(line.hint);
  }
  Layout layout = builder.take();
  keep_rows_around_cursor(layout, std::max(screen.rows, 1));
  return layout;
}

}  // namespace zksh
