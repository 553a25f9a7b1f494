// Script: runs lines from -c, files or standard input, with --pipe without waiting for each answer.
#include "shell/script.h"

#include "base/json.h"
#include "base/line_reader.h"
#include "base/number.h"
#include "base/words.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "client/work_limits.h"
#include "command/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

using Chunks = std::vector<OutputQueue::Chunk>;

/// The limit for the size of lines with outstanding answers.
constexpr std::size_t most_bytes = 8U << 20U;
/// The longest time from an answer to the printing of its result.
constexpr std::chrono::milliseconds longest_delay{20};

/// A line whose request has been sent.
struct InFlight {
  std::size_t number = 0;
  std::size_t bytes = 0;  ///< its length
  Interpreter::Begun begun;
  std::size_t in_flight = 0;    ///< lines, including this one
  Clock::time_point sent_at{};  ///< about

  bool writes() const { return begun.writes(); }
  std::optional<int> code(const Monitor::Held& held) const { return begun.sent.code(held); }
};

/// Runs the lines of `reader` until the end, `quit` or a stop. A command that sends one request
/// (Command::start) does not wait for the answers of earlier ones, which the servers process in
/// order anyway; any other command waits until all before it have ended. Results and errors are
/// printed in the order of the lines; errors name `name` and the line. A failure does not end the
/// run, but a missing connection or a lost lock does. When the input pauses, everything is finished
/// and printed.
///
/// If the connection is lost, the outcome of each unanswered write is reported as unknown; a read
/// is sent again unless a write in a later line may have changed what it reads.
///
/// At the end, reports how many lines succeeded and how many failed.
class Pipeline {
 public:
  Pipeline(Interpreter& interpreter, LineReader& reader, std::string name,
           const PipeSettings& settings, std::stop_token stop)
      : interpreter_(interpreter),
        out_(interpreter.output()),
        monitor_(interpreter.client().monitor()),
        reader_(reader),
        name_(std::move(name)),
        settings_(settings),
        window_(interpreter.client(), {.fixed = settings.window}),
        stop_(std::move(stop)) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { out_.set_place({}); }

  /// Returns the status of the first failure, else 0. Throws Error if the input cannot be read.
  int run() {
    std::string line;
    while (goes_on()) {
      if (!reader_.ready()) {
        finish_all();
        if (!goes_on()) break;
      }
      if (!reader_.next(line)) {
        at_end_ = !stop_.stop_requested();
        break;
      }
      ++number_;
      if (is_blank_or_comment(line)) continue;
      keep_pace();
      if (is_full()) make_room();
      if (goes_on())
        begin(line);
      else
        left_out_ = number_;
    }
    finish_all();
    report_interrupted();
    report_end();
    return first_failure_;
  }

 private:
  bool goes_on() const { return !stop_.stop_requested() && !interpreter_.quit() && !cut_off_; }
  bool is_full() {
    return flight_.size() >= window_.now() || (bytes_ > most_bytes && !flight_.empty());
  }

  /// Sends a line, or runs it after all before it if its command has no halves.
  void begin(const std::string& line) {
    // While nothing can be sent, do not hold back results.
    const auto state = interpreter_.client().current_state();
    if (state != SessionState::Connected && !flight_.empty()) finish_all();
    out_.set_place({name_, number_});
    auto begun = interpreter_.begin_line(line, true);
    if (!begun) {
      finish_all();
      if (goes_on()) run_alone(line);
      return;
    }
    if (!begun->sent.is_pending()) cut_off_by(begun->sent.finish());
    bytes_ += line.size();
    flight_.push_back({.number = number_,
                       .bytes = line.size(),
                       .begun = std::move(*begun),
                       .in_flight = flight_.size() + 1,
                       .sent_at = Clock::now()});
  }

  void run_alone(const std::string& line) {
    out_.set_place({name_, number_});
    const int result = interpreter_.run_line(line);
    count(number_, result, out_.place_shown());
    if (result == status::lock_lost) cut_off_by(result);
    flush();
  }

  /// Ends the run if the other lines would fail for the same reason.
  void cut_off_by(int result) {
    if (result == status::no_connection) cut_off_ = "no connection";
    if (result == status::lock_lost) cut_off_ = "the lock is lost";
  }

  /// Waits until half of the lines in flight are answered, so that one wake-up serves many lines.
  void make_room() {
    while (is_full() && !stop_.stop_requested()) {
      await_answer(flight_.size() / 2, Clock::now() + longest_delay);
      finish_answered();
      flush();
    }
  }

