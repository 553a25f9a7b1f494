// Report: reports failures to the user. The only place that catches Error.
#pragma once

#include "base/error.h"
#include "command/command.h"
#include "command/output.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace zksh {

void report_error(Output& out, const Error& error);
/// An error before any command, as a line of JSON.
std::string error_line(const Error& error);
/// The Error for what the operating system refused (a pipe, process, thread or file), with the
/// limit that was reached.
Error system_refusal(const std::system_error& error);
/// The Error for memory that could not be allocated.
Error memory_refusal();
/// The Error for an exception that nothing should throw.
Error internal_error(const std::exception& error);
/// Prints the message after the command's name, and the command's syntax below.
void report_usage(Output& out, const std::string& name, const Command& command,
                  const UsageError& error);

/// Runs `body` and returns its exit status. If it throws, reports that and returns the error's
/// status: whatever is wrong with a command, the shell keeps its session and its locks.
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
  } catch (const std::bad_alloc&) {
    report_error(out, memory_refusal());
    return status::failure;
  } catch (const std::exception& error) {
    report_error(out, internal_error(error));
    return status::failure;
  }
}

}  // namespace zksh
