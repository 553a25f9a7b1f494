// Command: what a command is, what it is given when it runs, and looking one up.
#pragma once

#include "client/client.h"
#include "client/node_path.h"
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

class CurrentNode;
class JobTable;
class LineHistory;
class LockManager;
class PersistentWatches;
class Sandbox;
class SignalRelay;
class Rehearsal;
class Questions;
class Settings;
class Transaction;
struct Protection;

/// Where a command line came from.
enum class Input {
  Terminal,   ///< typed at the prompt
  Pipe,       ///< standard input that is no terminal: zksh answers as zkCli.sh does, word for word
  Text,       ///< -c or -f
  Arguments,  ///< zksh's own argument list
};

/// What one zksh has for all of its commands. It outlives every command.
struct Services {
  OutputQueue& queue;
  SignalRelay& signals;  ///< a command that runs a program registers it here
  Settings& settings;
  const Protection& protection;
  PersistentWatches& watches;
  LockManager& locks;
  Questions& questions;
  Sandbox* sandbox = nullptr;  ///< the private servers of --sandbox, or null
  JobTable* jobs = nullptr;    ///< the background jobs; null in scripts, which have none
};

/// What a command is given to run with. It lives as long as the command runs, on one thread.
struct Context {
  Client& client;
  Output& out;
  std::stop_token stop;
  const Services& services;
  Input input;
  bool background;  ///< ended with &: the terminal belongs to the prompt
  CurrentNode& current;
  LineHistory& history;
  Transaction& transaction;  ///< the operations that are collected, if any are
  Rehearsal* rehearsal;      ///< with --dry-run: what `client` is; else null
  /// Runs another command by its words, its name first; returns its exit status. Does not touch
  /// history.
  std::function<int(const std::vector<std::string>& words)> run_words;
  /// Runs another line as if it had been typed; returns its exit status. Does not touch history.
  std::function<int(const std::string& line)> run_line;
  /// The command's words as they were given, its name first.
  std::vector<std::string> words{};
  bool quit = false;  ///< set by the command: the shell ends after it

  /// Where a typed line is this command alone: whether Ctrl-Z may leave it to the background.
  std::shared_ptr<std::atomic<bool>> movable{};
  /// From now on the command needs neither the terminal nor what belongs to the prompt (history,
  /// current node, transaction): Ctrl-Z puts it into the background.
  void allow_move() {
    if (movable) *movable = true;
  }

  /// The texts of those words that were quoted: no pattern is meant there.
  std::vector<std::string> quoted{};
  bool writes = false;  ///< Command::writes

  /// Whether there is a terminal whose keys are for this command.
  bool can_ask() const;
  /// Asks the person at the terminal: shows the prompt ("Password: "), returns the line that is
  /// typed, unseen when `hidden`. nullopt: nobody can be asked, or Ctrl-D. Blocks; throws Cancelled
  /// on a stop. See Questions.
  std::optional<std::string> ask(const std::string& prompt, bool hidden) const;

  /// Whether a path may be relative, and have `.` and `..` in it: at the prompt, and everywhere
  /// once `cd` was used. In a script that knows no current node it is a mistake, and in zkCli too.
  bool knows_current_node() const;
  /// The absolute, validated form of a path that the user gave; one slash at its end is dropped,
  /// but on piped input. Throws ValueError.
  std::string resolve(const std::string& path, bool sequential = false) const;
  /// As resolve, of several; a word with *, ? or [ stands for the nodes that match it, in byte
  /// order, unless it names a node, or was quoted; so also among the process's own arguments for a
  /// command that writes, without --glob. Blocks. Throws ZkError, and Error{no_node} for a pattern
  /// that nothing matches.
  std::vector<std::string> resolve_all(const std::vector<std::string>& given) const;
  /// As resolve_all; of none, the current node, or / where none is known.
  std::vector<std::string> resolve_all_or_current(const std::vector<std::string>& given) const;
  Watch printed_watch(bool wanted) const { return wanted ? Watch::printed() : Watch::none(); }

 private:
  bool means_pattern(const std::string& word) const;
};

