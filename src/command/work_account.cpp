// WorkAccount: reports how far work on many nodes got if it ends early.
#include "command/work_account.h"

#include <fmt/core.h>

namespace zksh {

void report_if_incomplete(Context& cx, Progress& progress, const std::function<void()>& work,
                          const std::function<std::string()>& summary) {
  try {
    work();
  } catch (...) {
    progress.end();
    const auto text = cx.rehearsal ? std::string() : summary();
    if (!text.empty()) cx.out.err_line_regardless("not complete: " + text);
    throw;
  }
  progress.end();
}

std::string unknown_text(std::size_t nodes) {
  return fmt::format("the outcome of {} more is unknown", nodes);
}

}  // namespace zksh
