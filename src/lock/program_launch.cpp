// ProgramLaunch: what a program under a lock is started with.
#include "lock/program_launch.h"

#include "base/fd.h"
#include "base/number.h"
#include "base/process.h"
#include "base/text.h"
#include "client/node_path.h"
#include "lock/lock_text.h"
#include "lock/token_file.h"

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace zksh {
namespace {

std::vector<std::string> words_of(const LockProgram& program) {
  return program.words.empty() ? shell_words(program.shell_text) : program.words;
}

}  // namespace

std::vector<std::string> shell_words(const std::string& text) {
  const char* const shell = std::getenv("SHELL");
  return {shell && *shell ? shell : "/bin/sh", "-c", text};
}

std::string program_name(const LockProgram& program) {
  const auto name = program.words.empty() ? program.shell_text : program.words.front();
  return escape_for_terminal(name.substr(0, name.find('\n')), true);
}
std::vector<std::pair<std::string, std::string>> lock_environment(const Lock& lock) {
  const auto holding = lock.status().holding;
  const auto& plan = lock.plan();
  auto nodes = holding.nodes.front();
  // One for each path, which may have several (--compat all).
  for (std::size_t i = 1; i < holding.nodes.size() && plan.paths.size() > 1; ++i)
    if (parent_path(holding.nodes[i]) != parent_path(holding.nodes[i - 1]))
      nodes += " " + holding.nodes[i];
  return {{"ZKSH_LOCK_PATH", lock.name()},
          {"ZKSH_LOCK_NODE", nodes},
          {"ZKSH_LOCK_TOKEN", tokens_text(holding)},
          {"ZKSH_LOCK_MODE", plan.kind.substr(0, plan.kind.find(' '))},
          {"ZKSH_LOCK_SESSION", session_text(holding.session)}};
}

bool await_safety(Context& cx, const Lock& lock, BootClock::duration least) {
  auto& monitor = cx.client.monitor();
  const auto is_safe = [&](const Monitor::Held& held) {
    return BootClock::now() < lock.status(held).safe_until - least;
  };
  monitor.wait_until(cx.stop, Clock::time_point::max(), [&](const Monitor::Held& held) {
    return is_safe(held) || !is_wanted(lock, held);
  });
  if (cx.stop.stop_requested()) throw Cancelled();
  return monitor.with_lock(
      [&](const Monitor::Held& held) { return is_safe(held) && is_wanted(lock, held); });
}

std::unique_ptr<LockWatchdog> watch_program(Context& cx, const LockProgram& program) {
  Program launched{.words = words_of(program), .group = Program::Group::Own};
  find_program(launched.words.front());
  Fd empty;
  if (cx.background || cx.input == Input::Pipe) {
    empty = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    launched.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
  }
  if (const int fd = cx.out.descriptor(); fd >= 0)
    launched.redirections.push_back({.target = STDOUT_FILENO, .source = fd});
  std::vector<Fd> printed;
  if (auto* const output = cx.background ? cx.services.locks.output() : nullptr)
    printed = output->redirect(launched);
  return std::make_unique<LockWatchdog>(cx.client.monitor(), std::move(launched));
}

}  // namespace zksh
