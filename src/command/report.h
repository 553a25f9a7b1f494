// Report: how a failure is told to the user. The only place where Error is caught.
#pragma once

#include "base/error.h"
#include "command/command.h"
#include "command/output.h"

#include <string>
#include <system_error>

namespace zksh {

void report_error(Output& out, const Error& error);
/// What the operating system refused (a pipe, a process, a thread, a file), with its remedy.
Error system_refusal(const std::system_error& error);
/// The message with the command's name before it, and the command's syntax below it.
void report_usage(Output& out, const std::string& name, const Command& command,
                  const UsageError& error);

/// Runs `body`, which returns an exit status; an Error, or what the system refused, is printed and
/// its status returned.
template <class Body>
int reporting(Output& out, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    report_error(out, error);
    return error.exit_status();
  } catch (const std::system_error& error) {
    const auto refusal = system_refusal(error);
    report_error(out, refusal);
    return refusal.exit_status();
  }
}

}  // namespace zksh
