// BackgroundJobs: starting lines in the background, and telling of their end.
#include "shell/background_jobs.h"

#include "base/secrets.h"
#include "base/words.h"

#include <fmt/core.h>

namespace zksh {

std::optional<std::string> background_line(const std::string& line) {
  // Most lines need no second look at their words.
  const auto end = line.find_last_not_of(" \t\n\v\f\r");
  if (end == std::string::npos || line[end] != '&') return std::nullopt;
  try {
    const auto words = split_words(line);
    if (words.size() < 2 || words.back().text != "&" || words.back().quoted) return std::nullopt;
    return line.substr(0, words.back().begin);
  } catch (const UsageError&) {
    return std::nullopt;  // the interpreter points at the mistake
  }
}

namespace {

std::string told(const std::string& line, const OutputStyle& style) {
  return style.err_is_terminal ? escape_for_terminal(line) : line;
}

}  // namespace

void BackgroundJobs::start(const std::string& line) {
  const auto job = table_.add(without_secrets(line));
  Entry& entry = jobs_.emplace_back(Entry{.number = job.number,
                                          .line = line,
                                          .history = {},
                                          .current = around_.current.get(),
                                          .transaction = Transaction(monitor_),
                                          .job = {}});
  around_.queue.add(Stream::Err,
                    fmt::format("[{}] {}\n", job.number, told(job.line, around_.style)));
  entry.job = std::make_unique<Job>(
      monitor_, wake_fd_, [this, &entry, stop = job.stop](const std::stop_token& own) mutable {
        const std::stop_callback passes_on(own, [&stop] { stop.request_stop(); });
        auto around = around_;
        around.history = entry.history;
        around.current = entry.current;
        around.transaction = entry.transaction;
        around.background = true;
        const int result =
            Interpreter(around, Input::Terminal, stop.get_token()).run_line(entry.line);
        table_.end(entry.number, result);
        return result;
      });
}

void BackgroundJobs::look_after() {
  std::erase_if(jobs_, [&](const Entry& entry) {
    const auto result = entry.job->status();
    if (!result) return false;
    tell(entry.number, *result);
    table_.remove(entry.number);
    return true;
  });
}

/// Of a job's end, unless a command waited for it.
void BackgroundJobs::tell(int number, int result) {
  const auto job = table_.find(number);
  if (!job || job->awaited) return;
  auto how = result == status::ok ? "done" : fmt::format("ended with status {}", result);
  if (job->killed && result == Cancelled().exit_status()) how = "killed";
  around_.queue.add(Stream::Err,
                    fmt::format("[{}] {}: {}\n", number, how, told(job->line, around_.style)));
}

std::vector<std::string> BackgroundJobs::names() const {
  std::vector<std::string> names;
  names.reserve(jobs_.size());
  for (const auto& entry : jobs_) names.push_back(fmt::format("%{}", entry.number));
  return names;
}

void BackgroundJobs::stop() {
  for (auto& entry : jobs_) entry.job->stop();
}

}  // namespace zksh