  /// Waits until the next line may be sent.
  void keep_pace() {
    if (settings_.rate == 0) return;
    const auto interval = std::chrono::nanoseconds(std::chrono::seconds(1)) / settings_.rate;
    // Delays by the input or the server are not made up for.
    due_ = std::max(due_.value_or(Clock::now()), Clock::now() - std::chrono::milliseconds(10));
    while (Clock::now() < *due_ && !stop_.stop_requested()) {
      const auto next = std::min(*due_, Clock::now() + longest_delay);
      monitor_.sleep_until(stop_, next);
      finish_answered();
      flush();
    }
    *due_ += interval;
  }

  /// Returns false at the deadline and after a stop.
  bool await_answer(std::size_t index, Clock::time_point deadline) {
    const auto& awaited = flight_[index];
    return monitor_.wait_until(
        stop_, deadline, [&](const Monitor::Held& held) { return awaited.code(held).has_value(); });
  }

  void finish_answered() {
    while (!flight_.empty()) {
      const auto& first = flight_.front();
      if (!monitor_.with_lock(
              [&](const Monitor::Held& held) { return first.code(held).has_value(); }))
        return;
      finish_first();
    }
  }

  /// Blocks until everything is answered, or a stop, and prints it.
  void finish_all() {
    while (!flight_.empty()) {
      const bool answered = await_answer(flight_.size() - 1, Clock::now() + longest_delay);
      finish_answered();
      flush();
      if (!answered && stop_.stop_requested()) return;
    }
    flush();
  }

  /// Its output follows what was printed when it was sent.
  void finish_first() {
    auto first = std::move(flight_.front());
    flight_.pop_front();
    bytes_ -= first.bytes;
    window_.learn(first.in_flight, Clock::now() - first.sent_at);
    std::ranges::move(first.begun.output, std::back_inserter(finished_output_));
    out_.set_place({name_, first.number});
    out_.gather(&finished_output_);
    const int result = was_lost(first) ? ask_again(first) : interpreter_.finish_line(first.begun);
    count(first.number, result, first.begun.reported || out_.place_shown());
    out_.gather(nullptr);
  }

  /// Whether a line is a read whose connection was lost before the answer.
  bool was_lost(const InFlight& line) {
    if (line.writes() || stop_.stop_requested()) return false;
    return monitor_.with_lock([&](const Monitor::Held& held) {
      const auto answer = line.code(held);
      return answer && is_repeatable_failure(*answer);
    });
  }

  /// The first line in flight that may have changed what a read of the node returns.
  std::optional<std::size_t> changed_behind(const std::string& path) {
    const auto changes = std::ranges::find_if(flight_, [&](const InFlight& line) {
      const auto& written = line.begun.sent.path();
      return line.writes() && (written == path || parent_path(written) == path);
    });
    if (changes == flight_.end()) return std::nullopt;
    return changes->number;
  }

  /// Lets a read be repeated (Client::insist); nothing else is sent meanwhile.
  int ask_again(const InFlight& lost) {
    const auto& path = lost.begun.sent.path();
    if (const auto line = changed_behind(path)) {
      report_error(
          out_, Error(fmt::format("the connection was lost before the answer arrived; not retried, "
                                  "since line {}, which was sent after it, may have changed {}",
                                  *line, path),
                      status::no_connection));
      return status::no_connection;
    }
    return interpreter_.finish_line(lost.begun);
  }

  /// `reported`: the failure was reported, with its place.
  void count(std::size_t number, int result, bool reported) {
    if (result == status::ok) {
      ++done_;
      return;
    }
    // It was interrupted by the stop while its answer was read.
    if (stop_.stop_requested() && !reported) {
      cut_short_ = number;
      return;
    }
    ++failed_;
    if (first_failure_ == status::ok) first_failure_ = result;
    // Some commands report failures themselves.
    if (!reported && !out_.json())
      out_.err_line("{}:{}: failed (status {})", name_, number, result);
  }

  void flush() {
    try {
      interpreter_.queue().add(std::exchange(finished_output_, {}), stop_);
      interpreter_.await_accepted();
    } catch (const Cancelled&) {
      // What is printed no longer matters; that the lines end here is reported.
    }
  }

  void report_interrupted() {
    report_unanswered();
    const bool refused = interpreter_.output_refused();
    if (!at_end_ && (refused || (stop_.stop_requested() && !interpreter_.quit())))
      out_.err_line_regardless(fmt::format("{}:{}: nothing from this line on was run", name_,
                                           left_out_.value_or(number_ + 1)));
  }

