// Shell: the interactive zksh.
#include "shell/shell.h"

#include "base/mapped.h"
#include "base/process.h"
#include "base/secrets.h"
#include "base/signal_relay.h"
#include "base/words.h"
#include "client/client.h"
#include "client/watch.h"
#include "command/line_history.h"
#include "command/report.h"
#include "command/screen.h"
#include "lock/manager.h"
#include "shell/complete.h"
#include "shell/prompt.h"
#include "shell/typed_line.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>

namespace zksh {
namespace {

/// Whether the status shows a mistake, so that the line is not worth suggesting: not a false
/// answer, nor a failure that may not recur.
bool is_mistake(int result) {
  return result == status::usage || result == status::no_node || result == status::node_exists ||
         result == status::has_children || result == status::program_not_found;
}

int editor_output() { return isatty(STDOUT_FILENO) != 0 ? STDOUT_FILENO : STDERR_FILENO; }

std::vector<std::string> lock_paths(const LockManager& locks) {
  std::vector<std::string> paths;
  for (const auto& lock : locks.locks())
    paths.insert(paths.end(), lock->paths().begin(), lock->paths().end());
  return paths;
}

std::string shown_line(const std::string& line, const OutputStyle& style) {
  return style.err_is_terminal ? escape_for_terminal(line) : line;
}

/// News of the shell itself.
void report(const Interpreter::Surroundings& around, const std::string& text) {
  const auto& style = around.style;
  around.services.queue.add(Stream::Err,
                            news_line(text, style.format == Format::Json, style.err_is_terminal));
}

}  // namespace

Shell::Shell(Loop& loop, Monitor& monitor, Printer& printer, WaitNotice& notice,
             Interpreter::Surroundings around)
    : loop_(loop),
      monitor_(monitor),
      printer_(printer),
      notice_(notice),
      around_(around),
      terminal_(STDIN_FILENO),
      history_file_(
          {.path = default_history_path(),
           .mask = [](std::string_view line) { return mask_secrets(line); },
           .warn = [&queue = around_.services.queue](
                       const std::string& text) { queue.add(Stream::Err, text + '\n'); }}),
      editor_(
          {.in = STDIN_FILENO,
           .out = editor_output(),
           .on_line = [this](const std::optional<std::string>& line) { accept(line); },
           .on_edit = [this](const std::string& line) { edit(line); },
           .await_writable = [&loop](int fd) { return loop.await_writable(fd); },
           .complete = [this](const CompletionRequest& request) { return complete(request); },
           .hint =
               [this](std::string_view line, std::string_view history_rest) {
                 return around_.services.settings.hints && may_decorate()
                            ? line_hint(line, history_rest)
                            : LineHint();
               },
           .may_suggest = [this](std::string_view line) { return !history_file_.is_mistake(line); },
           .styles =
               [this](std::string_view line, std::size_t cursor) {
                 return around_.services.settings.highlight && may_decorate()
                            ? line_styles(line, cursor)
                            : std::vector<StyledBytes>();
               },
           .is_unfinished =
               [this](std::string_view text) {
                 return !is_drop_in() && parts_of(text, PartBy::Line).back().open;
               },
           .bare = is_drop_in()}),
      nodes_(around.client, loop.wake_fd()),
      jobs_(monitor),
      background_(monitor, loop.wake_fd(), around_, jobs_) {
  around_.start_in_background = [this](const std::string& line, const CurrentNode& current) {
    background_.request(line, current);
  };
  around_.services.jobs = &jobs_;
  for (const auto& line : history_file_.load()) LineEditor::remember(line);
  // The command's thread reads the file while the main thread accepts no lines.
  around_.history.get().read_others_with(
      [this] { return others_lines_ = history_file_.read_new(); });
  around_.history.get().find_with(LineEditor::remembered_with);
  printer_.print_through([this](std::string_view bytes) {
    if (!editor_.active()) return false;
    editor_.print(bytes);
    return true;
  });
}

Shell::~Shell() {
  around_.history.get().read_others_with({});
  around_.history.get().find_with({});
  printer_.print_through({});
}

int Shell::run() {
  if (!is_drop_in())
    around_.services.queue.add(
        Stream::Err,
        news_line(fmt::format("zksh {}. `help` lists the commands; Ctrl-D exits.", ZKSH_VERSION),
                  false, true));
  keep_connected();
  first_prompt_by_ = Clock::now() + std::chrono::milliseconds(200);
  LoopEvents events;
  events.look_again = [this] { return command_ ? notice_.update() : first_prompt_by_; };
  events.reads_input = [this] { return editor_.reads(); };
  events.input_waits = [this] { return editor_.active() && editor_.pending(); };
  events.input = [this] { editor_.feed(); };
  events.interrupt = [this] { interrupt(); };
  events.end = [this](int signal) { end(signal); };
  events.resize = [this] {
    editor_.resize();
    monitor_.change([](const Monitor::Held&) {});  // a picture waits for that, too
  };
  events.suspend = [this] { suspend(); };
  events.resume = [this] {
    around_.services.questions.resume();
    editor_.resume();
  };
  events.out_failed = [this](int error) { lose_output(error); };
  loop_.run(printer_, events, [this] {
    handle_jobs();
    if (nodes_.process_finished()) editor_.completion_came();
    if (nodes_.is_slow()) editor_.completion_is_slow();
    return leaving_ && !command_ && background_.empty();
  });
  editor_.end();
  drop_transaction();
  if (connector_) connector_->stop();
  connector_.reset();
  return status_;
}

void Shell::accept(const std::optional<std::string>& line) {
  ++accepted_;
  if (!line) {
    around_.services.queue.add(Stream::Err, "\n");
    leaving_ = may_leave();
    return;
  }
  std::string kept;
  Output out(around_.services.queue, around_.style, {});
  for (const auto& part : parts_of(*line, PartBy::Line)) {
    auto run = line->substr(part.begin, part.end - part.begin);
    const int expanding = reporting(out, [&] {
      auto expanded = expand_history(run, around_.history.get());
      if (!expanded) return status::ok;
      run = std::move(*expanded);
      out.err_line("{}", out.shown_in_error(run));
      return status::ok;
    });
    if (expanding != status::ok) {
      status_ = expanding;
      lines_.clear();
      return;
    }
    if (run.find_first_not_of(white_space) == std::string::npos) continue;
    if (const auto text = history_file_.add(run)) kept += (kept.empty() ? "" : "\n") + *text;
    lines_.push_back(std::move(run));
  }
  LineEditor::remember(kept);
  start_next();
}

/// Jobs and locks end with the shell: warns the user once before leaving.
bool Shell::may_leave() {
  std::vector<std::string> ends;
  if (const auto jobs = background_.names().size(); jobs > 0)
    ends.push_back(jobs == 1 ? "1 job is running in the background"
                             : fmt::format("{} jobs are running in the background", jobs));
  if (const auto locks = around_.services.locks.summary(); !locks.empty())
    ends.push_back("this shell has " + locks);
  if (ends.empty() || leave_refused_ == accepted_ - 1) return true;
  leave_refused_ = accepted_;
  report(around_, fmt::format("{}; exit again to end them", fmt::join(ends, ", and ")));
  return false;
}

/// Runs the next lines of a text, up to the first that fails.
void Shell::start_next() {
  while (!lines_.empty() && !command_) {
    const auto line = std::move(lines_.front());
    lines_.pop_front();
    launch(line, [line](Interpreter& interpreter) { return interpreter.run_line(line); });
  }
}

/// Whether the typed line may be coloured.
bool Shell::may_decorate() const {
  return use_color(around_.services.settings.value("color"), is_terminal(editor_output()));
}

Completion Shell::complete(const CompletionRequest& request) {
  // Only once: a node whose children change constantly would be read forever.
  const bool may_ask = !request.again;
  const auto begin = parts_of(request.line.substr(0, request.cursor), PartBy::Command).back().begin;
  auto found = complete_line(
      request.line.substr(begin), request.cursor - begin,
      {.nodes =
           [&](const std::string& parent, const std::string& prefix) {
             return nodes_.matches(parent, prefix, request.room, may_ask);
           },
       .acls = [&](const std::string& path) { return nodes_.acl_identities(path, may_ask); },
       .values = [&](const std::string& path) { return nodes_.value(path, may_ask); },
       .current = around_.current.get().path(),
       .held_locks = [this] { return lock_paths(around_.services.locks); },
       .jobs = [this] { return background_.names(); }});
  found.begin += begin;
  if (may_decorate()) found.color = color::of_marked_name;
  return found;
}

/// Opens the line in an editor, to run what is saved.
void Shell::edit(const std::string& line) {
  edited_ = std::make_shared<std::string>(line);
  launch({}, [text = edited_](Interpreter& interpreter) { return interpreter.edit_line(*text); });
}

/// Runs what the editor has saved; after a failure, the line stands in the next prompt.
void Shell::take_edited(std::string text, int result) {
  if (result != status::ok) return editor_.carry(std::move(text));
  text.erase(text.find_last_not_of(white_space) + 1);
  if (text.empty()) return;
  around_.services.queue.add(Stream::Err, escape_for_terminal(text, true) + '\n');
  accept(text);
}

/// Starts the foreground's command. `line`: what was typed, if it is a line.
void Shell::launch(const std::string& line, std::function<int(Interpreter&)> body) {
  interrupts_ = 0;
  command_line_ = line;
  suspension_ = std::make_shared<Suspension>();
  job_number_ = std::make_shared<std::atomic<int>>(0);
  quit_ = std::make_shared<bool>(false);
  auto around = around_;
  around.suspension = suspension_;
  around.style.job = job_number_;
  command_ = std::make_unique<Job>(
      monitor_, loop_.wake_fd(),
      [around, body = std::move(body), quit = quit_,
       input = is_drop_in() ? Input::Pipe : Input::Terminal](const std::stop_token& stop) {
        Interpreter interpreter(around, input, stop);
        const int result = body(interpreter);
        *quit = interpreter.quit();
        return result;
      });
}

/// Handles the end of the command, and prompts if nothing else is to be run.
void Shell::handle_jobs() {
  const bool ended = command_ && command_->status();
  if (ended) notice_.end();
  if (!leaving_) background_.start_requested();
  if (ended && drained()) {
    const int result = *command_->status();
    command_.reset();
    output_at_end_.reset();
    history_file_.set_mistake(command_line_, is_mistake(result));
    for (const auto& line : std::exchange(others_lines_, {})) LineEditor::remember(line);
    problem_reported_ = problem_reported_ || result == status::no_connection;
    if (!leaving_) status_ = *quit_ ? status_ : result;
    leaving_ = leaving_ || (*quit_ && may_leave());
    if (result != status::ok && !leaving_) drop_lines();
    if (leaving_) lines_.clear();
    if (const auto text = std::exchange(edited_, nullptr); text && !leaving_)
      take_edited(std::move(*text), result);
    start_next();
  }
  background_.report_ended();
  if (leaving_) background_.stop();
  if (command_ || leaving_) return;
  if (connector_ && connector_->status()) {
    connector_.reset();
    if (!problem_reported_ && !connector_problem_.empty()) report(around_, connector_problem_);
  }
  const bool expired = around_.client.current_state() == SessionState::Expired;
  if (expired && !connector_ && !is_drop_in()) keep_connected();
  if (awaits_first_prompt()) return;
  if (!editor_.active())
    editor_.begin(prompt(), is_at_row_begin());
  else
    editor_.set_prompt(prompt());
}

/// Whether the first prompt should wait for the connection, so that it is shown only once.
bool Shell::awaits_first_prompt() {
  const bool awaits = first_prompt_by_ && Clock::now() < *first_prompt_by_ &&
                      around_.client.current_state() == SessionState::Connecting;
  if (!awaits) first_prompt_by_.reset();
  return awaits;
}

/// Whether the last output ended its line: not known if a program may have written to the terminal.
bool Shell::is_at_row_begin() {
  const auto before = std::exchange(programs_started_, Process::started());
  return printer_.ended_line() && before == programs_started_;
}

/// Drops lines pasted after one that failed or was moved to the background.
void Shell::drop_lines() {
  if (lines_.empty()) return;
  report(around_,
         fmt::format("stopped after a failure; {} not run",
                     lines_.size() == 1 ? "the next line was"
                                        : fmt::format("the next {} lines were", lines_.size())));
  lines_.clear();
}

/// Whether all output up to the command's end is on the screen, so that the prompt comes below it.
/// Jobs may go on to print.
bool Shell::drained() {
  auto& queue = around_.services.queue;
  if (!output_at_end_) output_at_end_ = queue.added();
  printer_.pump();
  return printer_.blocked_on() < 0 || queue.has_written(*output_at_end_) || leaving_;
}

/// Opens the session in the background, and reports a failure. The C client keeps trying.
void Shell::keep_connected() {
  connector_problem_.clear();
  problem_reported_ = false;
  connector_ =
      std::make_unique<Job>(monitor_, loop_.wake_fd(), [this](const std::stop_token& stop) {
        auto& client = around_.client;
        try {
          client.await_connection("/", stop);
        } catch (const ZkError& error) {
          // Nothing to report if the session was closed meanwhile.
          if (error.code() == code::connection_loss)
            connector_problem_ = "no connection to " + client.connection_problem();
        } catch (const Cancelled&) {
          return status::ok;
        } catch (const Error& error) {
          connector_problem_ = error.what();
        }
        return status::ok;
      });
}

void Shell::interrupt() {
  if (around_.services.signals.offer(SIGINT)) return;
  if (!command_) {
    // Drops the typed text first.
    if (editor_.text().empty()) drop_transaction();
    editor_.set_prompt(prompt());
    editor_.interrupt();
    return;
  }
  // The terminal has echoed ^C.
  if (around_.services.questions.echoes())
    around_.services.queue.add(isatty(STDOUT_FILENO) ? Stream::Out : Stream::Err, "\n");
  command_->stop();
  // A name look-up cannot be interrupted; a repeated Ctrl-C exits.
  if (++interrupts_ == 3) {
    terminal_.restore();
    _exit(status::signal_base + SIGINT);
  }
}

void Shell::end(int signal) {
  const bool taken = around_.services.signals.offer(signal);
  if (signal == SIGQUIT) return;
  if (taken && (signal == SIGUSR1 || signal == SIGUSR2)) return;
  leave(signal);
  // The command ends when the program that took the signal does.
  if (command_ && !taken) command_->stop();
}

void Shell::leave(int signal) {
  leaving_ = true;
  status_ = status::signal_base + signal;
  if (connector_) connector_->stop();
  loop_.leave(status_, around_.services.signals.registrations());
}

/// Standard output is not a terminal, and cannot be written any more.
void Shell::lose_output(int error) {
  leave(SIGPIPE);
  if (command_) command_->stop();
  if (error == EPIPE) return;
  status_ = status::failure;
  around_.services.queue.add(Stream::Err, fmt::format("zksh: cannot write to standard output: {}\n",
                                                      std::strerror(error)));
}

/// Ctrl-Z: moves a command that does not need the prompt to the background; otherwise stops zksh.
void Shell::suspend() {
  notice_.end();
  const auto way = suspension_ ? suspension_->way.load() : Suspension::Way::StopZksh;
  if (command_ && !command_->status() && way != Suspension::Way::StopZksh) {
    suspension_->done = true;
    // The terminal has shown ^Z.
    if (around_.services.questions.echoes())
      around_.services.queue.add(isatty(STDOUT_FILENO) ? Stream::Out : Stream::Err, "\n");
    if (way == Suspension::Way::Move)
      move_to_background();
    else
      command_->stop();
    return;
  }
  editor_.suspend();
  around_.services.questions.suspend();
  warn_before_stop();
  Loop::stop_process();
  around_.services.questions.resume();
  editor_.resume();
}

void Shell::move_to_background() {
  around_.services.questions.give_up();
  *job_number_ = background_.adopt(std::move(command_), command_line_);
  if (!suspension_->notice.empty()) report(around_, suspension_->notice);
  status_ = status::ok;
  drop_lines();
}

/// While zksh is stopped, nothing keeps its session alive, and its command does not continue.
void Shell::warn_before_stop() {
  std::string text;
  // A program that the command runs has the terminal.
  if (command_ && around_.services.signals.registrations() == 0)
    text = fmt::format(
        "\nzksh is stopped together with its command, which may need the terminal; `{} &` runs it "
        "in the background",
        shown_line(without_secrets(command_line_), around_.style));
  if (const auto warning = around_.services.locks.stop_warning(); !warning.empty())
    text += (text.empty() ? "" : "\n") + warning;
  if (text.empty()) return;
  report(around_, text);
  printer_.flush([this](int fd) { return loop_.await_writable(fd); });
}

void Shell::drop_transaction() {
  if (const auto dropped = around_.transaction.get().drop())
    around_.services.queue.add(Stream::Err, dropped_text(*dropped) + '\n');
}

std::string Shell::prompt() const {
  const auto collected = around_.transaction.get().size();
  const auto& protection = around_.services.protection;
  auto text =
      prompt_text(around_.services.settings.value("prompt"),
                  {.server = around_.client.server(),
                   .state = std::string(state_name(around_.client.current_state())),
                   .number = around_.history.get().next(),
                   .node = around_.current.get().path(),
                   .profile = protection.name(),
                   .dangerous = protection.read_only || protection.production,
                   .locks = around_.services.locks.summary(),
                   .status = status_,
                   .ascii = !terminal_shows_utf8()},
                  use_color(around_.services.settings.value("color"), isatty(STDOUT_FILENO) != 0));
  if (collected) text += fmt::format("multi {}> ", *collected + 1);
  return text;
}

BackgroundJobs::BackgroundJobs(Monitor& monitor, int wake_fd, Interpreter::Surroundings around,
                               JobTable& table)
    : monitor_(monitor), wake_fd_(wake_fd), around_(std::move(around)), table_(table) {
  around_.background = true;
  around_.start_in_background = [this](const std::string& line, const CurrentNode& current) {
    request(line, current);
  };
}

void BackgroundJobs::request(const std::string& line, const CurrentNode& current) {
  auto request = std::make_unique<const Request>(Request{line, current});
  monitor_.change(
      [&](const Monitor::Held& held) { requests_(held).push_back(std::move(request)); });
  eventfd_write(wake_fd_, 1);
}

void BackgroundJobs::start_requested() {
  const auto requests = monitor_.with_lock(
      [&](const Monitor::Held& held) { return std::exchange(requests_(held), {}); });
  for (const auto& one : requests) start(*one);
}

BackgroundJobs::Entry& BackgroundJobs::enter(const std::string& line, const CurrentNode& current) {
  const auto job = table_.add(without_secrets(line));
  around_.services.queue.add(
      Stream::Err, fmt::format("[{}] {}\n", job.number, shown_line(job.line, around_.style)));
  return jobs_.emplace_back(Entry{.number = job.number,
                                  .line = line,
                                  .history = {},
                                  .current = current,
                                  .transaction = Transaction(monitor_)});
}

/// The job stops when the table is asked to stop it.
void BackgroundJobs::attach(Entry& entry, std::unique_ptr<Job> job) {
  entry.job = std::move(job);
  entry.on_stop = std::make_unique<std::stop_callback<std::function<void()>>>(
      table_.find(entry.number)->stop.get_token(),
      [running = entry.job.get()] { running->stop(); });
}

int BackgroundJobs::adopt(std::unique_ptr<Job> job, const std::string& line) {
  auto& entry = enter(line, around_.current.get());
  attach(entry, std::move(job));
  return entry.number;
}

void BackgroundJobs::start(const Request& request) {
  Entry& entry = enter(request.line, request.current);
  auto around = around_;
  around.history = entry.history;
  around.current = entry.current;
  around.transaction = entry.transaction;
  around.style.job = std::make_shared<const std::atomic<int>>(entry.number);
  attach(entry, std::make_unique<Job>(
                    monitor_, wake_fd_, [around, &line = entry.line](const std::stop_token& stop) {
                      return Interpreter(around, Input::Terminal, stop).run_line(line);
                    }));
}

void BackgroundJobs::report_ended() {
  std::erase_if(jobs_, [&](const Entry& entry) {
    const auto result = entry.job->status();
    if (!result) return false;
    table_.note_end(entry.number, *result);
    report(entry.number, *result);
    table_.remove(entry.number);
    return true;
  });
}

/// Reports a job's end, unless a command waited for it.
void BackgroundJobs::report(int number, int result) {
  const auto job = table_.find(number);
  if (!job || job->awaited) return;
  auto how = result == status::ok ? "done" : fmt::format("exited with status {}", result);
  if (job->killed && result == Cancelled().exit_status()) how = "killed";
  around_.services.queue.add(
      Stream::Err, fmt::format("[{}] {}: {}\n", number, how, shown_line(job->line, around_.style)));
}

std::vector<std::string> BackgroundJobs::names() const {
  return mapped(jobs_, [](const Entry& entry) { return fmt::format("%{}", entry.number); });
}

void BackgroundJobs::stop() {
  for (auto& entry : jobs_) entry.job->stop();
}

}  // namespace zksh
