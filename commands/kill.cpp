// kill: end a background job.
#include "command/command.h"
#include "command/job_table.h"

namespace zksh::command_kill {
namespace {

struct Args {
  std::optional<std::string> job;
};

void declare(Options& o, Args& a) {
  o.job("%job", a.job, "The job's number; may be left out if there is only one.");
}

int run(Context& cx, const Args& a) {
  const auto job = job_of(cx, a.job, true);
  cx.services.jobs->kill(job.number);
  return status::ok;
}

}  // namespace

extern const Command kill_command = make_command<Args>(
    {.name = "kill",
     .group = "Shell",
     .summary = "End a background job",
     .keywords = {"stop", "cancel", "terminate"},
     .details = "Ends a job as Ctrl-C ends a foreground command: its locks are released, and a "
                "program under a lock gets SIGTERM. zksh reports when the job has ended.",
     .examples = {{"kill %1", "End job 1."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_kill
