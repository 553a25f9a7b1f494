// Run: sets up the parts of zksh for one invocation, and runs it.
#include "shell/run.h"

#include "base/carried_output.h"
#include "base/json.h"
#include "base/number.h"
#include "base/signal_relay.h"
#include "base/time.h"
#include "base/words.h"
#include "client/client.h"
#include "client/diagnose_connection.h"
#include "client/forwarding_client.h"
#include "client/guarded_client.h"
#include "client/persistent_watches.h"
#include "command/command.h"
#include "command/current_node.h"
#include "command/output.h"
#include "command/questions.h"
#include "command/report.h"
#include "command/transaction.h"
#include "config/settings.h"
#include "lock/manager.h"
#include "sandbox/sandbox.h"
#include "session/session.h"
#include "shell/interpreter.h"
#include "shell/loop.h"
#include "shell/printer.h"
#include "shell/script.h"
#include "shell/shell.h"
#include "shell/wait_notice.h"
#include "tree/walk.h"
#include "txnlog/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

// Two lines of zkCli's, each with an empty line before it.
constexpr auto event_format = "\nWATCHER::\n\nWatchedEvent state:{} type:{} path:{}\n";

/// What Java prints when zkCli ends without a connection.
constexpr auto zkcli_connection_loss =
    "Exception in thread \"main\" java.io.IOException: "
    "org.apache.zookeeper.KeeperException$ConnectionLossException: "
    "KeeperErrorCode = ConnectionLoss\n";

/// A connection that is lost so often in so short a time is reported once more, and then not until
/// it has lasted: a line each second would bury everything else.
constexpr std::size_t many_losses = 5;
constexpr std::chrono::seconds few_seconds{10};

/// As `watch` calls it.
std::string_view word_for(Event::Type type) {
  switch (type) {
    case Event::Type::Created:
      return "created";
    case Event::Type::Deleted:
      return "deleted";
    case Event::Type::DataChanged:
      return "changed";
    case Event::Type::ChildrenChanged:
      return "children";
    default:
      return event_name(type);
  }
}

/// Queues a session's events for printing, in order: watch events as in zkCli, to stdout where
/// zkCli's shell is mirrored (typed and piped lines), to stderr elsewhere; connection notes to
/// stderr, one line each, with the time, but no note that the first session begins. Called under
/// the monitor.
class EventPrinter {
 public:
  EventPrinter(OutputQueue& queue, const Settings& settings, OutputStyle style, Input input,
               const Arguments& arguments)
      : queue_(queue),
        settings_(settings),
        style_(std::move(style)),
        input_(input),
        quiet_(arguments.quiet),
        with_sasl_(!arguments.session.security.sasl.mechanism.empty()) {}

  void print(const Monitor::Held& held, const Event& event, Session& session) {
    if (ended_) return;
    if (event.type == Event::Type::Session && settings_.drop_in)
      zkcli_session_event(held, event.state);
    else if (event.type == Event::Type::Session)
      session_event(held, event.state, session);
    else
      watch_event(held, event);
  }

  /// Prints news that is not a command's as one line on stderr, whatever the settings.
  void tell(const Monitor::Held& held, const std::string& text) {
    queue_.add(held, Stream::Err, line_of_news(text, is_json(held)));
  }
  void tell(const std::string& text) {
    queue_.add(Stream::Err, line_of_news(text, settings_.value("output") == "json"));
  }

  /// The session ends without further news.
  void end(const Monitor::Held& /*held*/) { ended_ = true; }

  PersistentWatches::Report of_persistent_watches() {
    return {.event = [this](const Monitor::Held& held,
                            const Event& event) { watch_event(held, event); },
            .warning = [this](const Monitor::Held& held,
                              const std::string& text) { tell(held, text); }};
  }

