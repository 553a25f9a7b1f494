// WaitNotice: says at a terminal that a command waits for servers.
#include "shell/wait_notice.h"

#include "base/time.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <unistd.h>

namespace zksh {
namespace {

/// Whether the terminal is this process's: not another's that it was lent to.
bool has_terminal() { return tcgetpgrp(STDERR_FILENO) == getpgrp(); }

}  // namespace

std::optional<Clock::time_point> WaitNotice::update() {
  constexpr std::chrono::seconds silence{1};
  constexpr std::chrono::milliseconds between_looks{500};
  constexpr std::chrono::milliseconds pause{700};  // between two requests, or to another server
  if (!look_) return std::nullopt;
  const auto now = Clock::now();
  const auto wait = look_();
  if (wait) {
    since_ = std::min(since_.value_or(wait->since), wait->since);
    seen_ = now;
  } else if (now > seen_ + pause) {
    end();
  }
  // A program that zksh runs, or a pager, may write to the terminal.
  if (!wait || signals_.registrations() > 0 || !has_terminal()) return now + between_looks;
  const auto begun = std::max(*since_, printer_.printed_at());
  if (now < begun + silence) return begun + silence;
  printer_.show_notice(
      fmt::format("waiting for {}, {} (Ctrl-C ends)", wait->server,
                  short_time(std::chrono::floor<std::chrono::seconds>(now - begun))));
  return now + between_looks;
}

void WaitNotice::end() {
  since_.reset();
  printer_.end_notice();
}

}  // namespace zksh
