// Interpreter: runs lines: parses each, finds its command, runs it, and reports errors.
#include "shell/interpreter.h"

#include "base/fd.h"
#include "base/mapped.h"
#include "base/number.h"
#include "base/signal_relay.h"
#include "base/text.h"
#include "base/words.h"
#include "client/joint_reads.h"
#include "client/persistent_watches.h"
#include "command/dry_run.h"
#include "command/given_words.h"
#include "command/help.h"
#include "command/report.h"
#include "command/screen.h"
#include "command/zkcli_style.h"
#include "lock/manager.h"
#include "node/quota.h"
#include "node/remedy.h"
#include "node/value.h"
#include "recipes/recipe.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

/// Polls for the reader of a named pipe: a blocking open could not be stopped.
Fd open_for_writing(const std::string& name, int flags, const std::stop_token& stop) {
  constexpr int look_again_after = 50;  // ms
  const StopFd stopped(stop);
  while (true) {
    Fd fd(open(name.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
    if (fd || errno != ENXIO) return fd;
    pollfd waiting{.fd = stopped.get(), .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, look_again_after) > 0) throw Cancelled();
  }
}

/// Used only by the command's thread.
class OutputFile {
 public:
  /// Opens the file, or creates it; keeps its contents until something is written. Waits for the
  /// reader of a named pipe. Throws Error naming the file, Cancelled on a stop.
  OutputFile(std::string name, bool append, const std::stop_token& stop)
      : name_(std::move(name)), begun_(append) {
    fd_ = open_for_writing(name_, append ? O_APPEND : 0, stop);
    if (!fd_)
      throw Error(fmt::format("cannot write to {}: {}; the command was not run", name_,
                              std::strerror(errno)));
    // A program that gets the descriptor expects it to block.
    fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) & ~O_NONBLOCK);
    writer_.emplace(fd_.get(), stop);
  }

  /// For a program that writes to the file itself.
  int fd() {
    begin();
    return fd_.get();
  }

  /// Throws Error naming the file if it cannot be written, Cancelled on a stop.
  void write(std::string_view bytes) {
    begin();
    const int error = writer_->write(bytes);
    if (error == ECANCELED) throw Cancelled();
    if (error != 0) fail(error);
  }

  /// Call when the command has ended with this status; returns the combined status. If the command
  /// failed to parse its words, the file keeps its contents. Throws Error if what was written is
  /// refused.
  int finish(int result) {
    if (result != status::usage) begin();
    writer_.reset();
    // Some file systems report a full disk only on close.
    const int copy = fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && close(copy) != 0 && result == status::ok) fail(errno);
    return result;
  }

 private:
  void begin() {
    if (std::exchange(begun_, true)) return;
    struct stat info {};
    if (fstat(fd_.get(), &info) == 0 && S_ISREG(info.st_mode) && ftruncate(fd_.get(), 0) != 0)
      fail(errno);
  }

  [[noreturn]] void fail(int error) const {
    throw Error(fmt::format("cannot write to {}: {}", name_, std::strerror(error)));
  }

  std::string name_;
  bool begun_;  ///< its old contents are gone, or must stay
  Fd fd_;
  std::optional<FdWriter> writer_;
};

