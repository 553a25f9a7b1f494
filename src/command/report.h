// Report: reports failures to the user. The only place that catches Error.
#pragma once

#include "base/error.h"
#include "command/command.h"
#include "command/output.h"

#include <exception>
#include <string>

namespace zksh {

void report_error(Output& out, const Error& error);
/// An error before any command, as a line of JSON.
std::string error_line(const Error& error);
/// The Error for any other exception: what the operating system refused (memory, a pipe, process,
/// thread or file), with the limit that was reached, or a bug.
Error error_for(const std::exception& exception);
/// Reports what a command has thrown; returns the exit status.
int report(Output& out, const std::exception& exception);
/// Prints the message after the command's name, and the command's syntax below.
void report_usage(Output& out, const std::string& name, const Command& command,
                  const UsageError& error);

/// Runs `body` and returns its exit status. If it throws, reports that and returns the error's
/// status: whatever is wrong with a command, the shell keeps its session and its locks.
template <class Body>
int reporting(Output& out, Body&& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return report(out, exception);
  }
}

}  // namespace zksh
