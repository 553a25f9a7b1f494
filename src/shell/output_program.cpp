// OutputProgram: a program that receives a command's results: `| program`, or the pager.
#include "shell/output_program.h"

#include "base/text.h"
#include "command/screen.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// How long after being asked to end a program is killed.
constexpr auto grace = 1s;
/// How often to check whether anybody still reads; nothing reports it.
constexpr auto look_at_reader_every = 100ms;

/// On a smaller screen a pager could show nothing but its own prompt.
constexpr std::size_t fewest_rows = 2;

/// With a prompt that says how to leave it.
constexpr std::string_view usual_pager = "less -FIRX '-Ps?e(END) .q ends it, h helps'";

std::string wanted_pager(const std::string& setting) {
  if (!setting.empty()) return setting;
  for (const char* const name : {"ZKSH_PAGER", "PAGER"})
    if (const char* const value = std::getenv(name)) return value;
  return std::string(usual_pager);
}

/// Whether the program seems to exist.
bool may_run(const std::string& name) {
  // Leave what needs expansion to the shell.
  return name.find_first_of("$`\"'\\=(){}<>|&;*?~") != std::string::npos || is_program(name);
}

OutputProgram::Plan whole_screen(OutputProgram::Plan plan) {
  plan.whole_screen = true;
  // Without a shell in between, a pager that is asked to end can restore the screen first.
  if (plan.line == usual_pager ||
      plan.line.find_first_of("$`\"'\\=(){}<>|&;*?[]~#!\n") == std::string::npos)
    plan.line.insert(0, "exec ");
  return plan;
}

}  // namespace

OutputProgram::OutputProgram(Plan plan)
    : plan_(std::move(plan)),
      on_stop_(plan_.stop, [this] { command_stop_.request_stop(); }),
      terminal_(plan_.at_prompt && !plan_.background) {}

void OutputProgram::start() {
  registration_.emplace(plan_.signals, [this](const Monitor::Held& held, int signal) {
    return started_(held) && !plan_.background && pass_on(held, signal);
  });
  if (!plan_.background) plan_.queue.await_written(Clock::time_point::max(), plan_.stop);
  Pipe pipe = make_pipe();
  std::vector<std::string> words{"/bin/sh", "-c", plan_.line};
  if (plan_.arguments) {
    words.emplace_back("sh");  // $0, its name in messages
    words.insert(words.end(), plan_.arguments->begin(), plan_.arguments->end());
  }
  Program program{.words = std::move(words),
                  .redirections = {{.target = STDIN_FILENO, .source = pipe.read_end.get()}},
                  .group = plan_.at_prompt ? Program::Group::Own : Program::Group::Shared,
                  .terminal = terminal_.to_lend()};
  Pipe printed;
  if (plan_.background) {
    printed = make_pipe();
    for (const int target : {STDOUT_FILENO, STDERR_FILENO})
      program.redirections.push_back({.target = target, .source = printed.write_end.get()});
  }
  process_.emplace(plan_.monitor, program);
  plan_.monitor.with_lock([&](const Monitor::Held& held) { started_(held) = true; });
  if (program.terminal >= 0) {
    terminal_.was_lent(process_->pid());
    plan_.queue.hold_back([this] { return plan_.whole_screen || terminal_.drawn_on(); });
    holds_back_ = true;
  }
  input_ = std::move(pipe.write_end);
  captured_ = std::move(printed.read_end);
  writer_.emplace(input_.get(), command_stop_.get_token());
  if (captured_) reader_ = std::jthread([this] { capture(); });
  supervisor_ = std::jthread([this] { supervise(); });
}

OutputProgram::~OutputProgram() {
  if (supervisor_.joinable()) finish(status::failure);
}

/// Passes on a background program's output until the last process that can write it has ended.
void OutputProgram::capture() {
  std::array<char, 4096> block{};
  const StopFd stopped(plan_.stop);
  while (true) {
    if (!await_ready(captured_.get(), POLLIN, stopped)) return;
    const auto count = read(captured_.get(), block.data(), block.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return;
    if (count < 0) continue;
    try {
      // Waits while nobody takes the output; else a program that never ends would fill the memory.
      plan_.queue.add(Stream::Out, {block.data(), static_cast<std::size_t>(count)}, plan_.stop);
    } catch (const Cancelled&) {
      return;
    }
  }
}

/// Called under the monitor.
bool OutputProgram::pass_on(const Monitor::Held& held, int signal) {
  if (process_->status(held) || signal == SIGUSR1 || signal == SIGUSR2) return false;
  command_stop_.request_stop();
  // The terminal has sent Ctrl-C to zksh's whole process group.
  if (signal == SIGINT && !plan_.at_prompt) return true;
  const bool insists = signal == SIGTERM && std::exchange(terminated_, true);
  process_->pass_on(held, insists ? SIGKILL : signal);
  return true;
}

/// The supervising thread: runs until the program has ended. If the program needs the terminal,
/// lends it the terminal; if the terminal stopped the program, stops zksh too.
void OutputProgram::supervise() {
  using Followed = ProgramTerminal::Followed;
  const bool in_foreground = plan_.at_prompt && !plan_.background;
  while (true) {
    if (const auto result = process_->status()) return ended(*result);
    const int stop_signal = plan_.monitor.with_lock(
        [&](const Monitor::Held& held) { return process_->stop_signal(held); });
    if (stop_signal != 0 && in_foreground &&
        terminal_.follow_stop(process_->pid(), stop_signal) != Followed::StaysStopped)
      process_->resume();
    if (written_ && !reader_gone_) check_reader();
    const auto deadline =
        reader_gone_ ? Clock::time_point::max() : Clock::now() + look_at_reader_every;
    plan_.monitor.wait_until({}, deadline, [&](const Monitor::Held& held) {
      return process_->status(held) || process_->stop_signal(held) != stop_signal;
    });
  }
}

void OutputProgram::check_reader() {
  const bool gone = plan_.monitor.with_lock([&](const Monitor::Held&) {
    pollfd waiting{.fd = input_.get(), .events = 0, .revents = 0};
    return input_ && poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLERR) != 0;
  });
  if (!gone) return;
  reader_gone_ = true;
  command_stop_.request_stop();
}

