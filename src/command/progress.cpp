// Progress: shows the progress of long work on one line of the terminal.
#include "command/progress.h"

#include "command/live_picture.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto before_the_first = 500ms;
constexpr auto between_pictures = 200ms;
constexpr const char* erase_line = "\r\x1b[K";

/// Formats 1234567 as "1,234,567".
std::string grouped(std::size_t number) {
  const auto digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string time_left(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", seconds);
  return fmt::format("{:.0f} min left", seconds / 60);
}

}  // namespace

Progress::Progress(Output& out, bool background, std::string what)
    : out_(out),
      what_(std::move(what)),
      wanted_(!background && out.style().err_is_terminal && terminal_can_redraw()),
      next_(began_ + before_the_first) {}

Progress::~Progress() { end(); }

void Progress::end() {
  if (std::exchange(drawn_, false)) out_.err_regardless(erase_line);
}

void Progress::reach(std::size_t done, std::size_t total) {
  constexpr std::size_t between_looks = 64;  // how often to look at the clock
  const bool passed = done / between_looks != done_ / between_looks;
  done_ = done;
  if (!wanted_ || !passed) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + between_pictures;
  draw(total, now);
}

void Progress::draw(std::size_t total, Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double rate = static_cast<double>(done_) / seconds;
  auto line = grouped(done_);
  if (total > done_) line += " of " + grouped(total);
  line += fmt::format(" {}, {}/s", what_, grouped(static_cast<std::size_t>(rate)));
  if (total > done_ && rate > 0)
    line += ", " + time_left(static_cast<double>(total - done_) / rate);
  if (line.size() >= terminal_size().columns) line.resize(terminal_size().columns - 1);
  out_.err(erase_line + line);
  drawn_ = true;
}

}  // namespace zksh
