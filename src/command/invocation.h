// Invocation: a command as it was given, with the words of its line.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct Command;

/// Where a command line came from.
enum class Input {
  Terminal,   ///< typed at the prompt
  Pipe,       ///< standard input that is not a terminal: answered word for word as by zkCli.sh
  Text,       ///< -c or -f
  Arguments,  ///< zksh's own arguments
};

/// How long what is printed next waits for a command's own events: less for a person than for a
/// script, in case other clients keep the watches busy.
inline std::chrono::milliseconds event_patience(Input input) {
  return std::chrono::milliseconds(input == Input::Terminal ? 300 : 5000);
}

/// The words of one command.
struct Invocation {
  Input input;
  const Command* command = nullptr;  ///< null: no command has this name
  std::string name{};                ///< as given: the command's, or an alias
  std::vector<std::string> arguments{};
  /// For each argument, whether it was quoted and so is data, neither a pattern nor an option.
  /// Empty if the words were not split from a line.
  std::vector<bool> quoted{};

  /// `words` begin with the name; `quoted` has a flag for each of them, or is empty.
  Invocation(Input from, std::span<const std::string> words, const std::vector<bool>& quoted = {});

  /// The flags that decide which arguments are options: those of quoted words, but on piped input
  /// none, as zkCli looks at the dash alone.
  std::vector<bool> data() const { return input == Input::Pipe ? std::vector<bool>() : quoted; }
  /// The name and the arguments.
  std::vector<std::string> words() const;
  /// The command that the last `count` arguments form.
  Invocation of_last(std::size_t count) const;

  /// Whether an option is among the arguments, as a separate word before any `--` and any program,
  /// and not quoted (see given_words). Works before the words are parsed.
  bool has_option(std::string_view option) const;
  bool requests_help() const { return has_option("--help"); }
  /// This decides which client the command gets.
  bool requests_dry_run() const { return has_option("--dry-run"); }
  /// Whether the arguments may contain -o. Cheap, but with false positives.
  bool may_choose_format() const;
};

}  // namespace zksh
