// fg: wait for a background job.
#include "command/command.h"
#include "command/job_table.h"

namespace zksh::command_fg {
namespace {

struct Args {
  std::optional<std::string> job;
};

void declare(Options& o, Args& a) {
  o.job("%job", a.job, "The job's number; by default the newest job.");
}

int run(Context& cx, const Args& a) {
  const auto job = job_of(cx, a.job, false);
  if (cx.background) throw ValueError("a job cannot wait for other jobs");
  cx.end_at_suspension();
  cx.services.jobs->begin_waiting(job.number);
  // A terminal that takes nothing must not keep the job from being awaited.
  cx.out.err_line_regardless(cx.out.shown_in_error(job.line));
  if (const auto result = cx.services.jobs->wait(job.number, cx.stop)) return *result;
  if (cx.was_suspended()) {
    if (const auto result = cx.services.jobs->stop_waiting(job.number)) return *result;
    cx.out.err_line_regardless(fmt::format("[{}] {}", job.number, cx.out.shown_in_error(job.line)));
    return status::ok;
  }
  cx.services.jobs->kill(job.number);
  return cx.services.jobs->wait(job.number, {}).value_or(status::failure);
}

}  // namespace

extern const Command fg_command = make_command<Args>(
    {.name = "fg",
     .group = "Shell",
     .summary = "Wait for a background job",
     .keywords = {"foreground", "background"},
     .details = "Waits until the job ends, and returns its status. Ctrl-C ends the job; Ctrl-Z "
                "leaves it in the background. A program that the job runs does not get the "
                "terminal.",
     .examples = {{"fg %1", "Wait for job 1."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_fg
