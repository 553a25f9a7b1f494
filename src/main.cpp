// zksh: process options, and the choice between an interactive shell, a script and one command.
#include "base/inherited_descriptors.h"
#include "shell/arguments.h"
#include "shell/inquiry.h"
#include "shell/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

/// Makes sure that descriptors 0 to 2 are open, so that no socket becomes the standard output. One
/// that was closed gets a descriptor on which writes fail, as they would have.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) _exit(zksh::status::failure);
}

/// No core dump of this process, and no other process of its user may read its memory: passwords
/// are in typed lines, in auth files and in the C client, for as long as it runs. The programs that
/// it starts are not concerned.
void keep_memory_to_itself() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// Whoever started zksh may have ignored the end of its own children. Inherited, that would leave
/// no program's exit status to be waited for.
void want_exit_statuses() { std::signal(SIGCHLD, SIG_DFL); }

/// One heap for all threads: another one for each costs every short run more (a tenth of a
/// millisecond and more) than threads that wait for one another ever cost long ones.
void use_one_heap() { mallopt(M_ARENA_MAX, 1); }

}  // namespace

int main(int argc, char** argv) {
  keep_memory_to_itself();
  use_one_heap();
  want_exit_statuses();
  open_standard_streams();
  zksh::inherited_descriptors();
  try {
    const auto arguments = zksh::parse_arguments({argv + std::min(argc, 1), argv + argc});
    return arguments.inquiry ? zksh::answer(*arguments.inquiry) : zksh::run(arguments);
  } catch (const zksh::Error& error) {
    fmt::print(stderr, "zksh: {}\n", error.what());
    return error.exit_status();
  }
}