 private:
  void watch_event(const Monitor::Held& held, const Event& event) {
    if (!settings_.print_watches) return;
    const auto* const state =
        event.state == SessionState::Connecting ? "Disconnected" : "SyncConnected";
    if (is_json(held)) {
      const auto json = Json::object()
                            .set_time("time", wall_clock_now())
                            .set("state", state)
                            .set("type", event_name(event.type))
                            .set("path", event.path);
      queue_.add(held, Stream::Err, json.text() + '\n');
      return;
    }
    if (input_ == Input::Terminal && style_.out_is_terminal && !settings_.drop_in &&
        settings_.value(held, "zkcli-output") == "off") {
      queue_.add(held, Stream::Out,
                 fmt::format("{} {:<8} {}\n", time_of_day(), word_for(event.type),
                             escape_for_terminal(as_word(event.path))));
      return;
    }
    const bool mirrored = input_ == Input::Terminal || input_ == Input::Pipe;
    const bool terminal = mirrored ? style_.out_is_terminal : style_.err_is_terminal;
    // Java's client says SyncConnected whatever the state, except for a watch removed locally.
    queue_.add(held, mirrored ? Stream::Out : Stream::Err,
               fmt::format(event_format, state, event_name(event.type),
                           terminal ? escape_for_terminal(event.path) : event.path));
  }

  /// zkCli prints the session's events like those of watches.
  void zkcli_session_event(const Monitor::Held& held, SessionState state) {
    // In the order of SessionState.
    static constexpr auto names = std::to_array<std::string_view>(
        {"Closed", "Disconnected", "SyncConnected", "ConnectedReadOnly", "Expired", "AuthFailed"});
    const bool begins = is_connected(state);
    // A session that is over cannot be closed.
    const bool is_news = state != SessionState::Closed || !zkcli_is_over_;
    // The connection is made before SASL begins.
    if (state == SessionState::AuthFailed && with_sasl_ && !zkcli_has_connected_)
      zkcli_event(held, "SyncConnected");
    if (is_news) zkcli_event(held, names.at(static_cast<std::size_t>(state)));
    if (begins && with_sasl_) zkcli_event(held, "SaslAuthenticated");
    zkcli_has_connected_ = begins;
    zkcli_is_over_ = state == SessionState::AuthFailed || state == SessionState::Expired;
  }

  void zkcli_event(const Monitor::Held& held, std::string_view state) {
    if (settings_.print_watches)
      queue_.add(held, Stream::Out, fmt::format(event_format, state, "None", "null"));
  }

  std::string line_of_news(const std::string& text, bool json) const {
    const bool terminal = style_.err_is_terminal && !json;
    return news_line(terminal ? escape_for_terminal(text) : text, json, terminal);
  }

  void session_event(const Monitor::Held& held, SessionState state, Session& session) {
    switch (state) {
      case SessionState::Connected:
      case SessionState::ConnectedReadOnly:
        connected(held, state == SessionState::ConnectedReadOnly, session);
        break;
      case SessionState::Connecting:
        return connection_lost(held, session.connected_server(held));
      case SessionState::Expired:
        print_note(held,
                   fmt::format("{}; {}", what_ended(session.seen_more(held)),
                               input_ == Input::Terminal ? "opening a new session"
                                                         : "the next command opens a new session"));
        break;
      case SessionState::AuthFailed:
        authentication_note(held, session.why_refused(held));
        break;
      case SessionState::Closed:  // also an expired session when the new one is opened
        lost_.reset();
        return;
    }
    lost_.reset();
    expired_ = state == SessionState::Expired;
  }

  static std::string what_ended(std::int64_t seen) {
    if (seen == 0) return "session expired; its ephemerals, watches and locks are gone";
    return fmt::format(
        "the servers have less than this session has seen (zxid {:#x}): they were restored; what "
        "it held is gone",
        seen);
  }

  void print_note(const Monitor::Held& held, const std::string& text) {
    if (quiet_) return;
    tell(held, is_json(held) ? text : fmt::format("{} {}", time_of_day(), text));
  }

