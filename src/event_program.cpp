// EventProgram: runs a program for an event, and passes on what it says.
#include "event_program.h"

#include "fd.h"
#include "process.h"

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
  Fd file(memfd_create("zksh-event", MFD_CLOEXEC));
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

/// Passes on what there is to read. Closed at the end of the stream.
void pass_on(Fd& from, Output& out, Stream stream) {
  std::array<char, 16384> buffer{};
  while (from) {
    const auto count = read(from.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      from.close();
      return;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    if (stream == Stream::Out)
      out.out(bytes);
    else
      out.err(bytes);
  }
}

/// Until the program has ended, or a stop is requested.
void pass_on_all(Context& cx, const Process& process, Fd& out, Fd& err) {
  Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) fail("eventfd");
  const std::stop_callback stopped(cx.stop, [&wake] { eventfd_write(wake.get(), 1); });
  const Monitor::Listener ended(cx.client.monitor(),
                                [&](const Monitor::Held& held, const void* /*subject*/) {
                                  if (process.status(held)) eventfd_write(wake.get(), 1);
                                });
  while (!process.status() && !cx.stop.stop_requested()) {
    std::array<pollfd, 3> waits{pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0},
                                pollfd{wake.get(), POLLIN, 0}};
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) fail("poll");
    pass_on(out, cx.out, Stream::Out);
    pass_on(err, cx.out, Stream::Err);
  }
}

}  // namespace

int run_event_program(Context& cx, const std::string& shell_text,
                      std::vector<std::pair<std::string, std::string>> environment,
                      const std::string& input) {
  const auto stdin_file = file_with(input);
  auto out = reading_pipe();
  auto err = reading_pipe();
  // Not in zksh's group: Ctrl-C at the terminal ends the stream, and that ends the program.
  Process process(cx.client.monitor(), {.words = {"/bin/sh", "-c", shell_text},
                                        .environment = std::move(environment),
                                        .redirections = {{STDIN_FILENO, stdin_file.get()},
                                                         {STDOUT_FILENO, out.write_end.get()},
                                                         {STDERR_FILENO, err.write_end.get()}},
                                        .group = Program::Group::Own,
                                        .death_signal = SIGTERM});
  out.write_end.close();
  err.write_end.close();
  pass_on_all(cx, process, out.read_end, err.read_end);
  if (cx.stop.stop_requested()) {
    process.signal(SIGTERM);
    cx.client.monitor().wait_until({}, Clock::now() + patience, [&](const Monitor::Held& held) {
      return process.status(held).has_value();
    });
    throw Cancelled();
  }
  pass_on(out.read_end, cx.out, Stream::Out);
  pass_on(err.read_end, cx.out, Stream::Err);
  return process.status().value_or(status::failure);
}

}  // namespace zksh
