// Work: the options, the progress and the report of work on many nodes.
#include "command/work.h"

#include "base/error.h"
#include "base/time.h"
#include "command/screen.h"

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

}  // namespace

void declare_work_limits(Options& options, WorkOptions& target) {
  options.common().number(
      "--window", target.window, "requests",
      "Maximum number of requests in flight, from 1 to 65536; by default 256, and "
      "more if the servers are far away.");
  options.common().number(
      "--rate", target.rate, "requests/s",
      "Maximum number of requests per second; each operation of a transaction counts, and each "
      "read of several that go together.");
}

void declare_walk(Options& options, WalkOptions& target) {
  declare_work_limits(options, target.limits);
  options.nodes("path", target.tops, "The tops of the subtrees; by default the current node.",
                false);
}

WorkLimits WorkOptions::limits() const {
  constexpr std::int64_t widest = 65536;
  constexpr std::int64_t fastest = 1'000'000'000;
  WorkLimits limits;
  if (window) {
    if (*window < 1 || *window > widest) throw ValueError("--window must be between 1 and 65536");
    limits.window = static_cast<std::size_t>(*window);
  }
  if (rate) {
    if (*rate < 1 || *rate > fastest) throw ValueError("--rate must be at least 1");
    limits.rate = static_cast<std::size_t>(*rate);
  }
  return limits;
}

Progress::Progress(Output& out, bool background, std::string what)
    : out_(out),
      what_(std::move(what)),
      wanted_(!background && out.style().err_is_terminal && terminal_can_redraw()),
      next_(began_ + before_the_first) {}

Progress::~Progress() { end(); }

void Progress::end() {
  if (drawn_ > 0) out_.err_regardless(erase_line_of(std::exchange(drawn_, 0)));
}

void Progress::give_way() {
  if (!out_.style().out_is_terminal) return;
  end();
  wanted_ = false;
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
    line += fmt::format(
        ", {} left",
        short_time(std::chrono::duration_cast<std::chrono::seconds>(
            time * (static_cast<double>(total_ - done_) / static_cast<double>(counted())))));
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