  void connected(const Monitor::Held& held, bool read_only, Session& session) {
    const auto server = session.connected_server(held);
    std::string text;
    if (lost_ && unsteady_ && !read_only) return;
    if (lost_)
      text = fmt::format("reconnected to {} after {}, same session", server,
                         short_time(Clock::now() - *lost_));
    else if (expired_)
      text = fmt::format("new session {} on {}", session_text(session.session_id(held)), server);
    else if (read_only)
      text = fmt::format("connected to {}", server);
    else
      return;
    if (read_only) text += "; this server is read-only, since it has no quorum; writes will fail";
    print_note(held, text);
  }

  void connection_lost(const Monitor::Held& held, const std::string& server) {
    lost_ = Clock::now();
    losses_.push_back(*lost_);
    if (losses_.size() > many_losses) losses_.pop_front();
    const bool often = losses_.size() == many_losses && *lost_ - losses_.front() < few_seconds;
    if (!often)
      print_note(held, fmt::format("connection lost ({}); reconnecting", server));
    else if (!unsteady_)
      print_note(held, fmt::format("connection lost {} times within {} ({}); "
                                   "reconnecting, without further messages",
                                   many_losses, short_time(few_seconds), server));
    unsteady_ = often;
  }

  /// Reported to zkCli's users too, although zkCli.sh has no credentials file.
  void authentication_note(const Monitor::Held& held, const std::string& refusal) {
    if (input_ == Input::Pipe) zkcli_event(held, "AuthFailed");
    if (!refusal.empty())
      tell(held, "authentication failed: " + refusal);
    else if (input_ != Input::Pipe)
      tell(held, input_ == Input::Terminal
                     ? "authentication failed; the session is closed; `connect` opens a new one"
                     : "authentication failed; the session is closed");
  }

  /// `conf output` may have changed it since the start.
  bool is_json(const Monitor::Held& held) const {
    return settings_.value(held, "output") == "json";
  }

  OutputQueue& queue_;
  const Settings& settings_;
  OutputStyle style_;
  Input input_;
  bool quiet_;                               ///< no news of the connection
  std::optional<Clock::time_point> lost_{};  ///< when the connection was lost
  bool expired_ = false;                     ///< and the next session has not begun
  std::deque<Clock::time_point> losses_{};   ///< the last few of them
  bool ended_ = false;
  bool unsteady_ = false;  ///< lost so often that this is no longer reported
  // In zkCli's place:
  bool with_sasl_;
  bool zkcli_has_connected_ = false;  ///< SyncConnected was reported, and no loss since
  bool zkcli_is_over_ = false;        ///< the session was refused, or has expired
};

/// How long to try to release locks if no server answers; the session's end then releases them.
constexpr std::chrono::seconds leave_patience{3};

bool reads_script_from_input(const Arguments& arguments) {
  return std::ranges::any_of(arguments.scripts, [](const ScriptSource& script) {
    return script.kind == ScriptSource::Kind::File && script.text == "-";
  });
}

/// In the place of zkCli, its grammar applies to a single command too.
Input input_of(const Arguments& arguments) {
  if (!arguments.command.empty()) return arguments.drop_in ? Input::Pipe : Input::Arguments;
  if (!arguments.scripts.empty()) return Input::Text;
  if (arguments.pipe) return Input::Pipe;
  const bool terminal = isatty(STDIN_FILENO) && (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO));
  return terminal ? Input::Terminal : Input::Pipe;
}

/// What every invocation needs. Runs a job to its end while the main thread prints its output and
/// handles signals.
class Supervisor {
 public:
  Monitor monitor{};
  SignalRelay signals{monitor};
  Loop loop{};
  OutputQueue queue{monitor, loop.wake_fd()};
  Printer printer{queue};
  Questions questions{monitor, queue, loop.wake_fd()};
  /// Returns a warning for when the terminal is about to stop the process, or an empty text.
  std::function<std::string()> stop_warning{};
  WaitNotice notice{printer, signals};

