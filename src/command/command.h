// Command: what a command consists of, the context it runs in, and the command table.
#pragma once

#include "client/node_path.h"
#include "client/nodes.h"
#include "client/watch.h"
#include "command/invocation.h"
#include "command/json_fields.h"
#include "command/options.h"
#include "command/output.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace zksh {

class Client;
class CurrentNode;
class JobTable;
class LineHistory;
class LockManager;
class PersistentWatches;
class Questions;
class Rehearsal;
class Sandbox;
class Settings;
class SignalRelay;
class Transaction;
struct Protection;

/// What one zksh provides for all of its commands. It must outlive every command.
struct Services {
  OutputQueue& queue;
  SignalRelay& signals;  ///< a command that runs a program registers it here
  Settings& settings;
  const Protection& protection;
  PersistentWatches& watches;
  LockManager& locks;
  Questions& questions;
  Sandbox* sandbox = nullptr;    ///< the private servers of --sandbox, or null
  JobTable* jobs = nullptr;      ///< the background jobs; null in scripts, which have none
  bool script_is_input = false;  ///< -f -: standard input has the commands
};

/// What Ctrl-Z does to the command of a typed line. Shared by the command and the main thread.
struct Suspension {
  enum class Way {
    StopZksh,  ///< together with the command
    Move,      ///< the command goes on in the background
    End,       ///< the command ends, and nothing else
  };
  std::atomic<Way> way{Way::StopZksh};
  std::string notice{};           ///< printed after a move; written before `way`
  std::atomic<bool> done{false};  ///< the command was moved, or must end
};

/// Returns the next line; nullopt when there are no more.
using NextLine = std::function<std::optional<std::string>()>;

/// What a command needs to run. Lives as long as the command runs, and is used on one thread.
struct Context {
  Client& client;
  Output& out;
  std::stop_token stop;
  const Services& services;
  Input input;      ///< of `given`
  bool background;  ///< started with &: the terminal belongs to the prompt
  CurrentNode& current;
  LineHistory& history;
  Transaction& transaction;  ///< the operations collected by `multi`, if any
  Rehearsal* rehearsal;      ///< with --dry-run, the same object as `client`; else null
  /// Runs another command; returns its exit status. Does not change the history.
  std::function<int(const Invocation& other)> run_other;
  /// Runs a line as if it had been typed; returns its exit status. Does not change the history.
  std::function<int(const std::string& line)> run_line;
  /// Runs lines in that way until there are no more, or no connection, with many requests in
  /// flight, and prints their results in order; returns the first failure's status.
  std::function<int(const NextLine& next)> run_lines{};
  /// Runs the commands of a transaction that reads; returns the first failure's status.
  std::function<int(const std::vector<Invocation>& reads)> read_at_once{};
  Invocation given;   ///< the command that runs, and its words
  bool quit = false;  ///< set by the command: the shell exits after it

  /// If a typed line is this command alone; otherwise null.
  std::shared_ptr<Suspension> suspension{};
  /// Call when the command no longer needs the terminal, the history, the current node or the
  /// transaction: Ctrl-Z then moves it to the background, and prints the notice.
  void allow_move(const std::string& notice = {}) {
    if (!suspension) return;
    suspension->notice = notice;
    suspension->way = Suspension::Way::Move;
  }
  /// From now on Ctrl-Z requests a stop, and nothing else.
  void end_at_suspension() {
    if (suspension) suspension->way = Suspension::Way::End;
  }
  /// Whether Ctrl-Z has done either.
  bool was_suspended() const { return suspension && suspension->done; }

  /// The client's, under which a command waits.
  Monitor& monitor() const;

  /// The status for a failure that zkCli reports with status 0: 0 in its place, otherwise `status`.
  int excused(int status) const;

  /// The descriptor of standard input, for a command that reads data there. Throws ValueError if it
  /// has the commands, or is the terminal.
  int data_input() const;

