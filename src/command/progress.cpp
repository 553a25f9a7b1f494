// Progress: shows how far long work is, and reports how far it got if it ends early.
#include "command/progress.h"

#include "command/live_picture.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto before_the_first = 500ms;
constexpr auto between_pictures = 200ms;

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
  if (drawn_ > 0) out_.err_regardless(erase_line_of(std::exchange(drawn_, 0)));
}

void Progress::reach(std::size_t done, std::size_t total) {
  constexpr std::size_t between_looks = 64;  // how often to look at the clock
  const auto before = counted();
  const bool begins = done > 0 && !std::exchange(works_, done > 0);
  done_ = done;
  total_ = total;
  if (begins && before > 0) began_ = Clock::now();
  if (!wanted_ || counted() / between_looks == before / between_looks) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + between_pictures;
  draw(now);
}

void Progress::draw(Clock::time_point now) {
  const std::chrono::duration<double> time = now - began_;
  const double rate = static_cast<double>(counted()) / std::max(time.count(), 0.001);
  auto line = std::to_string(counted());
  if (done_ > 0 && total_ > done_) line += " of " + std::to_string(total_);
  line += fmt::format(" {}, {}/s", done_ > 0 ? what_ : what_.substr(0, what_.find(' ')) + " found",
                      static_cast<std::size_t>(rate));
  if (done_ > 0 && total_ > done_)
    line += ", " + time_left(static_cast<double>(total_ - done_) / rate);
  if (line.size() >= terminal_size().columns) line.resize(terminal_size().columns - 1);
  out_.err(erase_line_of(drawn_) + line);
  drawn_ = line.size();
  was_shown_ = true;
}

void report_if_incomplete(Context& cx, Progress& progress, const std::function<void()>& work,
                          const std::function<std::string()>& summary) {
  try {
    work();
  } catch (...) {
    progress.end();
    const auto text = cx.rehearsal ? std::string() : summary();
    if (!text.empty()) cx.out.err_line_regardless("not complete: " + text);
    throw;
  }
  progress.end();
}

std::string unknown_text(std::size_t nodes) {
  return fmt::format("the outcome of {} more is unknown", nodes);
}

}  // namespace zksh