  Supervisor() {
    printer.keep_below([this] { questions.hide(); },
                       [this](bool at_row_begin) { return questions.show(at_row_begin); });
  }

  /// Returns the job's status, or what ended it: 128 + signal, or 1 if stdout could not be written.
  /// A signal that a program took does not end the job.
  int run(std::function<int(std::stop_token)> body) {
    int ended_by = 0;
    Clock::time_point ended_at;
    Job job(monitor, loop.wake_fd(), std::move(body));
    const auto end = [&](int signal) {
      if (signals.offer(signal)) return;
      if (signal == ended_by && Clock::now() < ended_at + one_signal) return;
      // A name look-up cannot be interrupted; the second Ctrl-C does not wait for it.
      if (ended_by != 0) {
        questions.suspend();
        _exit(status::signal_base + signal);
      }
      ended_by = signal;
      ended_at = Clock::now();
      notice.end();
      loop.leave(status::signal_base + signal, signals.registrations());
      job.stop();
    };
    LoopEvents events;
    events.interrupt = [&] { end(SIGINT); };
    events.end = end;
    events.suspend = [&] {
      questions.suspend();
      notice.end();
      if (const auto warning = stop_warning ? stop_warning() : ""; !warning.empty()) {
        // After the ^Z that the terminal has echoed.
        queue.add(Stream::Err, (isatty(STDERR_FILENO) ? "\n" : "") + warning + '\n');
        printer.flush([&](int fd) { return loop.await_writable(fd); });
      }
      Loop::stop_process();
      questions.resume();
    };
    events.resume = [&] { questions.resume(); };
    events.resize = [&] { monitor.change([](const Monitor::Held&) {}); };
    events.out_failed = [&](int error) {
      if (error != EPIPE)
        queue.add(Stream::Err,
                  fmt::format("zksh: cannot write to standard output: {}\n", std::strerror(error)));
      job.stop();
    };
    events.look_again = [&] { return ended_by == 0 ? notice.update() : std::nullopt; };
    loop.run(printer, events, [&] {
      if (!job.status()) return false;
      notice.end();
      printer.pump();  // the job's last output
      return printer.blocked_on() < 0 || ended_by != 0;
    });
    alarm(0);
    if (ended_by != 0) return status::signal_base + ended_by;
    if (printer.out_failure() == EPIPE) return status::signal_base + SIGPIPE;
    return printer.out_failure() != 0 ? status::failure : job.status().value_or(status::failure);
  }
};

/// For a server of the past: everybody may read everything, sessions and containers live on, and
/// there need not be a snapshot.
std::vector<std::string> past_config() {
  return {"skipACL=yes",
          "tickTime=86400000",
          "minSessionTimeout=2000",
          "maxSessionTimeout=86400000",
          "znode.container.checkIntervalMs=86400000",
          "snapshot.trust.empty=true"};
}

/// Returns what puts the past into a server's directory, and writes into `as_of` which past that
/// is.
std::function<std::size_t(const std::filesystem::path&)> past_filler(const Arguments& arguments,
                                                                     Output& out,
                                                                     std::string& as_of,
                                                                     const std::stop_token& stop) {
  return [&](const std::filesystem::path& directory) {
    const DataFiles files(arguments.sandbox_data, stop);
    const auto until = zxid_at(files, arguments.sandbox_moment, stop);
    const auto past = write_past_files(
        files, until, directory,
        [&](const std::string& text) { out.err_line("{}", out.shown_in_error(text)); }, stop);
    as_of = ", as of " + zxid_text(past.zxid);
    if (const auto text = end_text(past, arguments.sandbox_moment)) out.err_line("{}", *text);
    if (const auto doubt = doubt_text(past)) out.err_line("{}", out.shown_in_error(*doubt));
    return past.longest;
  };
}

