// LossCommand: what --on-lost runs when a lock is lost.
#include "lock/loss_command.h"

#include "base/fd.h"
#include "base/process.h"

#include <chrono>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::chrono::seconds time_limit{10};

}  // namespace

LossCommand::~LossCommand() {
  if (thread_.joinable()) thread_.join();
}

void LossCommand::start(Program program, const std::function<void(const std::string& line)>& say) {
  const bool first = monitor_.look([&](const Monitor::Held& held) {
    running_(held) = running_(held) || !started_(held);
    return !std::exchange(started_(held), true);
  });
  if (!first) return;
  const auto work = [this, program = std::move(program), say] {
    try {
      run(program);
    } catch (const std::exception& error) {
      say(std::string("--on-lost: ") + error.what());
    }
    monitor_.change([&](const Monitor::Held& held) { running_(held) = false; });
  };
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread(work);
  } catch (const std::system_error& error) {
    say(std::string("--on-lost: ") + error.what());
    monitor_.change([&](const Monitor::Held& held) { running_(held) = false; });
  }
}

void LossCommand::run(Program program) {
  const Fd empty(open("/dev/null", O_RDONLY | O_CLOEXEC));
  program.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
  program.group = Program::Group::Own;
  auto printed = output_ ? output_->redirect(program) : std::vector<Fd>();
  const Process command(monitor_, program);
  printed.clear();
  monitor_.wait_until({}, Clock::now() + time_limit,
                      [&](const Monitor::Held& held) { return command.status(held).has_value(); });
}

}  // namespace zksh
