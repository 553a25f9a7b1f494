// JobTable: the background jobs.
#include "command/job_table.h"

#include "base/error.h"

namespace zksh {

JobTable::Job JobTable::add(const std::string& line) {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    auto& jobs = jobs_(held);
    const int number = jobs.empty() ? 1 : jobs.rbegin()->first + 1;
    return jobs[number] = {.number = number, .line = line, .started = Clock::now()};
  });
}

void JobTable::end(int number, int status) {
  monitor_.change([&](const Monitor::Held& held) {
    const auto found = jobs_(held).find(number);
    if (found != jobs_(held).end()) found->second.status = status;
  });
}

std::optional<JobTable::Job> JobTable::find(int number) const {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::optional<Job> {
    const auto found = jobs_(held).find(number);
    if (found == jobs_(held).end()) return std::nullopt;
    return found->second;
  });
}

std::vector<JobTable::Job> JobTable::all() const {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    std::vector<Job> all;
    all.reserve(jobs_(held).size());
    for (const auto& job : jobs_(held)) all.push_back(job.second);
    return all;
  });
}

void JobTable::remove(int number) {
  monitor_.change([&](const Monitor::Held& held) {
    // A command that waits for the job still needs its status, and removes it.
    const auto found = jobs_(held).find(number);
    if (found != jobs_(held).end() && !found->second.awaited) jobs_(held).erase(found);
  });
}

bool JobTable::kill(int number) {
  auto stop = monitor_.with_lock([&](const Monitor::Held& held) -> std::optional<std::stop_source> {
    const auto found = jobs_(held).find(number);
    if (found == jobs_(held).end()) return std::nullopt;
    found->second.killed = true;
    return found->second.stop;
  });
  if (stop) stop->request_stop();
  return stop.has_value();
}

std::optional<int> JobTable::leave(int number) {
  return monitor_.change([&](const Monitor::Held& held) -> std::optional<int> {
    const auto found = jobs_(held).find(number);
    if (found == jobs_(held).end()) return status::ok;
    if (!found->second.status) {
      found->second.awaited = false;
      return std::nullopt;
    }
    const auto result = found->second.status;
    jobs_(held).erase(found);
    return result;
  });
}

std::optional<int> JobTable::wait(int number, const std::stop_token& stop) {
  monitor_.with_lock([&](const Monitor::Held& held) {
    const auto found = jobs_(held).find(number);
    if (found != jobs_(held).end()) found->second.awaited = true;
  });
  std::optional<int> result;
  const auto ended = [&](const Monitor::Held& held) {
    const auto found = jobs_(held).find(number);
    result = found == jobs_(held).end() ? status::ok : found->second.status;
    return result.has_value();
  };
  if (!monitor_.wait(stop, ended)) return std::nullopt;
  monitor_.change([&](const Monitor::Held& held) { jobs_(held).erase(number); });
  return result;
}

}  // namespace zksh