/// Starts the sandbox that the arguments ask for; the status is that of a failure.
std::pair<std::unique_ptr<Sandbox>, int> start_sandbox(Supervisor& base, const OutputStyle& style,
                                                       const Arguments& arguments) {
  std::unique_ptr<Sandbox> sandbox;
  const int servers = arguments.sandbox_servers;
  if (servers == 0) return {nullptr, status::ok};
  const int result = base.run([&](const std::stop_token& stop) {
    Output out(base.queue, style, stop);
    return reporting(out, [&] {
      std::vector<std::string> config;
      std::function<std::size_t(const std::filesystem::path&)> fill;
      std::string as_of;
      if (!arguments.sandbox_data.empty()) {
        config = past_config();
        fill = past_filler(arguments, out, as_of, stop);
      }
      sandbox = std::make_unique<Sandbox>(base.monitor, servers, config, stop,
                                          arguments.sandbox_zookeeper, fill);
      if (!arguments.quiet && sandbox->max_buffer() > 0)
        out.err_line(
            "the files hold what is longer than servers take by default: this one runs with "
            "-Djute.maxbuffer={}",
            sandbox->max_buffer());
      if (!arguments.quiet)
        out.err_line("sandbox: {} at {}{} (from another terminal: `zksh -s {}`)",
                     counted(static_cast<std::size_t>(servers), "private server"),
                     sandbox->connect_string(), as_of, sandbox->connect_string());
      return status::ok;
    });
  });
  return {std::move(sandbox), result};
}

void configure(Settings& settings, const Configuration& configuration) {
  for (const auto& setting : Settings::descriptions()) {
    const auto& value = configuration[setting.name];
    if (value.origin == "default") continue;  // it has that value already
    settings.set(setting.name, value.text, value.origin);
  }
}

/// Whether to tell the user of a terminal about waiting: not if the command must be quiet.
bool should_report_waits(const Arguments& arguments, const OutputStyle& style) {
  const auto& words = arguments.command;
  const auto options_end = std::ranges::find(words, "--");
  const auto is_quiet = [](const std::string& word) { return word == "-q" || word == "--quiet"; };
  return style.err_is_terminal && !arguments.quiet && !arguments.drop_in &&
         std::none_of(words.begin(), options_end, is_quiet);
}

/// What zkCli prints when it begins to read lines.
void print_welcome(OutputQueue& queue, const Arguments& arguments) {
  if (arguments.command.empty())
    queue.add(Stream::Out,
              fmt::format("Welcome to ZooKeeper!\nJLine support is {}\n",
                          input_of(arguments) == Input::Terminal ? "enabled" : "disabled"));
}

/// Whether zkCli connects, and prints the event of the connection, before it runs anything: not for
/// a single command, which may need no connection, unless the command ends the session.
bool shows_connection(const Arguments& arguments) {
  constexpr std::array ends_session{"close", "connect", "exit", "quit"};
  return arguments.command.empty() ||
         std::ranges::count(ends_session, arguments.command.front()) > 0;
}

/// Connects before the first line, so that the event of the connection comes first. Failures are
/// left for the lines to report; with SASL, a refusal is the answer to the first of them.
void connect_first(Client& client, const Arguments& arguments, const std::stop_token& stop) {
  if (arguments.command.empty() && !arguments.session.security.sasl.mechanism.empty())
    return client.ensure_session();
  try {
    client.await_connection("/", stop);
  } catch (const Error&) {
    return;
  }
}

/// Waits as zkCli does with -waitforconnection, which ends without a connection; false in that
/// case. A connection that is refused only when SASL begins counts as one.
bool awaits_connection(Client& client, OutputQueue& queue, const std::stop_token& stop) {
  try {
    client.await_connection("/", stop);
  } catch (const Error&) {
    if (client.current_state() == SessionState::AuthFailed) return true;
    client.close();
    queue.add(Stream::Err, zkcli_connection_loss);
    return false;
  }
  return true;
}

