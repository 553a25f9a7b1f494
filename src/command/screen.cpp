// Screen: what the terminal shows: its size, colours, and pictures that are redrawn in place.
#include "command/screen.h"

#include "base/error.h"
#include "base/process_setup.h"
#include "base/text.h"
#include "command/command.h"
#include "command/questions.h"
#include "config/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <clocale>
#include <langinfo.h>
#include <stop_token>
#include <sys/ioctl.h>
#include <thread>
#include <utility>

namespace zksh {

TerminalSize terminal_size(int fd) {
  TerminalSize size;
  winsize window{};
  if (ioctl(fd, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.lines = window.ws_row;
  return size;
}

bool terminal_can_redraw() { return environment("TERM", "dumb") != "dumb"; }

bool terminal_shows_utf8() {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool utf8 = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
  freelocale(locale);
  return utf8;
}

std::size_t result_columns(const Output& out) {
  return out.style().out_is_terminal ? terminal_size().columns : 0;
}

std::string cut_mark() { return terminal_shows_utf8() ? "…" : "..."; }

namespace {

/// The number of rows of a line that the terminal has wrapped.
std::size_t rows_of(std::size_t width, std::size_t columns) {
  return width == 0 ? 1 : (width - 1) / columns + 1;
}

}  // namespace

std::string erase_line_of(std::size_t width) {
  const auto rows = rows_of(width, terminal_size().columns);
  return rows == 1 ? "\r\x1b[K" : fmt::format("\r\x1b[{}A\x1b[J", rows - 1);
}

bool LivePicture::possible(const Output& out, bool background) {
  return out.style().format == Format::Zkcli && !background && out.style().out_is_terminal &&
         terminal_can_redraw();
}

std::size_t LivePicture::room() {
  constexpr std::size_t least = 3;  // a line of the picture, the last line, and the cursor's
  return std::max(terminal_size().lines, least) - 2;
}

void LivePicture::draw(std::vector<std::string> lines) {
  lines_ = lines;
  constexpr std::string_view leave = "q ends it";
  lines.emplace_back(leave.substr(0, terminal_size().columns));
  redraw(lines);
}

LivePicture::~LivePicture() {
  if (!widths_.empty() && out_.printed() == printed_) redraw(lines_);
}

void LivePicture::redraw(const std::vector<std::string>& lines) {
  const auto columns = terminal_size().columns;
  std::size_t rows = 0;
  if (out_.printed() == printed_)
    for (const auto width : widths_) rows += rows_of(width, columns);
  std::string text;
  if (rows > 0) text = fmt::format("\r\x1b[{}A", rows);
  // Otherwise the terminal still treats the rows of a wrapped line as one line.
  if (rows > widths_.size()) text += "\x1b[J";
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

int run_until_q(Context& cx, const std::function<int()>& body) {
  if (!LivePicture::possible(cx.out, cx.background)) return body();
  std::stop_source source;
  const std::stop_callback forward(cx.stop, [source]() mutable { source.request_stop(); });
  const auto before = std::exchange(cx.stop, source.get_token());
  std::atomic<bool> left = false;
  std::stop_source over;
  // Before the body allows to be moved to the background, where the keys are the prompt's.
  auto asking = cx.services.questions.begin({.prompt = {}, .key = 'q'}, over.get_token());
  std::jthread keys([&, source]() mutable {
    try {
      if (!asking || !asking->answer()) return;
      left = true;
      source.request_stop();
    } catch (const Cancelled&) {
      // The body has ended first.
    }
  });
  const auto restored = [&](int status) {
    over.request_stop();
    keys.join();
    asking.reset();  // the terminal is as it was
    cx.stop = before;
    return status;
  };
  try {
    return restored(body());
  } catch (const Cancelled&) {
    restored(status::ok);
    if (!left) throw;
    return status::ok;
  } catch (...) {
    restored(status::ok);
    throw;
  }
}

bool use_color(std::string_view choice, bool on_terminal) {
  if (choice != "auto") return choice == "always";
  return on_terminal && terminal_can_redraw() && environment("NO_COLOR").empty();
}

bool use_color(const Context& cx) {
  return use_color(cx.services.settings.value("color"), cx.out.style().out_is_terminal);
}

std::string_view color::of_marked_name(std::string_view name) {
  return name.ends_with('/') ? parent : name.ends_with('*') ? ephemeral : std::string_view();
}

}  // namespace zksh
