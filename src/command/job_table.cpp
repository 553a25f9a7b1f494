// JobTable: the background jobs, and the one that an argument names.
#include "command/job_table.h"

#include "base/error.h"
#include "base/mapped.h"
#include "command/command.h"

namespace zksh {

JobTable::Job JobTable::add(const std::string& line) {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    auto& jobs = jobs_(held);
    const int number = jobs.empty() ? 1 : jobs.rbegin()->first + 1;
    return jobs[number] = {.number = number, .line = line, .started = Clock::now()};
  });
}

JobTable::Job* JobTable::job(const Monitor::Held& held, int number) {
  const auto found = jobs_(held).find(number);
  return found == jobs_(held).end() ? nullptr : &found->second;
}

void JobTable::note_end(int number, int status) {
  monitor_.change([&](const Monitor::Held& held) {
    if (auto* const ended = job(held, number)) ended->status = status;
  });
}

std::optional<JobTable::Job> JobTable::find(int number) {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    const auto* const found = job(held, number);
    return found ? std::optional(*found) : std::nullopt;
  });
}

std::vector<JobTable::Job> JobTable::all() const {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    return mapped(jobs_(held), [](const auto& numbered) { return numbered.second; });
  });
}

void JobTable::remove(int number) {
  monitor_.change([&](const Monitor::Held& held) {
    // A command that waits for the job still needs its status, and removes it.
    const auto* const found = job(held, number);
    if (found && !found->awaited) jobs_(held).erase(number);
  });
}

void JobTable::kill(int number) {
  auto stop = monitor_.with_lock([&](const Monitor::Held& held) {
    auto* const killed = job(held, number);
    if (!killed) return std::stop_source(std::nostopstate);
    killed->killed = true;
    return killed->stop;
  });
  stop.request_stop();
}

std::optional<int> JobTable::stop_waiting(int number) {
  return monitor_.change([&](const Monitor::Held& held) -> std::optional<int> {
    auto* const left = job(held, number);
    if (!left) return status::ok;
    const auto result = left->status;
    left->awaited = false;
    if (result) jobs_(held).erase(number);
    return result;
  });
}

void JobTable::begin_waiting(int number) {
  monitor_.with_lock([&](const Monitor::Held& held) {
    if (auto* const found = job(held, number)) found->awaited = true;
  });
}

std::optional<int> JobTable::wait(int number, const std::stop_token& stop) {
  std::optional<int> result;
  const auto ended = [&](const Monitor::Held& held) {
    const auto* const found = job(held, number);
    result = found ? found->status : status::ok;
    return result.has_value();
  };
  if (!monitor_.wait(stop, ended)) return std::nullopt;
  monitor_.change([&](const Monitor::Held& held) { jobs_(held).erase(number); });
  return result;
}

void JobTable::end_all(Clock::time_point deadline, const std::stop_token& stop) {
  for (const auto& one : all()) kill(one.number);
  monitor_.wait_until(stop, deadline,
                      [&](const Monitor::Held& held) { return jobs_(held).empty(); });
}

JobTable& jobs_of(const Context& cx) {
  if (!cx.services.jobs)
    throw ValueError("only lines typed at the prompt can run in the background");
  return *cx.services.jobs;
}

JobTable::Job job_of(const Context& cx, const std::optional<std::string>& word, bool only) {
  auto& table = jobs_of(cx);
  if (!word) {
    const auto all = table.all();
    if (all.empty()) throw ValueError("there are no background jobs");
    if (only && all.size() > 1)
      throw ValueError(fmt::format("which job? There are {}; `jobs` lists them", all.size()));
    return all.back();
  }
  const auto digits = word->starts_with('%') ? word->substr(1) : *word;
  const auto number = parse_number(digits, "job", 1, INT32_MAX);
  const auto job = table.find(static_cast<int>(number));
  if (!job) throw ValueError(fmt::format("no such job: %{}; `jobs` lists them", number));
  return *job;
}

}  // namespace zksh