/// Runs the commands that are not typed at a prompt, on the job's thread.
int run_job(const Interpreter::Surroundings& around, Input input, const Arguments& arguments,
            const std::stop_token& stop) {
  Interpreter interpreter(around, input, stop);
  Output out(around.services.queue, around.style, stop);
  const int result = arguments.command.empty() ? run_scripts(interpreter, out, arguments, stop)
                                               : interpreter.run_words(arguments.command);
  const auto dropped = around.transaction.get().drop();
  if (!dropped) return result;
  const bool forgotten = result == status::ok && !interpreter.quit();
  out.err_line_regardless((forgotten ? "no exec: " : "") + dropped_text(*dropped));
  return forgotten ? status::usage : result;
}

int run_commands(Supervisor& base, const Interpreter::Surroundings& around,
                 const Arguments& arguments) {
  const auto input = input_of(arguments);
  auto& queue = around.services.queue;
  // zkCli goes on when nobody reads what it prints.
  if (arguments.drop_in) {
    base.printer.drop_refused();
    queue.add(Stream::Out,
              fmt::format("Connecting to {}\n", escape_for_terminal(arguments.server)));
  }
  if (arguments.awaits_connection) {
    const int failed = base.run([&](const std::stop_token& stop) {
      return awaits_connection(around.client, queue, stop) ? status::ok : status::failure;
    });
    if (failed != status::ok) return failed;
  }
  if (arguments.drop_in) print_welcome(queue, arguments);
  if (input == Input::Terminal)
    return Shell(base.loop, base.monitor, base.printer, base.notice, around).run();
  return base.run([&](const std::stop_token& stop) {
    if (arguments.drop_in && shows_connection(arguments))
      connect_first(around.client, arguments, stop);
    const int result = run_job(around, input, arguments, stop);
    // The server ends the session while the main thread writes the last output.
    if (around.services.locks.locks().empty() && !arguments.drop_in) around.client.begin_close();
    return result;
  });
}

/// Prints what a program wrote while a line is being typed.
void print_for_program(OutputQueue& queue, int target, std::string_view lines,
                       const std::stop_token& stop) {
  const auto stream = target == STDOUT_FILENO ? Stream::Out : Stream::Err;
  try {
    queue.add(stream, lines, stop);
  } catch (const Cancelled&) {
    queue.add(stream, lines);  // the last part
  }
}

/// `programs` is set if lines are typed at a prompt, else null.
LockConsole lock_reporter(Supervisor& base, EventPrinter& printer, CarriedOutput* programs,
                          bool quiet) {
  LockConsole reporter{.say = [&printer](const std::string& line) { printer.tell(line); },
                       .changed = {},
                       .output = programs,
                       .quiet = quiet};
  // The prompt shows all locks, also those taken quietly.
  if (programs) reporter.changed = [&base] { eventfd_write(base.loop.wake_fd(), 1); };
  return reporter;
}

/// Whether the first command sends a request, unless its words are wrong.
bool begins_with_request(const Arguments& arguments) {
  constexpr std::string_view between = " \t\n;";
  std::string_view line;
  if (!arguments.command.empty())
    line = arguments.command.front();
  else if (!arguments.scripts.empty() && arguments.scripts.front().kind == ScriptSource::Kind::Text)
    line = arguments.scripts.front().text;
  line = line.substr(std::min(line.find_first_not_of(between), line.size()));
  const auto* const command = command_named(line.substr(0, line.find_first_of(between)));
  return command && command->starts;
}

/// With locks, requests go on while a command waits for something other than an answer.
void report_waits(Supervisor& base, Session& session, const LockManager& locks) {
  base.notice.look_with([&]() -> std::optional<WaitNotice::Wait> {
    const auto since = session.waiting_since(!locks.locks().empty());
    if (!since) return std::nullopt;
    const bool is_there = is_connected(session.current_state());
    return WaitNotice::Wait{
        .since = *since,
        .server = escape_for_terminal(is_there ? session.connected_server() : session.server())};
  });
}

