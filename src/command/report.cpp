// Report: reports failures to the user.
#include "command/report.h"

#include "base/json.h"
#include "base/process.h"
#include "base/secrets.h"
#include "command/help.h"

#include <fmt/core.h>

namespace zksh {
namespace {

/// Errors are printed even after Ctrl-C, when the job's Output would throw.
void print(Output& out, const std::string& message) {
  const auto& place = out.place();
  const auto text = place.line > 0 && place.in_text
                        ? fmt::format("{}:{}: {}", place.source, place.line, message)
                        : message;
  out.mark_place_shown();
  out.err_regardless((out.style().err_is_terminal ? news_for_terminal(text) : text) + '\n');
}

/// The code name of an error that did not come from a server: ZooKeeper's if it has one, else
/// zksh's own.
std::string_view name_of_status(int exit_status) {
  switch (exit_status) {
    case status::usage:
      return "BadArguments";
    case status::no_connection:
    case status::outcome_unknown:
      return "ConnectionLoss";
    case status::no_node:
      return "NoNode";
    case status::node_exists:
      return "NodeExists";
    case status::bad_version:
      return "BadVersion";
    case status::not_authorised:
      return "NoAuth";
    case status::has_children:
      return "NotEmpty";
    case status::session_expired:
      return "SessionExpired";
    case status::read_only:
      return "NotReadOnly";
    case status::server_refused:
      return "APIError";
    case status::timed_out:
      return "OperationTimeout";
    case status::lock_busy:
      return "LockBusy";
    case status::lock_lost:
      return "LockLost";
    case status::cannot_run:
      return "CannotRun";
    case status::program_not_found:
      return "ProgramNotFound";
    default:
      return exit_status > status::signal_base ? "Interrupted" : "Failed";
  }
}

/// {"error": "…", "code": "NoNode", "path": "/a", "command": "get", "status": 4}
Json error_json(const Error& error, const std::string& path, const std::string& command) {
  const auto* const refused = dynamic_cast<const ZkError*>(&error);
  return Json::object()
      .set("error", without_secrets(error.what()))
      .set("code",
           refused ? code_name(refused->code()) : std::string(name_of_status(error.exit_status())))
      .set("path", Json::text_or_null(path))
      .set("command", command)
      .set("status", error.exit_status());
}

}  // namespace

Error system_refusal(const std::system_error& error) {
  return Error(
      fmt::format("system error: {}{}", error.what(), limit_reached(error.code().value())));
}

Error memory_refusal() {
  return Error(
      "not enough memory on this machine: see `ulimit -v` in the shell that started zksh, or the "
      "container's limit");
}

Error internal_error(const std::exception& error) {
  return Error(fmt::format("internal error: {}; please report this bug of zksh", error.what()));
}

void report_error(Output& out, const Error& error) {
  // A message about an unexpected word may contain a misplaced secret.
  const auto text = without_secrets(error.what());
  if (text.empty()) return;
  if (out.style().format != Format::Json) return print(out, text);
  auto json = error_json(error, error.path().empty() ? out.node() : error.path(), out.command());
  if (out.place().line > 0) json.set("source", out.place().source).set("line", out.place().line);
  out.err_regardless(json.text() + '\n');
  out.mark_place_shown();
}

std::string error_line(const Error& error) {
  return error_json(error, error.path(), "").text() + '\n';
}

void report_usage(Output& out, const std::string& name, const Command& command,
                  const UsageError& error) {
  if (out.style().format == Format::Json) return report_error(out, error);
  const auto syntax = short_syntax(command);
  print(out, fmt::format("{}: {}\nusage: {}{}{}", name, without_secrets(error.what()), name,
                         syntax.empty() ? "" : " ", syntax));
}

}  // namespace zksh
