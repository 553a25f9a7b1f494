// jobs: list the background jobs.
#include "base/time.h"
#include "command/command.h"
#include "command/job_table.h"
#include "command/record.h"

#include <chrono>

namespace zksh::command_jobs {
namespace {

using namespace std::chrono_literals;

std::string_view state_of(const JobTable::Job& job) {
  if (job.status) return "ended";
  return job.killed ? "ending" : "running";
}

std::chrono::milliseconds age_of(const JobTable::Job& job) {
  return std::chrono::floor<std::chrono::milliseconds>(Clock::now() - job.started);
}

Record<JobTable::Job> job_record() {
  using Job = JobTable::Job;
  return {{"job", &Job::number},
          {"state", state_of},
          {"seconds", [](const Job& job) { return age_of(job) / 1s; }},
          {"text", &Job::line}};
}

int run(Context& cx) {
  const auto jobs = jobs_of(cx).all();
  if (!cx.out.text()) {
    print_rows(cx.out, "", job_record(), jobs);
    return status::ok;
  }
  for (const auto& job : jobs)
    cx.out.line("[{}] {} for {}: {}", job.number, state_of(job), short_age(age_of(job).count()),
                cx.out.shown(job.line));
  return status::ok;
}

}  // namespace

extern const Command jobs_command = make_command(
    {.name = "jobs",
     .group = "Shell",
     .summary = "List background jobs",
     .keywords = {"background", "bg", "ps"},
     .details = "Lists the jobs of this shell. A line that ends in & runs in the background, and "
                "its output appears above the line you are typing. Ctrl-Z moves a command that "
                "only waits to the background: `watch`, `wait`, `locks -w`, `elect -l`, and a "
                "`lock` in its queue; for other commands it stops zksh itself. `fg` waits for a "
                "job, `kill` ends one; leaving zksh ends them all. With -o plain, tabs separate "
                "number, state, seconds and line.",
     .examples = {{"jobs", "What is running, and for how long?"}},
     .json = "job state seconds text",
     .json_fields = {{"job", "integer", "The job's number."},
                     {"seconds", "integer", "How long the job has been running."}},
     .needs = Needs::Nothing,
     .pages = true},
    run);
}  // namespace zksh::command_jobs
