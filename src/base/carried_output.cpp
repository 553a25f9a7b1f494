// CarriedOutput: passes on the output of programs that run while a line is being edited.
#include "base/carried_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace zksh {
namespace {

/// Longer lines are passed on in parts.
constexpr std::size_t longest_line = std::size_t{64} << 10U;

}  // namespace

CarriedOutput::CarriedOutput(Monitor& monitor, Take take)
    : monitor_(monitor),
      take_(std::move(take)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

std::vector<Fd> CarriedOutput::redirect(Program& program) {
  std::vector<Fd> ends;
  for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
    const bool goes_elsewhere = std::ranges::any_of(
        program.redirections, [&](const auto& other) { return other.target == target; });
    if (goes_elsewhere || isatty(target) == 0) continue;
    auto pipe = make_pipe();
    fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
    program.redirections.push_back({.target = target, .source = pipe.write_end.get()});
    ends.push_back(std::move(pipe.write_end));
    monitor_.with_lock([&](const Monitor::Held& held) {
      added_(held).push_back({.target = target, .fd = std::move(pipe.read_end)});
    });
  }
  eventfd_write(wake_.get(), 1);
  return ends;
}

void CarriedOutput::serve(const std::stop_token& stop) {
  const StopFd stopped(stop);
  std::vector<Source> sources;
  while (true) {
    const bool last = stop.stop_requested();
    monitor_.with_lock([&](const Monitor::Held& held) {
      std::ranges::move(std::exchange(added_(held), {}), std::back_inserter(sources));
    });
    for (auto& source : sources)
      while (read_from(source, stop) && last) {
      }
    std::erase_if(sources, [](const Source& source) { return !source.fd; });
    if (last) return;
    std::vector<pollfd> waiting{{.fd = stopped.get(), .events = POLLIN, .revents = 0},
                                {.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& source : sources)
      waiting.push_back({.fd = source.fd.get(), .events = POLLIN, .revents = 0});
    poll(waiting.data(), waiting.size(), -1);
    eventfd_t count = 0;
    eventfd_read(wake_.get(), &count);
  }
}

/// Passes on what can be read now, but not so much that other programs would have to wait. Closes
/// the source at its end. Returns false when there is nothing more to read now.
bool CarriedOutput::read_from(Source& source, const std::stop_token& stop) {
  std::array<char, 16384> block{};
  const auto count = read(source.fd.get(), block.data(), block.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  auto& text = source.unfinished;
  if (count > 0)
    text.append(block.data(), static_cast<std::size_t>(count));
  else if (!text.empty())
    text += '\n';  // the next output must begin on a new line
  const auto newline = text.rfind('\n');
  const auto whole = text.size() >= longest_line    ? text.size()
                     : newline == std::string::npos ? 0
                                                    : newline + 1;
  if (whole > 0) take_(source.target, std::string_view(text).substr(0, whole), stop);
  text.erase(0, whole);
  if (count <= 0) source.fd.close();
  return count > 0;
}

}  // namespace zksh
