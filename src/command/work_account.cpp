// WorkAccount: reports how far work on many nodes got if it ends early.
#include "command/work_account.h"

#include <fmt/core.h>

namespace zksh {
namespace {

class Account {
 public:
  Account(Context& cx, Progress& progress, const std::function<std::string()>& summary)
      : cx_(cx), progress_(progress), summary_(summary) {}
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;
  ~Account() {
    progress_.end();
    if (complete_ || cx_.rehearsal) return;
    const auto text = summary_();
    if (!text.empty()) cx_.out.err_line_regardless("not complete: " + text);
  }

  void complete() { complete_ = true; }

 private:
  Context& cx_;
  Progress& progress_;
  const std::function<std::string()>& summary_;
  bool complete_ = false;
};

}  // namespace

void report_if_incomplete(Context& cx, Progress& progress, const std::function<void()>& work,
                          const std::function<std::string()>& summary) {
  Account account(cx, progress, summary);
  work();
  account.complete();
}

std::string unknown_text(std::size_t nodes) {
  return fmt::format("the outcome of {} more is unknown", nodes);
}

}  // namespace zksh
