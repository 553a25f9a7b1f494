// Job: a function that runs on its own thread until it ends or is stopped.
#include "shell/job.h"

#include <sys/eventfd.h>
#include <utility>

namespace zksh {

Job::Job(Monitor& monitor, int wake_fd, std::function<int(std::stop_token)> body)
    : monitor_(monitor),
      thread_([this, wake_fd, run = std::move(body)](const std::stop_token& stop) {
        const int result = run(stop);
        monitor_.change([&](const Monitor::Held& held) { status_(held) = result; });
        eventfd_write(wake_fd, 1);
      }) {}

std::optional<int> Job::status() {
  return monitor_.with_lock([&](const Monitor::Held& held) { return status_(held); });
}

}  // namespace zksh