/// zkCli ends its session only after `quit`: at the end of its input, and after a single command,
/// its ephemerals stay until the session's timeout, which scripts rely on. Exits if there are any.
void leave_session(Supervisor& base, Session& session, int result) {
  const bool stay =
      session.has_made_ephemerals() && session.current_state() != SessionState::Closed;
  base.printer.flush([&](int fd) { return base.loop.await_writable(fd); });
  if (stay) _exit(result);
}

/// Says early why no server can be connected to, while zksh goes on trying. Reports once, and
/// only what is certain: a refused connection or a name that does not resolve, of every server;
/// whether one answers slowly cannot be known at once.
class RefusalReport {
 public:
  /// `report` gets the reason, on any thread. All arguments outlive the object.
  RefusalReport(Session& session, std::function<void(const std::string&)> report)
      : session_(session), report_(std::move(report)) {}
  RefusalReport(const RefusalReport&) = delete;
  RefusalReport& operator=(const RefusalReport&) = delete;
  ~RefusalReport() = default;

  /// Looks, on a thread of its own. Call when somebody has waited for a connection for some time;
  /// on any thread.
  void look() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(busy_, true)) return;
    thread_ = std::jthread([this](const std::stop_token& stop) { ask(stop); });
  }

 private:
  void ask(const std::stop_token& stop) {
    const auto is_awaited = [&] { return !stop.stop_requested() && session_.awaited_since(); };
    const auto refusal =
        is_awaited() ? refusal_by_all(parse_connect_string(session_.server())) : std::string();
    const bool reports = !refusal.empty() && is_awaited();
    if (reports) report_(refusal);
    const std::lock_guard lock(mutex_);
    busy_ = reports;
  }

  Session& session_;
  std::function<void(const std::string&)> report_;
  std::mutex mutex_{};
  bool busy_ = false;      ///< it looks, or has reported
  std::jthread thread_{};  ///< last: it uses the others
};

/// What zksh does about servers that refuse connections.
std::string what_is_done(const Arguments& arguments) {
  if (arguments.configuration["server"].origin == "default")
    return "; trying again. `zksh -s HOST` connects elsewhere; `zksh --sandbox` starts a private "
           "server to try things on";
  if (input_of(arguments) == Input::Terminal) return "; trying again";
  return fmt::format("; trying again for {} (--connect-timeout 1s: one second)",
                     short_time(arguments.session.connect_timeout));
}