  void report_unanswered() {
    if (flight_.empty() && !cut_short_) return;
    const auto number = cut_short_ ? *cut_short_ : flight_.front().number;
    const auto writes = std::ranges::count_if(flight_, &InFlight::writes);
    out_.err_line_regardless(
        writes == 0
            ? fmt::format("{}:{}: interrupted; every write from here on was answered", name_,
                          number)
            : fmt::format(
                  "{}:{}: interrupted; from here on, {} sent but not answered, and may still "
                  "be applied",
                  name_, number, counted_were(static_cast<std::size_t>(writes), "write")));
  }

  void report_end() {
    if (cut_off_)
      out_.err_line_regardless(
          fmt::format("{}:{}: stopped: {}; the rest was not sent", name_, number_, cut_off_));
    if (settings_.quiet) return;
    if (out_.json())
      out_.err_regardless(Json::object().set("ok", done_).set("failed", failed_).text() + '\n');
    else
      out_.err_regardless(fmt::format("{} ok, {} failed\n", done_, failed_));
  }

  Interpreter& interpreter_;
  Output& out_;
  Monitor& monitor_;
  LineReader& reader_;
  std::string name_;
  PipeSettings settings_;
  FlightWindow window_;
  std::stop_token stop_;
  std::deque<InFlight> flight_;
  std::size_t bytes_ = 0;   ///< of the lines in flight
  Chunks finished_output_;  ///< of finished lines, not printed yet
  std::size_t number_ = 0;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  int first_failure_ = status::ok;
  const char* cut_off_ = nullptr;         ///< why no more lines are sent; null: they are
  bool at_end_ = false;                   ///< of the input
  std::optional<std::size_t> left_out_;   ///< the line that was read last, and not run
  std::optional<std::size_t> cut_short_;  ///< the line that was being finished at the stop
  std::optional<Clock::time_point> due_;
};

/// What to do after a line fails.
enum class AfterFailure {
  Stop,      ///< and say where on stderr, unless the script is a single command
  NameLine,  ///< on stderr, unless it is a single command, and continue
  GoOn,      ///< silently, as zkCli; but stop after a lock command
  Forget,    ///< continue silently; the last line's status counts, as in zkCli
};

/// A line of a file, or a command of -c, and where it stands.
struct Line {
  std::string text;
  std::size_t number = 0;   ///< the line's; in a -c of one line, the command's; 0: the only one
  std::size_t command = 0;  ///< the command's number on the line; 0: it has the line to itself
  bool at_once = false;     ///< it was read without waiting
};

struct Lines {
  std::string name;  ///< the source's, for messages; empty: a single command
  std::function<bool(Line&)> next;
  std::function<bool()> last;  ///< whether certainly none is left
};

/// The commands in a text of -c.
std::vector<Line> commands_of(std::string_view text) {
  std::vector<Line> commands;
  for (const auto& part : parts_of(text, PartBy::Command)) {
    const auto command = trimmed(text.substr(part.begin, part.end - part.begin));
    if (is_blank_or_comment(command)) continue;
    const auto number =
        static_cast<std::size_t>(std::count(text.begin(), command.begin(), '\n')) + 1;
    std::size_t place = 0;  // on a line that has several
    if (!commands.empty() && commands.back().number == number) {
      auto& before = commands.back().command;
      before = std::max<std::size_t>(before, 1);
      place = before + 1;
    }
    commands.push_back({std::string(command), number, place});
  }
  if (commands.empty() || commands.front().number != commands.back().number) return commands;
  // The number of the only line would say nothing.
  for (std::size_t i = 0; i < commands.size(); ++i)
    commands[i] = {std::move(commands[i].text), commands.size() > 1 ? i + 1 : 0};
  return commands;
}

/// "script:7", "-c:2", "-c:3, command 2".
std::string place_text(const Lines& lines, const Line& line) {
  auto text = lines.name;
  if (line.number > 0) text += fmt::format(":{}", line.number);
  if (line.command > 0) text += fmt::format(", command {}", line.command);
  return text;
}

/// What all sources of a run have in common.
struct Run {
  Interpreter& interpreter;
  Output& out;
  AfterFailure after_failure;
  const std::optional<PipeSettings>& pipe;
  LineEnd line_end;
  const std::stop_token& stop;

  bool goes_on() const { return !interpreter.quit() && !stop.stop_requested(); }
  /// The status of the signal that ended a program, and so the run.
  int signal_status() const {
    return interpreter.ended_by() ? status::signal_base + *interpreter.ended_by() : status::ok;
  }
  /// zkCli has no locks, and the lines after such a command may rely on holding one.
  bool was_about_locks() const {
    const auto* const command = command_named(interpreter.output().command());
    return command && command->group == "Locks";
  }
  int lines(const Lines& lines) const;
  int text(const std::string& text, const std::string& name) const;
  /// `name` is for messages about a text.
  int source(const ScriptSource& source, const std::string& name) const;
};

