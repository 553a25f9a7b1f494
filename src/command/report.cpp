// Report: reports failures to the user.
#include "command/report.h"

#include "base/byte_text.h"
#include "base/json.h"
#include "base/process.h"
#include "base/secrets.h"
#include "command/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <new>
#include <system_error>
#include <utility>

namespace zksh {
namespace {

/// Prints an error for people, even after Ctrl-C, when the job's Output would throw.
void print(Output& out, const std::string& message) {
  const auto& place = out.place();
  const auto text = place.line > 0 && place.in_text
                        ? fmt::format("{}:{}: {}", place.source, place.line, message)
                        : message;
  out.mark_place_shown();
  out.err_regardless(news_line(text, false, out.style().err_is_terminal));
}

/// The code names of errors that did not come from a server: ZooKeeper's if it has one, else zksh's
/// own.
constexpr auto names_of_statuses = std::to_array<std::pair<int, std::string_view>>({
    {status::usage, "BadArguments"},
    {status::no_connection, "ConnectionLoss"},
    {status::outcome_unknown, "ConnectionLoss"},
    {status::no_node, "NoNode"},
    {status::node_exists, "NodeExists"},
    {status::bad_version, "BadVersion"},
    {status::not_authorised, "NoAuth"},
    {status::has_children, "NotEmpty"},
    {status::session_expired, "SessionExpired"},
    {status::read_only, "NotReadOnly"},
    {status::server_refused, "APIError"},
    {status::timed_out, "OperationTimeout"},
    {status::lock_busy, "LockBusy"},
    {status::lock_lost, "LockLost"},
    {status::cannot_run, "CannotRun"},
    {status::program_not_found, "ProgramNotFound"},
});

std::string_view name_of_status(int exit_status) {
  const auto* const found =
      std::ranges::find(names_of_statuses, exit_status, &std::pair<int, std::string_view>::first);
  if (found != names_of_statuses.end()) return found->second;
  return exit_status > status::signal_base ? "Interrupted" : "Failed";
}

/// {"error": "…", "code": "NoNode", "path": "/a", "command": "get", "status": 4}
Json error_json(const Error& error, const std::string& path, const std::string& command) {
  const auto* const refused = dynamic_cast<const ZkError*>(&error);
  return Json::object()
      .set("error", escape_bytes(without_secrets(error.what())))
      .set("code",
           refused ? code_name(refused->code()) : std::string(name_of_status(error.exit_status())))
      .set("path", Json::text_or_null(escape_bytes(path)))
      .set("command", escape_bytes(command))
      .set("status", error.exit_status());
}

}  // namespace

Error error_for(const std::exception& exception) {
  if (const auto* const refused = dynamic_cast<const std::system_error*>(&exception))
    return Error(
        fmt::format("system error: {}{}", refused->what(), limit_reached(refused->code().value())));
  if (dynamic_cast<const std::bad_alloc*>(&exception))
    return Error(
        "not enough memory on this machine: see `ulimit -v` in the shell that started zksh, or the "
        "container's limit");
  return Error(fmt::format("internal error: {}; please report this bug of zksh", exception.what()));
}

int report(Output& out, const std::exception& exception) {
  const auto* const error = dynamic_cast<const Error*>(&exception);
  if (!error) return report(out, error_for(exception));
  report_error(out, *error);
  return error->exit_status();
}

void report_error(Output& out, const Error& error) {
  // A message about an unexpected word may contain a misplaced secret.
  const auto text = without_secrets(error.what());
  if (text.empty()) return;
  if (out.style().format != Format::Json) return print(out, text);
  auto json = error_json(error, error.path().empty() ? out.node() : error.path(), out.command());
  if (out.place().line > 0)
    json.set("source", escape_bytes(out.place().source)).set("line", out.place().line);
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