  /// Whether there is a terminal, and the command may read from it.
  bool can_ask() const;
  /// Asks the user at the terminal: shows the prompt ("Password: ") and returns the line typed;
  /// `hidden`: without echo. nullopt after Ctrl-D, or if nobody can be asked (can_ask is false).
  /// Blocks; throws Cancelled on a stop. See Questions.
  std::optional<std::string> ask(const std::string& prompt, bool hidden) const;

  /// Whether paths may be relative and contain `.` and `..`: at the prompt, and everywhere once
  /// `cd` was used. In other scripts a relative path is a mistake, as in zkCli.
  bool knows_current_node() const;
  /// The absolute, valid form of a path from the user. Drops one slash at the end, except on piped
  /// input. Throws ValueError.
  std::string resolve(const std::string& path, bool sequential = false) const;
  /// Resolves several paths. Except on piped input, a word with *, ? or [ is replaced by the nodes
  /// that match it, in byte order, unless a node has that name, or the word was quoted, or it is
  /// one of the process's own arguments to a command that writes, without --glob. Blocks. Throws
  /// ZkError, and Error{no_node} if a pattern matches nothing.
  std::vector<std::string> resolve_all(const std::vector<std::string>& nodes) const;
  /// As resolve_all; without words, the current node, or / if there is none.
  std::vector<std::string> resolve_all_or_current(const std::vector<std::string>& nodes) const;
  Watch printed_watch(bool wanted) const { return wanted ? Watch::printed() : Watch::none(); }
};

/// A command whose request has been sent, and what to do with the answer.
class Sent {
 public:
  /// The command is done.
  Sent(int status) : status_(status) {}
  /// `finish` waits for the answer, prints the result and returns the exit status. It may use the
  /// command's Context. `path` is the node that the request is about.
  template <class T>
  Sent(std::string path, Pending<T> pending, std::function<int()> finish)
      : path_(std::move(path)),
        code_([pending = std::move(pending)](const Monitor::Held& held) -> std::optional<int> {
          const auto& outcome = (*pending)(held);
          return outcome ? std::optional(outcome->code) : std::nullopt;
        }),
        finish_(std::move(finish)) {}

  const std::string& path() const { return path_; }
  /// The code of the answer; nullopt until it arrives. Under the monitor.
  std::optional<int> code(const Monitor::Held& held) const {
    return code_ ? code_(held) : std::optional(code::ok);
  }
  /// Whether there is an answer to wait for.
  bool is_pending() const { return static_cast<bool>(finish_); }
  /// Must be called once. Blocks until the answer arrives. Throws Error.
  int finish() const { return finish_ ? finish_() : status_; }

 private:
  std::string path_;
  std::function<std::optional<int>(const Monitor::Held&)> code_;
  std::function<int()> finish_;
  int status_ = status::ok;
};

/// Whether and when a command without a session fails with "Not connected".
enum class Needs {
  Session,       ///< before anything else, even parsing the arguments
  SessionAfter,  ///< after its work (zkCli's history, redo, printwatches)
  Nothing,
};

struct Example {
  std::string_view line;
  std::string_view meaning;
};

/// The description of a command. Help, manual page and completion derive from it.
struct CommandText {
  std::string_view name;
  std::vector<std::string_view> aliases{};
  std::string_view group;
  std::string_view summary;                  ///< one line, imperative, no full stop
  std::vector<std::string_view> keywords{};  ///< other words for which `help WORD` finds it
  std::string_view details{};
  std::vector<Example> examples{};
  /// The fields of the objects printed with -o json (see json_fields.h); empty: it prints none.
  std::string_view json{};
  /// Those that no other command prints, or that mean something else here.
  std::vector<JsonField> json_fields{};
  /// The arguments as zkCli.sh 3.8.0 prints them; nullopt: zkCli has no such command.
  std::optional<std::string_view> zkcli_syntax{};
  Needs needs = Needs::Session;
  /// Refuses surplus words on piped input too, where most commands of zkCli ignore them; nullopt:
  /// if zkCli has no such command.
  std::optional<bool> strict{};
  /// zkCli does not parse options of this command: on piped input all words are positional.
  bool optionless = false;
  /// Results may be long, and come all at once: use a pager.
  bool pages = false;
  /// The options with which results come one by one until the command is stopped: no pager then.
  std::vector<std::string_view> endless{};
  /// Changes data on the servers: it has --dry-run, and a read-only zksh refuses it.
  bool writes = false;
  /// Can run while a transaction is being collected.
  bool allowed_in_transaction = false;
};