/// A command whose last request is on its way, and what is left to do when the answer is there.
class Sent {
 public:
  /// Nothing is left to do.
  Sent(int status) : status_(status) {}
  /// `finish` waits for the answer, prints what came of it and returns the exit status; it may use
  /// the command's Context, but for its words, which may be those of another line by then. `path`:
  /// the node that was asked about, or written.
  template <class T>
  Sent(std::string path, Pending<T> pending, std::function<int()> finish)
      : path_(std::move(path)),
        code_([pending = std::move(pending)](const Monitor::Held& held) -> std::optional<int> {
          const auto& outcome = (*pending)(held);
          return outcome ? std::optional(outcome->code) : std::nullopt;
        }),
        finish_(std::move(finish)) {}

  const std::string& path() const { return path_; }
  /// The code of the answer; nothing as long as it is not there. Under the monitor.
  std::optional<int> code(const Monitor::Held& held) const {
    return code_ ? code_(held) : std::optional(code::ok);
  }
  /// Whether an answer is to be waited for.
  bool is_pending() const { return static_cast<bool>(finish_); }
  /// To be called once. Blocks until the answer is there. Throws Error.
  int finish() const { return finish_ ? finish_() : status_; }

 private:
  std::string path_;
  std::function<std::optional<int>(const Monitor::Held&)> code_;
  std::function<int()> finish_;
  int status_ = status::ok;
};

/// When a command that finds no session says "Not connected".
enum class Needs {
  Session,       ///< before anything else, its arguments included
  SessionAfter,  ///< after it has done its work (zkCli's history, redo, printwatches)
  Nothing,
};

struct Example {
  std::string_view line;
  std::string_view meaning;
};

/// All that the user is told about a command. Help, man page and completion derive from it.
struct CommandText {
  std::string_view name;
  std::vector<std::string_view> aliases{};
  std::string_view group;
  std::string_view summary;                  ///< one line, imperative, no full stop
  std::vector<std::string_view> keywords{};  ///< what else people call it: `help WORD` finds it
  std::string_view details{};
  std::vector<Example> examples{};
  /// The fields of the objects that -o json prints, see json_fields.h; empty: it prints none.
  std::string_view json{};
  /// The arguments as zkCli.sh 3.8.0 prints them; no value: zkCli has no such command.
  std::optional<std::string_view> zkcli_syntax{};
  Needs needs = Needs::Session;
  /// Refuses words that are left over on piped input too, where most commands of zkCli ignore them.
  bool strict = false;
  /// zkCli looks for no options among its words: on piped input all of them are plain words.
  bool optionless = false;
  /// Its results may be long, and are all there at once: what a pager is for.
  bool pages = false;
  /// The options with which its results come one by one, until it is ended: no pager then.
  std::vector<std::string_view> endless{};
  /// Changes what the servers keep: it has --dry-run, and a read-only zksh refuses it.
  bool writes = false;
  /// Runs also while a transaction is being collected.
  bool beside_transaction = false;
};

struct Command : CommandText {
  /// Parses the words (the name left out) and runs; returns the exit status. Throws Error.
  std::function<int(Context&, const std::vector<std::string>& words)> run{};
  /// The first half of run, for a command that sends one request: returns when that is sent. The
  /// Context outlives what is returned. Throws Error. Empty: there are no such halves.
  std::function<Sent(Context&, const std::vector<std::string>& words)> start{};
  /// Parses the words as run does, and gives what it would do as a part of a transaction. Throws
  /// Error. Empty: no transaction can do it.
  std::function<Op(Context&, const std::vector<std::string>& words)> operation{};
  /// Declares the arguments to someone who wants to know them, and hands the Options over.
  std::function<void(const std::function<void(const Options&)>& reader)> describe{};

  /// The options alone, as declared: for a usage line.
  std::string syntax() const;
};

/// Throws UsageError when words are left over, but on piped input, where they are ignored as by
/// zkCli; `strict`: there SyntaxError. So also when an unquoted & ends the program of a line: the
/// prompt would take it for itself.
void refuse_surplus(const Context& cx, const Options& options, bool strict);

