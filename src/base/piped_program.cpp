// PipedProgram: runs a program whose input is given and whose output is passed on.
#include "base/piped_program.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <poll.h>
#include <stop_token>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <system_error>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A file without a name: a pipe would have to be fed while the program runs.
Fd file_with(std::string_view bytes) {
  Fd file(memfd_create("zksh-input", MFD_CLOEXEC));
  if (!file) fail("memfd_create");
  while (!bytes.empty()) {
    const auto count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0) fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) fail("lseek");
  return file;
}

Pipe reading_pipe() {
  auto pipe = make_pipe();
  if (fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
  return pipe;
}

/// Hands on what there is to read. Closed at the end of the stream.
void pass_on(Fd& from, const std::function<void(std::string_view)>& take) {
  std::array<char, 16384> buffer{};
  while (from) {
    const auto count = read(from.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      from.close();
      return;
    }
    if (take) take({buffer.data(), static_cast<std::size_t>(count)});
  }
}

/// One program, its pipes, and what wakes us.
class Running {
 public:
  Running(Monitor& monitor, const PipedProgram& program)
      : monitor_(monitor),
        program_(program),
        input_(file_with(program.input)),
        out_(reading_pipe()),
        err_(reading_pipe()),
        // Not in zksh's group: Ctrl-C at the terminal ends the command, and that ends the program.
        process_(monitor, {.words = program.words,
                           .environment = program.environment,
                           .redirections = {{STDIN_FILENO, input_.get()},
                                            {STDOUT_FILENO, out_.write_end.get()},
                                            {STDERR_FILENO, err_.write_end.get()}},
                           .group = Program::Group::Own,
                           .death_signal = SIGTERM}) {
    out_.write_end.close();
    err_.write_end.close();
  }

  int run(const std::stop_token& stop) {
    hand_on_until_ended(stop);
    if (stop.stop_requested()) {
      process_.signal(SIGTERM);
      monitor_.wait_until({}, Clock::now() + patience, [&](const Monitor::Held& held) {
        return process_.status(held).has_value();
      });
      throw Cancelled();
    }
    hand_on();
    return process_.status().value_or(status::failure);
  }

 private:
  void hand_on_until_ended(const std::stop_token& stop) {
    const Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake) fail("eventfd");
    const std::stop_callback stopped(stop, [&wake] { eventfd_write(wake.get(), 1); });
    const Monitor::Listener ended(monitor_,
                                  [&](const Monitor::Held& held, const void* /*subject*/) {
                                    if (process_.status(held)) eventfd_write(wake.get(), 1);
                                  });
    while (!process_.status() && !stop.stop_requested()) {
      std::array<pollfd, 3> waits{pollfd{out_.read_end.get(), POLLIN, 0},
                                  pollfd{err_.read_end.get(), POLLIN, 0},
                                  pollfd{wake.get(), POLLIN, 0}};
      if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) fail("poll");
      hand_on();
    }
  }

  void hand_on() {
    pass_on(out_.read_end, program_.out);
    pass_on(err_.read_end, program_.err);
  }

  Monitor& monitor_;
  const PipedProgram& program_;
  Fd input_;
  Pipe out_;
  Pipe err_;
  Process process_;
};

}  // namespace

int run_piped(Monitor& monitor, const PipedProgram& program, const std::stop_token& stop) {
  return Running(monitor, program).run(stop);
}

}  // namespace zksh
