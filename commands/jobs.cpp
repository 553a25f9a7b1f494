// jobs: list the background jobs.
#include "base/time.h"
#include "command/command.h"
#include "command/job_table.h"
#include "node/node_json.h"

#include <chrono>

namespace zksh::command_jobs {
namespace {

using namespace std::chrono_literals;

std::string_view state_of(const JobTable::Job& job) {
  if (job.status) return "ended";
  return job.killed ? "ending" : "running";
}

int run(Context& cx) {
  for (const auto& job : jobs_of(cx).all()) {
    const auto age = Clock::now() - job.started;
    if (cx.out.json())
      print_json(cx, Json::object()
                         .set("job", job.number)
                         .set("state", state_of(job))
                         .set("seconds", age / 1s)
                         .set("text", job.line));
    else if (cx.out.plain())
      cx.out.line("{}\t{}\t{}\t{}", job.number, state_of(job),
                  round<std::chrono::seconds>(age).count(), job.line);
    else
      cx.out.line("[{}] {} for {}: {}", job.number, state_of(job), short_age(age / 1ms),
                  cx.out.shown(job.line));
  }
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
     .strict = true,
     .pages = true},
    run);
}  // namespace zksh::command_jobs
