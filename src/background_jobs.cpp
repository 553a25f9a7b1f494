// BackgroundJobs: starting lines in the background, and telling of their end.
#include "background_jobs.h"

#include "secrets.h"
#include "words.h"

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

std::string shown(const std::string& line) { return mask_secrets(line).value_or(line); }

}  // namespace

void BackgroundJobs::start(const std::string& line) {
  const int number = jobs_.empty() ? 1 : jobs_.back().number + 1;
  auto& entry = jobs_.emplace_back(Entry{
      .number = number, .line = line, .history = {}, .current = around_.current.get(), .job = {}});
  around_.queue.add(Stream::Err, fmt::format("[{}] {}\n", number, shown(line)));
  entry.job =
      std::make_unique<Job>(monitor_, wake_fd_, [this, &entry](const std::stop_token& stop) {
        auto around = around_;
        around.history = entry.history;
        around.current = entry.current;
        around.background = true;
        return Interpreter(around, Input::Terminal, stop).run_line(entry.line);
      });
}

void BackgroundJobs::look_after() {
  std::erase_if(jobs_, [&](const Entry& entry) {
    const auto result = entry.job->status();
    if (!result) return false;
    const auto how = *result == status::ok ? "done" : fmt::format("ended with status {}", *result);
    around_.queue.add(Stream::Err,
                      fmt::format("[{}] {}: {}\n", entry.number, how, shown(entry.line)));
    return true;
  });
}

void BackgroundJobs::stop() {
  for (auto& entry : jobs_) entry.job->stop();
}

}  // namespace zksh