/// With which the words of a write may be patterns where no quotes can say that they are none.
inline constexpr std::string_view glob_option = "--glob";
/// What commands have in common. wants_dry_run is asked before the words are parsed: the command
/// gets another client for it.
struct CommonOptions {
  std::optional<Format> format{};
  bool dry_run = false;
  bool glob = false;  ///< Context::resolve_all looks at the words
};
/// Whether it is -o, which every command has.
inline bool is_output_option(const Argument& argument) { return argument.names.front() == "-o"; }
/// `writes`: Command::writes. `as_zkcli`: the line may have zkCli's options alone, and not -o.
void declare_common(Options& options, CommonOptions& common, bool writes, bool as_zkcli);
/// Binds a command's words, and chooses the format that they ask for, also for an error that is
/// thrown. `optionless`: on piped input a word that looks like an option is none.
void parse_words(const Context& cx, Options& options, const CommonOptions& common,
                 std::vector<std::string> words, bool optionless);

/// Whether the words (the name left out) may have -o among them; cheap, and true once too often.
bool may_choose_format(std::span<const std::string> words);

/// Whether an option stands among a command's words (its name left out), as a word of its own
/// before any `--` and any program.
bool has_option(const Command& command, std::span<const std::string> words,
                std::string_view option);
/// Before the words are parsed: --help is an option of every command.
inline bool asks_for_help(const Command& command, std::span<const std::string> words) {
  return has_option(command, words, "--help");
}
inline bool wants_dry_run(const Command& command, std::span<const std::string> words) {
  return has_option(command, words, "--dry-run");
}

/// Throws UsageError when --dry-run was parsed, but the client is one that writes.
void require_rehearsal(const Context& cx, bool dry_run);

/// Binds a command's four parts together. `Args` is made anew for each run. `operation`: for a
/// command that can be a part of a transaction. `run` returns the exit status, or Sent.
template <class Args, class Result>
Command make_command(CommandText text, void (*declare)(Options&, Args&),
                     Result (*run)(Context&, const Args&),
                     Op (*operation)(Context&, const Args&) = nullptr) {
  Command command{std::move(text)};
  const auto declare_all = [declare, writes = command.writes](
                               Options& options, Args& args, CommonOptions& common, bool as_zkcli) {
    declare(options, args);
    declare_common(options, common, writes, as_zkcli);
  };
  const auto parsed = [declare_all, strict = command.strict, optionless = command.optionless,
                       of_zkcli = command.zkcli_syntax.has_value()](
                          const Context& cx, const std::vector<std::string>& words, auto use) {
    Args args;
    Options options;
    CommonOptions common;
    declare_all(options, args, common, of_zkcli && cx.input == Input::Pipe);
    parse_words(cx, options, common, words, optionless);
    require_rehearsal(cx, common.dry_run);
    refuse_surplus(cx, options, strict);
    return use(std::as_const(args));
  };
  const auto begin = [parsed, run](Context& cx, const std::vector<std::string>& words) {
    return parsed(cx, words, [&](const Args& args) { return run(cx, args); });
  };
  if constexpr (std::is_same_v<Result, Sent>) {
    command.start = begin;
    command.run = [begin](Context& cx, const std::vector<std::string>& words) {
      return begin(cx, words).finish();
    };
  } else {
    command.run = begin;
  }
  if (operation)
    command.operation = [parsed, operation](Context& cx, const std::vector<std::string>& words) {
      return parsed(cx, words, [&](const Args& args) { return operation(cx, args); });
    };
  command.describe = [declare_all](const std::function<void(const Options&)>& reader) {
    Args args;
    Options options;
    CommonOptions common;
    declare_all(options, args, common, false);
    reader(options);
  };
  return command;
}

/// Every command, sorted by name in byte order. The table is made by the build from commands/*.cpp.
std::span<const Command* const> all_commands();
/// By name or alias; null when there is none.
const Command* command_named(std::string_view name);
/// The names and aliases nearest to a mistyped word, best first; at most three, perhaps none.
std::vector<std::string> suggested_commands(std::string_view word);

std::span<const Command* const> command_table();

}  // namespace zksh