/// Sets up everything between the servers and the commands, and runs the commands.
// NOLINTNEXTLINE(readability-function-size): one after the other, what lives as long as it runs.
int serve(Supervisor& base, const Arguments& arguments, const OutputStyle& style,
          Sandbox* sandbox) {
  auto& monitor = base.monitor;
  auto& queue = base.queue;
  const auto input = input_of(arguments);
  Settings settings(monitor);
  configure(settings, arguments.configuration);
  settings.session_options = arguments.session_options;
  settings.drop_in = arguments.drop_in;
  LineHistory history;
  CurrentNode current(monitor);
  Transaction transaction(monitor);
  EventPrinter event_printer(queue, settings, style, input, arguments);
  PersistentWatches watches(monitor, event_printer.of_persistent_watches());
  const bool reports_waits = should_report_waits(arguments, style);
  const bool shows_state = input == Input::Terminal || reports_waits;
  Session session(monitor, arguments.session,
                  sandbox ? sandbox->connect_string() : arguments.server,
                  [&](const Monitor::Held& held, const Event& event) {
                    if (!watches.hear(held, event)) event_printer.print(held, event, session);
                    // The prompt, or the notice of a wait, shows the state, even if nothing is
                    // printed.
                    if (event.type == Event::Type::Session && shows_state)
                      eventfd_write(base.loop.wake_fd(), 1);
                  });
  RefusalReport refusals(session, [&](const std::string& refusal) {
    event_printer.tell(refusal + what_is_done(arguments));
  });
  session.on_wait(
      [&] {
        if (shows_state) eventfd_write(base.loop.wake_fd(), 1);
      },
      [&] {
        // A command that gives up within a second says so then.
        const bool soon = arguments.session.connect_timeout <= std::chrono::seconds(1);
        if (!arguments.quiet && !arguments.drop_in && !soon) refusals.look();
      });
  const auto attachment = watches.attach(session, survey_subtree);
  if (arguments.drop_in || input == Input::Pipe)
    session.hear_last_events([&] { watches.settle(std::chrono::seconds(5), {}); });
  // The server answers while the rest is set up and the words are parsed. zkCli's banner comes
  // first.
  if (begins_with_request(arguments) && !arguments.drop_in) session.open_early();
  ReadOnlyClient read_only(session);
  Client& client = arguments.protection.read_only ? static_cast<Client&>(read_only) : session;
  std::optional<CarriedOutput> programs;
  if (input == Input::Terminal)
    programs.emplace(monitor, [&](int target, std::string_view lines, const std::stop_token& stop) {
      print_for_program(queue, target, lines, stop);
    });
  LockManager locks(
      client, lock_reporter(base, event_printer, programs ? &*programs : nullptr, arguments.quiet));
  GuardedClient guarded(client, [&](const Monitor::Held& held) { return locks.guards(held); });
  const Interpreter::Surroundings around{
      .services = {.queue = queue,
                   .signals = base.signals,
                   .settings = settings,
                   .protection = arguments.protection,
                   .watches = watches,
                   .locks = locks,
                   .questions = base.questions,
                   .sandbox = sandbox,
                   .script_is_input = reads_script_from_input(arguments)},
      .client = guarded,
      .style = style,
      .history = history,
      .current = current,
      .transaction = transaction,
      .background = false,
      .arguments = arguments.script_arguments ? &*arguments.script_arguments : nullptr};
  if (reports_waits) report_waits(base, session, locks);
  base.stop_warning = [&locks] { return locks.stop_warning(); };
  const int result = run_commands(base, around, arguments);
  base.stop_warning = {};
  base.notice.look_with({});
  locks.close(leave_patience);
  if (arguments.drop_in) {
    monitor.with_lock([&](const Monitor::Held& held) { event_printer.end(held); });
    leave_session(base, session, result);
  }
  session.leave();
  locks.await_loss_commands();
  if (programs) programs->close();
  base.printer.flush([&](int fd) { return base.loop.await_writable(fd); });
  return result;
}

}  // namespace

int run(const Arguments& arguments) {
  Supervisor base;
  auto& queue = base.queue;
  const OutputStyle style{.format = arguments.format,
                          .out_is_terminal = isatty(STDOUT_FILENO) != 0,
                          .err_is_terminal = isatty(STDERR_FILENO) != 0,
                          .for_people = arguments.configuration["output"].origin == "default"};
  if (arguments.answer)
    return base.run([&](const std::stop_token& stop) {
      queue.add(Stream::Out, *arguments.answer, stop);
      if (arguments.answer_status != status::ok)
        queue.add(Stream::Err, "zksh: " + arguments.warning + '\n', stop);
      return arguments.answer_status;
    });
  prepare_security(arguments.session.security);
  const auto [sandbox, started] = start_sandbox(base, style, arguments);
  if (started != status::ok) return started;
  if (!arguments.warning.empty()) {
    const bool json = style.format == Format::Json;
    queue.add(Stream::Err, news_line((json ? "" : "zksh: ") + arguments.warning, json, false));
  }
  return serve(base, arguments, style, sandbox.get());
}

}  // namespace zksh
