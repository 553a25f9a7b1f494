// Report: how a failure is told to the user.
#include "report.h"

#include "help.h"

namespace zksh {
namespace {

/// An error is printed after Ctrl-C too, when the job's own Output would throw.
void print(Output& out, const std::string& text) {
  out.err_regardless((out.style().err_is_terminal ? escape_for_terminal(text, true) : text) + '\n');
}

}  // namespace

void report_error(Output& out, const Error& error) {
  const std::string text = error.what();
  if (!text.empty()) print(out, text);
}

void report_usage(Output& out, const std::string& name, const Command& command,
                  const UsageError& error) {
  print(out, fmt::format("{}: {}\nusage: {} {}", name, error.what(), name, short_syntax(command)));
}

}  // namespace zksh
