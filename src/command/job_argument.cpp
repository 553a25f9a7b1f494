// JobArgument: finds the background job that a command's argument names.
#include "command/job_argument.h"

namespace zksh {

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