/// Runs and counts the lines of a source. An interrupted line is not a success.
int Run::lines(const Lines& lines) const {
  int first_failure = status::ok;
  Line line;
  while (goes_on() && lines.next(line)) {
    // Text errors are followed by a line that names the place.
    interpreter.output().set_place(
        {.source = lines.name,
         .line = lines.name.empty() ? 0 : std::max<std::size_t>(line.number, 1),
         .in_text = false});
    const int result = interpreter.run_line(line.text, line.at_once);
    if (after_failure == AfterFailure::Forget) {
      // Neither empty lines nor `quit` have a status.
      if (!line.text.empty() && !interpreter.quit()) first_failure = result;
      continue;
    }
    if (result == status::ok) continue;
    if (first_failure == status::ok) first_failure = result;
    const bool goes_on = !was_about_locks() && result != status::lock_lost;
    if (after_failure == AfterFailure::GoOn && goes_on) continue;
    if (after_failure == AfterFailure::NameLine) {
      if (!lines.name.empty() && !out.json())
        out.err_line("{}: failed (status {})", place_text(lines, line), result);
      continue;
    }
    if (line.number > 0 && !stop.stop_requested() && !interpreter.ended_by())
      out.err_line("{}: stopped at the first failure (status {}); use --keep-going to continue",
                   place_text(lines, line), result);
    break;
  }
  return first_failure == status::ok && !lines.last() ? signal_status() : first_failure;
}

int Run::text(const std::string& text, const std::string& name) const {
  const auto commands = commands_of(text);
  auto at = commands.begin();
  return lines({.name = commands.size() > 1 || name != "-c" ? name : "",
                .next =
                    [&](Line& line) {
                      if (at == commands.end()) return false;
                      line = *at++;
                      return true;
                    },
                .last = [&] { return at == commands.end(); }});
}

int Run::source(const ScriptSource& source, const std::string& name) const {
  if (source.kind == ScriptSource::Kind::Text) return text(source.text, name);
  const bool from_file = source.text != "-";
  const int fd = from_file ? open(source.text.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (fd < 0)
    throw UsageError(fmt::format("cannot read {}: {}", source.text, std::strerror(errno)));
  LineReader reader(fd, from_file, from_file ? source.text : "standard input", stop, line_end);
  if (line_end == LineEnd::AsInJava && !pipe) reader.keep_byte_order_mark();
  const auto file = from_file ? source.text : "stdin";
  if (pipe) return Pipeline(interpreter, reader, file, *pipe, stop).run();
  return lines({.name = file,
                .next =
                    [&](Line& line) {
                      ++line.number;
                      line.at_once = reader.ready();
                      return reader.next(line.text);
                    },
                .last = [] { return false; }});
}

}  // namespace

int run_scripts(Interpreter& interpreter, Output& out, const Arguments& arguments,
                const std::stop_token& stop) {
  auto scripts = arguments.scripts;
  const bool piped = scripts.empty();
  if (piped) scripts.push_back({.kind = ScriptSource::Kind::File, .text = "-"});
  const Run run{.interpreter = interpreter,
                .out = out,
                .after_failure = arguments.keep_going         ? AfterFailure::NameLine
                                 : piped && arguments.drop_in ? AfterFailure::Forget
                                 : piped                      ? AfterFailure::GoOn
                                                              : AfterFailure::Stop,
                .pipe = arguments.pipe,
                .line_end = piped ? LineEnd::AsInJava : LineEnd::Newline,
                .stop = stop};
  const auto texts = std::ranges::count(scripts, ScriptSource::Kind::Text, &ScriptSource::kind);
  std::size_t text = 0;
  int first_failure = status::ok;
  for (auto script = scripts.begin(); script != scripts.end(); ++script) {
    if (first_failure == status::ok) first_failure = run.signal_status();
    if (!run.goes_on()) break;
    if (script->kind == ScriptSource::Kind::Text) ++text;
    // Of several texts, messages give the number.
    const auto name = texts > 1 ? fmt::format("-c#{}", text) : "-c";
    const int result = reporting(out, [&] { return run.source(*script, name); });
    if (first_failure == status::ok) first_failure = result;
    if (first_failure == status::ok || run.after_failure != AfterFailure::Stop) continue;
    if (const auto left = scripts.end() - script - 1; left > 0 && !interpreter.ended_by())
      out.err_line(
          "{} more -c or -f {} not run after a failure (status {}); use --keep-going to continue",
          left, left == 1 ? "was" : "were", first_failure);
    break;
  }
  // Otherwise the status would not show the loss.
  if (first_failure == status::ok && interpreter.lost_lock()) return status::lock_lost;
  return first_failure;
}

}  // namespace zksh