/// Writes errors among the results; false if that is impossible.
bool keeps(const std::function<void(std::string_view)>& write, std::string_view bytes) {
  try {
    write(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Interpreter::Interpreter(Surroundings surroundings, Input input, std::stop_token stop)
    : around_(std::move(surroundings)),
      input_(input),
      stop_(std::move(stop)),
      out_(around_.services.queue, around_.style, stop_) {}

/// `conf output` sets the format of all later commands.
void Interpreter::begin_command(std::string_view name) {
  out_.begin_command(name);
  if (around_.services.settings.origin("output") == "default") return;
  const auto wanted = around_.services.settings.value("output");
  for (const auto& [format_name, format] : named_formats)
    if (format_name == wanted) out_.set_format(format);
}

int Interpreter::run_line(const std::string& line, bool at_once) {
  unaware_ = is_drop_in() && at_once && refusal_untold_;
  // A line of a script must not delete what an earlier one could not print.
  if (input_ == Input::Text || input_ == Input::Pipe) {
    await_accepted();
    if (output_refused_ || stop_.stop_requested())
      return status::ok;  // the caller that ends the run knows the status
  }
  begin_command({});
  if (is_drop_in() ? line.empty() : is_blank_or_comment(line)) return finish(status::ok);
  const auto begin = timed_since();
  const int result = reporting(out_, [&] {
    remember(line);
    return execute_line(line);
  });
  if (!job_of(line)) print_time(begin);
  return finish(result);
}

int Interpreter::edit_line(std::string& line) {
  begin_command({});
  return finish(reporting(out_, [&] {
    const auto saved = edit_text({.monitor = around_.client.monitor(),
                                  .signals = around_.services.signals,
                                  .out = out_,
                                  .stop = stop_},
                                 "line.zksh", line, "nothing was run",
                                 [](const std::string& /*text*/) { return std::string(); });
    if (!saved) throw Error("nothing was saved in the editor, so nothing was run");
    line = *saved;
    return status::ok;
  }));
}

int Interpreter::run_words(const std::vector<std::string>& words) {
  const auto begin = timed_since();
  const int result = reporting(out_, [&] { return execute(invocation_of(words)); });
  print_time(begin);
  return finish(result);
}

/// At the prompt, a leading blank keeps a line out of every history.
void Interpreter::remember(const std::string& line) {
  const bool kept_out = input_ == Input::Terminal && (line.front() == ' ' || line.front() == '\t');
  if (kept_out)
    around_.history.get().add_unkept();
  else
    around_.history.get().add(line);
}

/// When a command begins, with the setting timing.
std::optional<Clock::time_point> Interpreter::timed_since() const {
  return around_.services.settings.timing ? std::optional(Clock::now()) : std::nullopt;
}

/// Prints how long a command took, unless it was the one that sets timing.
void Interpreter::print_time(std::optional<Clock::time_point> begin) {
  if (!begin || !around_.services.settings.timing) return;
  out_.err_line_regardless("time: " + short_time(Clock::now() - *begin));
}

void Interpreter::await_accepted() {
  if (!around_.services.queue.await_accepted(stop_) && !stop_.stop_requested())
    output_refused_ = true;
}

int Interpreter::finish(int result) {
  // A command's own events are printed before the next command's output.
  around_.services.watches.settle(event_patience(input_), stop_);
  // At the prompt the user has seen the failure; a script would send the incomplete transaction.
  if (result != status::ok && input_ != Input::Terminal) around_.transaction.get().spoil();
  const auto signal = around_.services.signals.take_end();
  // As in sh, SIGINT counts only if it ended the program: an editor handles it, and does not end
  // the script that runs it.
  const bool ends = signal && (*signal != SIGINT || result == status::signal_base + SIGINT);
  if (ends && input_ != Input::Terminal) ended_by_ = signal;
  // A command that a signal interrupted has that signal's status.
  if (signal && result == Cancelled().exit_status()) return status::signal_base + *signal;
  if (is_drop_in() && result < status::program_not_found) return std::min(result, status::failure);
  return result;
}

/// What the line runs in the background; nullopt if it does not end in &, or & is a word here.
std::optional<std::string> Interpreter::job_of(const std::string& line) const {
  return around_.start_in_background && input_ == Input::Terminal ? background_line(line)
                                                                  : std::nullopt;
}

/// Runs the commands of a typed line up to the first that fails; elsewhere a line is one command.
int Interpreter::execute_line(const std::string& line) {
  if (quit()) return status::ok;  // the rest of a file that `source` reads
  if (const auto job = job_of(line)) {
    if (around_.transaction.get().is_open())
      throw ValueError(
          "in a transaction, nothing runs in the background (to use & as a value, quote it)");
    around_.start_in_background(*job, around_.current.get());
    return status::ok;
  }
  int result = status::ok;
  const auto commands = input_ == Input::Terminal ? typed_commands(line) : std::vector{line};
  if (commands.size() > 1) around_.suspension.reset();
  for (const auto& command : commands) {
    const auto typed = parsed(command);
    if (typed.words.empty()) continue;
    if (input_ == Input::Pipe && !is_drop_in()) explain_literal(command, typed.words);
    const auto given = invocation_of(typed.words);
    result = typed.redirects() ? execute_redirected(typed, given) : execute(given);
    if (result != status::ok || quit() || stop_.stop_requested()) break;
  }
  return result;
}

/// Explains once that zkCli's grammar treats zksh's operators as plain words, and has no long names
/// for its options.
void Interpreter::explain_literal(const std::string& line, const std::vector<Word>& words) {
  if (literal_explained_) return;
  const auto operators = operators_in(line);
  const auto is_sign = [&](const Word& word) {
    if (word.quoted) return false;
    if (word.text.size() > 1 && word.text.front() == '@') return true;
    const auto one = std::ranges::find(operators, word.begin, &Operator::begin);
    // <a/> is more likely a value.
    return one != operators.end() &&
           (line[one->begin] != '<' || one->end == word.end || one->end > one->begin + 1);
  };
  const auto* const command = command_named(words.front().text);
  const auto is_long_name = [&](const Word& word) {
    return !word.quoted && command && has_other_name_in_zkcli(*command, word.text);
  };
  const auto found = std::ranges::find_if(
      words, [&](const Word& word) { return is_sign(word) || is_long_name(word); });
  if (found == words.end()) return;
  literal_explained_ = true;
  out_.err_line("{} is {} here, as in zkCli; `zksh -f -` reads zksh's own syntax",
                out_.shown_in_error(found->text),
                is_sign(*found) ? "an ordinary word" : "no option");
}

CommandLine Interpreter::parsed(const std::string& line) const {
  if (is_drop_in()) return {.words = split_as_zkcli(line)};
  // zkCli.sh has no redirection, and zksh's own arguments have been through a shell.
  const bool redirects = input_ == Input::Terminal || input_ == Input::Text;
  return parse_command_line(line, redirects, input_ == Input::Text ? around_.arguments : nullptr);
}

/// In the place of zkCli, there are only zkCli's commands: its scripts try unknown ones to find out
/// what they talk to, and a command that waits for the terminal would never return.
Invocation Interpreter::invocation_of(const std::vector<std::string>& words,
                                      const std::vector<bool>& quoted) const {
  Invocation given(input_, words, quoted);
  if (is_drop_in() && !zkcli_has(given.name)) given.command = nullptr;
  return given;
}

Invocation Interpreter::invocation_of(const std::vector<Word>& words) const {
  return invocation_of(texts_of(words), mapped(words, &Word::quoted));
}

int Interpreter::execute(const Invocation& given) {
  if (!given.command) return unknown_command(given);
  if (const auto pager = pager_for(given)) return execute_with_pager(*pager, given);
  if (!is_drop_in() && given.requests_help()) {
    out_.out(help_of(*given.command, help_width(out_)));
    return status::ok;
  }
  try {
    return run_command(given);
  } catch (const Error& error) {
    return explain_error(given, error);
  }
}

/// Call it in the handler of an Error that a command, or half of one, has thrown: reports it
/// appropriately, or rethrows it or a clearer one.
int Interpreter::explain_error(const Invocation& given, const Error& caught) {
  if (is_drop_in() && caught.excused()) {  // zkCli reports it with status 0
    report_error(out_, caught);
    return status::ok;
  }
  const bool as_zkcli = speaks_as_zkcli() && given.command->zkcli_syntax;
  const bool as_34 = as_zkcli && mimicked_zkcli(around_.services.settings) == ZkCliVersion::V34;
  try {
    throw;
  } catch (const PathError& error) {
    if (!as_34) throw;
    throw ValueError(
        fmt::format("Command failed: java.lang.IllegalArgumentException: {}", error.what()));
  } catch (const ValueError&) {
    throw;
  } catch (const UsageError& error) {
    if (!as_zkcli || !report_usage_as_zkcli(given, error))
      report_usage(out_, given.name, *given.command, error);
    return error.exit_status();
  } catch (const ZkError& error) {
    if (as_34 && error.code() == code::no_auth)
      throw Error("Authentication is not valid : " + error.path(), error.exit_status());
    if (error.code() == code::auth_failed) refusal_untold_ = false;
    if (error.code() == code::invalid_state && unaware_) {
      refusal_untold_ = false;
      throw ZkError(code::auth_failed, error.path());
    }
    if (error.code() == code::invalid_state || error.code() == code::closing)
      return not_connected();
    const bool lost =
        error.code() == code::connection_loss || error.code() == code::operation_timeout;
    if (lost && !error.outcome_unknown() && !speaks_as_zkcli()) {
      const bool was_connected = !around_.client.connected_server().empty();
      const auto what = was_connected && !error.path().empty() ? error.path() + ": " : "";
      // Without a connection, nothing has been asked yet about any node.
      report_error(out_, Error(what + "no connection to " + around_.client.connection_problem(),
                               error.exit_status(), was_connected ? error.path() : out_.node()));
      return error.exit_status();
    }
    if (speaks_as_zkcli()) throw;
    const ZkError known = explained_quota(
        around_.client, missing_chroot_.explained(around_.client, error, stop_), stop_);
    throw ZkError(input_ == Input::Terminal
                      ? with_remedy(around_.client, known, given.command->name, stop_)
                      : known);
  } catch (const Error& error) {
    // zkCli has a session even if the names of its servers do not resolve.
    if (!is_drop_in() || error.exit_status() != status::no_connection) throw;
    throw ZkError(code::connection_loss, out_.node());
  }
}

/// Reports wrong arguments as zkCli does, if it does: with its option parser's error, or, for too
/// few words, with nothing but the syntax.
bool Interpreter::report_usage_as_zkcli(const Invocation& given, const UsageError& error) {
  if (out_.text() && refuse_as_zkcli(given)) return true;
  if (!dynamic_cast<const SyntaxError*>(&error)) return false;
  out_.err(zkcli_usage_of(*given.command, mimicked_zkcli(around_.services.settings)));
  return true;
}

/// In the place of zkCli, its parser decides first: it refuses data that look like options.
bool Interpreter::refuse_as_zkcli(const Invocation& given) {
  if (mimicked_zkcli(around_.services.settings) == ZkCliVersion::V34) return false;
  const auto complaint = commons_cli_error(*given.command, given.arguments);
  if (complaint) report_error(out_, UsageError(*complaint));
  return complaint.has_value();
}

int Interpreter::run_command(const Invocation& given) {
  const auto& command = *given.command;
  begin_command(command.name);
  if (command.needs == Needs::Session && !has_session()) return not_connected();
  const bool rehearsed = command.writes && given.requests_dry_run();
  if (!rehearsed) refuse(command);
  std::optional<DryRun> dry_run;
  if (rehearsed) dry_run.emplace(around_.client, out_, stop_);
  auto cx = context_for(given, dry_run ? &*dry_run : nullptr);
  if (const auto collected = collect(cx)) return *collected;
  if (is_drop_in() && refuse_as_zkcli(given)) return status::usage;
  const int result = command.run(cx);
  if (dry_run) dry_run->report();
  quit_ = quit_ || cx.quit;
  if (command.needs == Needs::SessionAfter && !has_session()) return not_connected();
  return result;
}

Context Interpreter::context_for(Invocation given, DryRun* dry_run) {
  return {
      .client = dry_run ? static_cast<Client&>(dry_run->client()) : around_.client,
      .out = dry_run ? dry_run->silence() : out_,
      .stop = stop_,
      .services = around_.services,
      .input = input_,
      .background = around_.background,
      .current = around_.current,
      .history = around_.history,
      .transaction = around_.transaction,
      .rehearsal = dry_run ? &dry_run->client() : nullptr,
      .run_other =
          [this](const Invocation& other) {
            return reporting(out_, [&] { return execute(other); });
          },
      .run_line =
          [this](const std::string& line) {
            return reporting(out_, [&] { return execute_line(line); });
          },
      .run_lines = [this](const NextLine& next) { return run_lines(next); },
      .read_at_once = [this](const std::vector<Invocation>& reads) { return read_at_once(reads); },
      .given = std::move(given),
      // Not for commands that this one runs.
      .suspension = std::exchange(around_.suspension, nullptr)};
}

/// While a transaction is open, collects the command's operation instead of running it. nullopt:
/// run the command.
std::optional<int> Interpreter::collect(Context& cx) {
  if (!cx.transaction.is_open()) return std::nullopt;
  const auto& command = *cx.given.command;
  const bool takes_others = !cx.transaction.takes_only_operations();
  if (takes_others && command.allowed_in_transaction) return std::nullopt;
  // The name comes last: what follows addauth would be hidden.
  if (!command.plan && (!command.starts || command.writes))
    throw ValueError(
        fmt::format("a transaction has create, set, delete and check, or get and ls{}, but not {}",
                    takes_others ? "; `exec` commits it, `discard` drops it" : "", cx.given.name));
  if (cx.rehearsal) throw ValueError("in a transaction, use --dry-run with exec");
  if (!command.plan) {
    collect_read(cx);
    return status::ok;
  }
  cx.transaction.add(command.operation(cx), as_words(cx.given.words()));
  return status::ok;
}

/// For commands that run with another client. It must not outlive this one, and has its format.
Interpreter Interpreter::inside(Client& client) const {
  return {{.services = around_.services,
           .client = client,
           .style = out_.style(),
           .history = around_.history,
           .current = around_.current,
           .transaction = around_.transaction,
           .background = around_.background,
           .arguments = around_.arguments,
           .start_in_background = around_.start_in_background},
          input_,
          stop_};
}

/// Throws Error if the command's words are wrong, or it reads what no transaction can.
void Interpreter::collect_read(const Context& cx) {
  JointReads tried(around_.client);
  auto inner = inside(tried);
  auto own = inner.context_for(cx.given, nullptr);
  cx.given.command->start(own);
  if (tried.size() == 0)
    throw ValueError(
        fmt::format("{} cannot be used in a transaction, only get and ls read", cx.given.name));
  cx.transaction.add_read(cx.given);
}

/// Runs commands that read, in order, with the answers of one request. Returns the first failure.
int Interpreter::read_at_once(const std::vector<Invocation>& reads) {
  JointReads joint(around_.client);
  auto inner = inside(joint);
  inner.out_.redirect(out_.redirection());
  std::vector<Begun> begun;
  begun.reserve(reads.size());
  for (const auto& read : reads) {
    begun.push_back({.context = std::make_unique<Context>(inner.context_for(read, nullptr))});
    begun.back().sent = read.command->start(*begun.back().context);
  }
  joint.read(stop_);
  int first_failure = status::ok;
  for (const auto& one : begun) {
    const int result = inner.finish_line(one);
    if (first_failure == status::ok) first_failure = result;
  }
  return first_failure;
}

/// Throws Error if the command must not run here: a write while this zksh is read-only, or what may
/// rely on a lock that a script has lost.
void Interpreter::refuse(const Command& command) const {
  if (const auto lock = command.needs == Needs::Session ? lost_lock() : nullptr)
    throw LockLost(fmt::format("{} was not run: {} is lost ({}); `unlock` confirms that",
                               command.name, lock->name(), lock->status().reason));
  const auto& protection = around_.services.protection;
  // A transaction may consist of reads. If it writes, its operations are refused one by one.
  if (!command.writes || command.allowed_in_transaction || !protection.read_only) return;
  throw Error(
      fmt::format(
          "{} refused: this zksh is read-only{}", command.name,
          protection.profile.empty() ? "" : fmt::format(" (profile {})", protection.profile)),
      status::read_only);
}

std::shared_ptr<Lock> Interpreter::lost_lock() const {
  return input_ == Input::Terminal ? nullptr : around_.services.locks.lost_lock();
}

bool Interpreter::has_session() const {
  const auto state = around_.client.current_state();
  if (is_drop_in() && state == SessionState::Expired) return false;
  return state != SessionState::Closed && (state != SessionState::AuthFailed || unaware_);
}

int Interpreter::unknown_command(const Invocation& given) {
  constexpr std::size_t longest_shown = 500;
  const auto name = given.name.size() > longest_shown
                        ? given.name.substr(0, character_begin(given.name, longest_shown)) + "…"
                        : given.name;
  if (speaks_as_zkcli()) {
    const auto version = mimicked_zkcli(around_.services.settings);
    out_.err(zkcli_usage(version));
    if (version != ZkCliVersion::V34)
      out_.err_line("Command not found: Command not found {}", name);
    return is_drop_in() ? status::program_not_found : status::usage;
  }
  const auto line = fmt::format("{}", fmt::join(given.words(), " ")).substr(0, longest_shown);
  const auto similar = is_drop_in() ? std::vector<std::string>() : suggested_commands(line);
  report_error(
      out_, UsageError(fmt::format(
                "unknown command: {}{}", name,
                is_drop_in()      ? ""
                : similar.empty() ? "; `help` lists all commands"
                                  : fmt::format("; did you mean {}?", fmt::join(similar, ", ")))));
  return status::usage;
}

int Interpreter::not_connected() {
  refusal_untold_ = false;
  const bool refused = around_.client.current_state() == SessionState::AuthFailed;
  const int result = refused ? status::not_authorised : status::no_connection;
  if (speaks_as_zkcli()) {
    out_.line("Not connected");
    return is_drop_in() ? status::ok : result;
  }
  // A script or a single command would be refused again.
  report_error(out_, Error(refused && input_ != Input::Terminal
                               ? "not connected"
                               : "not connected; `connect [HOST:PORT]` opens a session",
                           result));
  return result;
}

bool Interpreter::has_halves(const Invocation& given) const {
  return given.command && given.command->starts && !given.requests_help() &&
         !given.requests_dry_run() && !given.may_choose_format() &&
         !around_.services.settings.timing && !around_.transaction.get().is_open();
}

std::optional<Interpreter::Begun> Interpreter::begin_line(const std::string& line, bool is_kept) {
  std::optional<Begun> begun(std::in_place);
  begin_command({});
  out_.gather(&begun->output);
  const int result = reporting(out_, [&] {
    std::optional<Invocation> given;
    if (input_ != Input::Terminal || !(job_of(line) || typed_commands(line).size() > 1)) {
      const auto typed = parsed(line);
      if (!typed.words.empty() && !typed.redirects()) given = invocation_of(typed.words);
    }
    if (!given || !has_halves(*given)) {
      out_.gather(nullptr);
      begun.reset();
      return status::ok;
    }
    if (is_kept) remember(line);
    const auto& command = *given->command;
    begin_command(command.name);
    if (!has_session()) return not_connected();
    begun->context = std::make_unique<Context>(context_for(std::move(*given), nullptr));
    try {
      refuse(command);
      begun->sent = command.start(*begun->context);
    } catch (const Error& error) {
      return explain_error(begun->context->given, error);
    }
    return status::ok;
  });
  out_.gather(nullptr);
  if (!begun) return begun;
  if (result != status::ok) begun->sent = result;
  begun->reported = out_.place_shown();
  return begun;
}

int Interpreter::answer_of(const Begun& begun) {
  if (!begun.sent.is_pending()) return begun.sent.finish();
  begin_command(begun.context->given.command->name);
  return reporting(out_, [&] {
    try {
      return begun.sent.finish();
    } catch (const Error& error) {
      return explain_error(begun.context->given, error);
    }
  });
}

int Interpreter::run_lines(const NextLine& next) {
  constexpr std::size_t most_in_flight = 256;
  std::deque<Begun> flight;
  int first_failure = status::ok;
  const auto note = [&](int result) {
    if (first_failure == status::ok) first_failure = result;
  };
  const auto check_stop = [&] {
    if (!stop_.stop_requested()) return;
    if (const auto writes = std::ranges::count_if(flight, &Begun::writes); writes > 0)
      out_.err_line_regardless(
          fmt::format("{} sent but not answered, and may still be applied",
                      counted_were(static_cast<std::size_t>(writes), "write")));
    throw Cancelled();
  };
  const auto finish_first = [&] {
    check_stop();
    const auto first = std::move(flight.front());
    flight.pop_front();
    queue().add(first.output, stop_);
    note(answer_of(first));
  };
  while (const auto line = next()) {
    check_stop();
    auto begun = begin_line(*line, false);
    if (begun && begun->sent.is_pending()) {
      flight.push_back(std::move(*begun));
      if (flight.size() == most_in_flight) finish_first();
      continue;
    }
    while (!flight.empty()) finish_first();
    if (begun) queue().add(begun->output, stop_);
    const int ended =
        begun ? answer_of(*begun) : reporting(out_, [&] { return execute_line(*line); });
    note(ended);
    if (ended != status::no_connection) continue;
    // Each of the others would wait just as long for a connection.
    out_.err_line("stopped: no connection; the rest was not run");
    break;
  }
  while (!flight.empty()) finish_first();
  return first_failure;
}

int Interpreter::execute_redirected(const CommandLine& line, const Invocation& given) {
  const bool known = given.command != nullptr;
  if (known && around_.transaction.get().is_open() && !given.command->allowed_in_transaction)
    throw ValueError("in a transaction, only the output of exec can be redirected");
  auto redirection = out_.redirection();
  std::optional<OutputFile> errors;
  // An unknown command leaves the file for its results as it is.
  if (line.errors.is_file()) {
    errors.emplace(line.errors.target, line.errors.kind == RedirectTo::Kind::Append, stop_);
    redirection.error = std::bind_front(keeps, [&](std::string_view part) { errors->write(part); });
    redirection.error_fd = [&] { return errors->fd(); };
    redirection.errors_elsewhere = true;
  } else if (!known) {
    return unknown_command(given);
  }
  const int result = known ? execute_into(line, given, std::move(redirection))
                           : execute_inside(given, stop_, std::move(redirection));
  return errors ? errors->finish(result) : result;
}

/// `redirection` is what holds before the line's results are redirected.
int Interpreter::execute_into(const CommandLine& line, const Invocation& given,
                              Redirection redirection) {
  const auto redirect_to = [&](auto& target) {
    redirection.write = [&target](std::string_view bytes) { target.write(bytes); };
    redirection.fd = [&target] { return target.fd(); };
    redirection.terminal = false;
  };
  const auto run = [&](const std::stop_token& stop) {
    if (line.errors.kind == RedirectTo::Kind::Results) {
      if (!redirection.write) redirection.terminal = around_.style.out_is_terminal;
      redirection.error_fd = redirection.write ? redirection.fd : [] { return STDOUT_FILENO; };
      redirection.error = std::bind_front(
          keeps, redirection.write ? redirection.write : [this](std::string_view bytes) {
            queue().add(Stream::Out, bytes);
          });
      redirection.errors_elsewhere = true;
    }
    return execute_inside(given, stop, std::move(redirection));
  };
  if (line.to.is_file()) {
    OutputFile file(line.to.target, line.to.kind == RedirectTo::Kind::Append, stop_);
    redirect_to(file);
    return file.finish(run(stop_));
  }
  if (line.to.kind == RedirectTo::Kind::Program) {
    OutputProgram program(program_plan(line.to.target));
    program.start();
    redirect_to(program);
    const auto ends = program.finish(run(program.stop()));
    return ends.command != status::ok ? ends.command : ends.program;
  }
  return run(stop_);
}

int Interpreter::execute_with_pager(const std::string& pager, const Invocation& given) {
  Pager pages(program_plan(pager));
  auto redirection = out_.redirection();
  redirection.write = [&](std::string_view bytes) { pages.write(bytes); };
  redirection.terminal = true;
  if (!redirection.errors_elsewhere)
    redirection.error = [&](std::string_view bytes) { return pages.keep_error(bytes); };
  return pages.finish(execute_inside(given, pages.stop(), std::move(redirection)));
}

/// Runs a command whose results are redirected; reports errors.
int Interpreter::execute_inside(const Invocation& given, const std::stop_token& stop,
                                Redirection to) {
  around_.suspension.reset();  // a program has the results or the terminal
  Interpreter inner(around_, input_, stop);
  inner.out_.redirect(std::move(to));
  const int result = reporting(inner.out_, [&] { return inner.execute(given); });
  quit_ = quit_ || inner.quit_;
  output_refused_ = output_refused_ || inner.output_refused_;
  return result;
}

OutputProgram::Plan Interpreter::program_plan(const std::string& line) const {
  return {.monitor = around_.client.monitor(),
          .signals = around_.services.signals,
          .queue = around_.services.queue,
          .line = line,
          .arguments = input_ == Input::Text ? around_.arguments : nullptr,
          .at_prompt = input_ == Input::Terminal,
          .background = around_.background,
          .stop = stop_};
}

/// The pager for the command's results; nullopt: none.
std::optional<std::string> Interpreter::pager_for(const Invocation& given) const {
  const bool screen = input_ == Input::Terminal && !around_.background && !out_.redirected() &&
                      out_.style().out_is_terminal && terminal_can_redraw();
  const auto lists = [&] {
    const auto& command = *given.command;
    const auto arguments = command.arguments();
    bool endless = false;
    for (const auto& option : given_words(arguments, given.arguments, given.data()).options)
      for (const auto name : command.endless)
        endless = endless || std::ranges::count(option.option->names, name) > 0;
    return (command.pages && !endless) || given.requests_help() ||
           (command.writes && given.requests_dry_run());
  };
  if (!screen || !lists()) return std::nullopt;
  return pager_line(around_.services.settings.value("pager"));
}

}  // namespace zksh
