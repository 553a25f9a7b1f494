// SessionThreads: checks for threads in advance, and exits with a message if the C client gets none
// nevertheless.
#include "session/session_threads.h"

#include "base/error.h"
#include "base/process_setup.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace zksh {
namespace {

void say(std::string_view text) {
  while (!text.empty()) {
    const auto written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void require_session_threads() {
  constexpr std::size_t of_a_session = 2;
  require_threads(of_a_session, "a session");
}

}  // namespace zksh

// For the linker, this is the C library's function.
extern "C" [[noreturn]] void replacement_assert_fail(const char* assertion, const char* file,
                                                     unsigned int line,
                                                     const char* function) __asm__("__assert_fail");

extern "C" void replacement_assert_fail(const char* assertion, const char* file, unsigned int line,
                                        const char* function) {
  // Somebody else took the thread after the check, or the limit is not this process's (pids.max of
  // a container).
  if (std::string_view(assertion).find("pthread_create") != std::string_view::npos) {
    zksh::say(
        "zksh: cannot start a thread for the session (see ulimit -u, ulimit -v, or the limits of "
        "the container)\n");
    _exit(zksh::status::failure);
  }
  zksh::say(fmt::format("{}:{}: {}: Assertion `{}' failed.\n", file, line,
                        function == nullptr ? "?" : function, assertion));
  std::abort();
}
