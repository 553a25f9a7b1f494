// Pager: shows results longer than the screen in the user's pager.
#include "shell/pager.h"

#include "base/text.h"
#include "command/live_picture.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace zksh {
namespace {

/// On a smaller screen a pager could show nothing but its own prompt.
constexpr std::size_t fewest_rows = 2;

std::string wanted_pager(const std::string& setting) {
  if (!setting.empty()) return setting;
  for (const char* const name : {"ZKSH_PAGER", "PAGER"})
    if (const char* const value = std::getenv(name)) return value;
  return "less -FIRX";
}

/// Whether the program seems to exist.
bool may_run(const std::string& name) {
  // Leave what needs expansion to the shell.
  if (name.find_first_of("$`\"'\\=(){}<>|&;*?~") != std::string::npos) return true;
  try {
    find_program(name);
    return true;
  } catch (const Error& error) {
    return error.exit_status() != status::program_not_found;
  }
}

OutputProgram::Plan whole_screen(OutputProgram::Plan plan) {
  plan.whole_screen = true;
  // Without a shell in between, a pager that is asked to end can restore the screen first.
  if (plan.line.find_first_of("$`\"'\\=(){}<>|&;*?[]~#!\n") == std::string::npos)
    plan.line.insert(0, "exec ");
  return plan;
}

}  // namespace

std::optional<std::string> pager_line(const std::string& setting) {
  const auto line = wanted_pager(setting);
  const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
  const auto name = line.substr(begin, line.find_first_of(" \t", begin) - begin);
  if (name.empty() || line.substr(begin) == "cat" || line == "off" || !may_run(name))
    return std::nullopt;
  return line;
}

std::size_t rows_of(std::string_view text, std::size_t columns) {
  std::size_t rows = 0;
  for (const auto line : lines_of(text))
    rows += std::max<std::size_t>(1, (text_width(line) + columns - 1) / columns);
  return rows;
}

Pager::Pager(OutputProgram::Plan plan)
    : queue_(plan.queue), program_(whole_screen(std::move(plan))) {}

void Pager::write(std::string_view bytes) {
  if (started_) return program_.write(bytes);
  kept_ += bytes;
  in_order_.push_back({Stream::Out, std::string(bytes)});
  const auto size = terminal_size();
  // The prompt takes a row too.
  const bool fits = kept_.size() < size.lines || rows_of(kept_, size.columns) < size.lines;
  if (fits || size.lines < fewest_rows) return;
  for (const auto& [stream, error] : in_order_)
    if (stream == Stream::Err) queue_.add(Stream::Err, error);
  program_.start();
  started_ = true;
  program_.write(kept_);
  kept_.clear();
  in_order_.clear();
}

bool Pager::keep_error(std::string_view bytes) {
  if (started_) return false;
  in_order_.push_back({Stream::Err, std::string(bytes)});
  // With so many errors, do not delay them or use more memory.
  const auto errors = std::ranges::count(in_order_, Stream::Err, &OutputQueue::Chunk::stream);
  if (static_cast<std::size_t>(errors) >= terminal_size().lines) print_kept();
  return true;
}

void Pager::print_kept() {
  for (const auto& [stream, text] : in_order_) queue_.add(stream, text);
  in_order_.clear();
  kept_.clear();
}

int Pager::finish(int result) {
  if (started_) return program_.finish(result).command;
  print_kept();
  return result;
}

}  // namespace zksh
