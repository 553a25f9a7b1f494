// LivePicture: moves the cursor with ECMA-48 sequences, which every terminal but a dumb one knows.
#include "command/live_picture.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <langinfo.h>
#include <string_view>
#include <sys/ioctl.h>

namespace zksh {

TerminalSize terminal_size(int fd) {
  TerminalSize size;
  winsize window{};
  if (ioctl(fd, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.lines = window.ws_row;
  return size;
}

bool terminal_can_redraw() {
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

bool terminal_shows_utf8() {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool utf8 = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
  freelocale(locale);
  return utf8;
}

void LivePicture::draw(const std::vector<std::string>& lines) {
  const auto columns = terminal_size().columns;
  const bool undisturbed =
      out_.printed() == printed_ &&
      std::ranges::all_of(widths_, [&](std::size_t width) { return width <= columns; });
  std::string text;
  if (undisturbed && !widths_.empty()) text = fmt::format("\r\x1b[{}A", widths_.size());
  widths_.clear();
  for (const auto& line : lines) {
    // Clears first: after a full line, the cursor is still on its last character.
    text += "\x1b[2K" + line + '\n';
    widths_.push_back(text_width(line));
  }
  text += "\x1b[J";
  out_.out(text);
  printed_ = out_.printed();
}

}  // namespace zksh