struct Command : CommandText {
  /// Declares the command's own arguments; returns the new Args that they are bound to.
  std::function<std::shared_ptr<void>(Options&)> declare{};
  std::function<Sent(Context&, const void* args)> call{};
  std::function<Op(Context&, const void* args)> plan{};  ///< empty if no transaction can contain it
  bool starts = false;  ///< the command sends one request: `start` returns before its answer

  /// Parses the context's arguments and runs; returns the exit status. Throws Error.
  int run(Context& cx) const { return start(cx).finish(); }
  /// The first half of run: returns once the request is sent. The Context must outlive the result.
  /// Throws Error.
  Sent start(Context& cx) const { return call(cx, parsed(cx).get()); }
  /// Parses the arguments as run does, and returns the operation that a transaction would contain.
  /// Throws Error.
  Op operation(Context& cx) const { return plan(cx, parsed(cx).get()); }

  /// The arguments as declared, including those that all commands have.
  std::vector<Argument> arguments() const;
  /// Options that other tools have and this command lacks, with what to use instead.
  std::vector<ForeignOptions> foreign_options() const;
  /// The arguments, for a usage line.
  std::string syntax() const { return syntax_of(arguments()); }

 private:
  std::shared_ptr<void> parsed(const Context& cx) const;
};

/// Whether this is -o, which all commands have except those that run another line.
inline bool is_output_option(const Argument& argument) { return argument.names.front() == "-o"; }

/// Makes a Command from its parts. Each run gets new `Args`. `operation` is for commands that can
/// be part of a transaction. `run` returns the exit status, or Sent.
template <class Args, class Run>
Command make_command(CommandText text, void (*declare)(Options&, Args&), Run run,
                     Op (*operation)(Context&, const Args&) = nullptr) {
  Command command{std::move(text)};
  command.declare = [declare](Options& options) {
    auto args = std::make_shared<Args>();
    declare(options, *args);
    return args;
  };
  command.call = [run](Context& cx, const void* args) -> Sent {
    return run(cx, *static_cast<const Args*>(args));
  };
  command.starts = std::is_same_v<std::invoke_result_t<Run, Context&, const Args&>, Sent>;
  if (operation)
    command.plan = [operation](Context& cx, const void* args) {
      return operation(cx, *static_cast<const Args*>(args));
    };
  return command;
}

/// A command without arguments.
inline Command make_command(CommandText text, int (*run)(Context&)) {
  struct None {};
  return make_command<None>(
      std::move(text), [](Options& /*options*/, None& /*none*/) {},
      [run](Context& cx, const None& /*none*/) { return run(cx); });
}

/// All commands, sorted by name in byte order. The build generates the table from commands/*.cpp.
std::span<const Command* const> all_commands();
/// Finds a command by name or alias; null if there is none.
const Command* command_named(std::string_view name);
/// The names and aliases of all commands.
std::vector<std::string> command_names();
/// Whether one of the command's names or keywords is this word, ignoring case.
bool has_name(const Command& command, std::string_view word);
/// Commands that somebody may have meant by a line whose first word is not a command: those that
/// are about that word, or that answer the question; otherwise the names and aliases closest to it,
/// best first, at most three, perhaps none.
std::vector<std::string> suggested_commands(std::string_view line);

}  // namespace zksh
