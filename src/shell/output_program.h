// OutputProgram: a program that receives a command's results: `| program`, or the pager.
#pragma once

#include "base/error.h"
#include "base/fd.h"
#include "base/monitor.h"
#include "base/process.h"
#include "base/program_terminal.h"
#include "base/signal_relay.h"
#include "command/output.h"

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace zksh {

/// Constructed, written to and destroyed on the thread of one command.
///
/// At the prompt the program leads its own process group and has the terminal until it ends: Ctrl-C
/// is sent only to it, and Ctrl-Z stops zksh with it. In a script it stays in zksh's group, as in
/// sh. In the background it has no terminal, and its output goes through the queue. Signals that
/// would end zksh end it, and the command too.
class OutputProgram {
 public:
  struct Plan {
    Monitor& monitor;
    SignalRelay& signals;
    OutputQueue& queue;
    std::string line;                                     ///< for /bin/sh -c
    const std::vector<std::string>* arguments = nullptr;  ///< its $1, $2, …; null: none
    bool at_prompt = false;                               ///< the line was typed
    bool background = false;                              ///< with & at its end
    bool whole_screen = false;  ///< nothing else is printed until it has ended
    std::stop_token stop;       ///< ends the command, and then the program
  };

  explicit OutputProgram(Plan plan);
  OutputProgram(const OutputProgram&) = delete;
  OutputProgram& operator=(const OutputProgram&) = delete;
  ~OutputProgram();

  /// Starts the program; must be called first. Throws Error if there is no /bin/sh, Cancelled on a
  /// stop.
  void start();

  /// The program's standard input, for a program that writes there itself.
  int fd() const { return input_.get(); }
  /// The command's stop: requested with the plan's, when a signal has ended the program, or when
  /// nobody reads what the command writes.
  std::stop_token stop() const { return command_stop_.get_token(); }
  /// Blocks while the program does not read. Throws Cancelled on a stop, and if nobody reads.
  void write(std::string_view bytes);

  /// The exit statuses of both.
  struct Ends {
    int command;  ///< 0 if it was stopped because its reader had enough
    int program;
  };
  /// Call when the command has ended with this status: closes the program's input and waits for its
  /// end; after a stop, not for long. zksh has the terminal again when this returns.
  Ends finish(int result);

 private:
  void capture();
  bool pass_on(const Monitor::Held& held, int signal);
  void supervise();
  void check_reader();
  void ended(int result);

  Plan plan_;
  Fd input_;     ///< the write end of the command's pipe
  Fd captured_;  ///< the output of a background program
  std::stop_source command_stop_;
  std::stop_callback<std::function<void()>> on_stop_;
  ProgramTerminal terminal_;  ///< used by the supervising thread
  bool holds_back_ = false;   ///< the queue's output, as long as the program runs
  std::atomic<bool> written_ = false;
  std::atomic<bool> reader_gone_ = false;
  bool terminated_ = false;  ///< SIGTERM was passed on; under the monitor
  std::optional<FdWriter> writer_;
  std::optional<Process> process_;
  Guarded<bool> started_;  ///< the process
  std::optional<SignalRelay::Registration> registration_;
  std::jthread reader_;  ///< of captured_
  std::jthread supervisor_;
};

/// The command line of the user's pager: the setting unless empty, else $ZKSH_PAGER, $PAGER, or
/// less -FIRX if installed. nullopt if that is empty, `cat` or `off`, or the program does not
/// exist.
std::optional<std::string> pager_line(const std::string& setting);

/// The number of rows that a text takes on a screen of this width.
std::size_t rows_of(std::string_view text, std::size_t columns);

/// Used like OutputProgram. Results that fit on the screen are printed directly.
class Pager {
 public:
  /// The plan's line is the pager's; its output is a terminal.
  explicit Pager(OutputProgram::Plan plan);

  /// The command's stop: requested with the plan's, or when the user leaves the pager.
  std::stop_token stop() const { return program_.stop(); }
  /// Keeps results that fit on the screen; starts the pager once they do not.
  void write(std::string_view bytes);
  /// While results are kept, also keeps an error, so that it appears after them; prints everything
  /// kept if the errors fill the screen. Returns false if the pager runs, and does not keep the
  /// error then.
  bool keep_error(std::string_view bytes);
  /// Call when the command has ended with this status: prints what is kept, or waits until the user
  /// leaves the pager. Returns the command's status, 0 if it was stopped because the pager was left
  /// early.
  int finish(int result);

 private:
  /// Prints what is kept, in order.
  void print_kept();

  OutputQueue& queue_;
  OutputProgram program_;
  bool started_ = false;
  std::string kept_;                          ///< results
  std::vector<OutputQueue::Chunk> in_order_;  ///< results and errors
};

}  // namespace zksh