void OutputProgram::ended(int result) {
  const bool killed = result > status::signal_base;
  terminal_.take_back(killed);
  if (killed && plan_.at_prompt) {
    // Processes that it left would read keys meant for zksh.
    process_->signal(SIGHUP);
    process_->signal(SIGCONT);
  }
  if (holds_back_) plan_.queue.hold_back({});
  if (written_) check_reader();
  // The user has ended both with a key. As in sh, any other end is noticed only when writing.
  if (result == status::signal_base + SIGINT || result == status::signal_base + SIGQUIT) {
    reader_gone_ = true;
    command_stop_.request_stop();
  }
}

void OutputProgram::write(std::string_view bytes) {
  written_ = true;
  const int error = writer_->write(bytes);
  if (error == EPIPE) reader_gone_ = true;
  if (error == ECANCELED || error == EPIPE) throw Cancelled();
  if (error != 0)
    throw Error(fmt::format("cannot write to {}: {}", plan_.line, std::strerror(error)));
}

OutputProgram::Ends OutputProgram::finish(int result) {
  // Checked before the input is closed, which itself ends the program's reading.
  const bool enough = reader_gone_ && !plan_.stop.stop_requested();
  if (enough && result == Cancelled().exit_status()) result = status::ok;
  writer_.reset();
  plan_.monitor.with_lock([&](const Monitor::Held&) { input_.close(); });
  const auto has_ended = [&](const Monitor::Held& held) {
    return process_->status(held).has_value();
  };
  if (!plan_.monitor.wait(plan_.stop, has_ended)) process_->end(grace);
  supervisor_.join();
  if (reader_.joinable()) reader_.join();
  registration_.reset();
  return {.command = result, .program = *process_->status()};
}

std::optional<std::string> pager_line(const std::string& setting) {
  const auto line = wanted_pager(setting);
  const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
  const auto name = line.substr(begin, line.find_first_of(" \t", begin) - begin);
  if (name.empty() || line.substr(begin) == "cat" || line == "off" || !may_run(name))
    return std::nullopt;
  return line;
}

std::size_t rows_of(std::string_view text, std::size_t columns) {
  std::size_t rows = 0;
  for (const auto line : lines_of(text))
    rows += std::max<std::size_t>(1, (text_width(line) + columns - 1) / columns);
  return rows;
}

Pager::Pager(OutputProgram::Plan plan)
    : queue_(plan.queue), program_(whole_screen(std::move(plan))) {}

void Pager::write(std::string_view bytes) {
  if (started_) return program_.write(bytes);
  kept_ += bytes;
  in_order_.push_back({Stream::Out, std::string(bytes)});
  const auto size = terminal_size();
  // The prompt takes a row too.
  const bool fits = kept_.size() < size.lines || rows_of(kept_, size.columns) < size.lines;
  if (fits || size.lines < fewest_rows) return;
  for (const auto& [stream, error] : in_order_)
    if (stream == Stream::Err) queue_.add(Stream::Err, error);
  program_.start();
  started_ = true;
  program_.write(kept_);
  kept_.clear();
  in_order_.clear();
}

bool Pager::keep_error(std::string_view bytes) {
  if (started_) return false;
  in_order_.push_back({Stream::Err, std::string(bytes)});
  // With so many errors, do not delay them or use more memory.
  const auto errors = std::ranges::count(in_order_, Stream::Err, &OutputQueue::Chunk::stream);
  if (static_cast<std::size_t>(errors) >= terminal_size().lines) print_kept();
  return true;
}

void Pager::print_kept() {
  for (const auto& [stream, text] : in_order_) queue_.add(stream, text);
  in_order_.clear();
  kept_.clear();
}

int Pager::finish(int result) {
  if (started_) return program_.finish(result).command;
  print_kept();
  return result;
}

}  // namespace zksh
