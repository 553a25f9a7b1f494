// GivenWords: classifies the words of a command line: options, their values, arguments.
#pragma once

#include "command/options.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The option with exactly this name, or null.
const Argument* option_named(const std::vector<Argument>& arguments, std::string_view name);

/// Whether a word begins with a dash and is not a number. "-" counts too.
bool looks_like_option(std::string_view word);

/// The options named by one word: "--stat", "-v5", "-v=5", "-sw".
struct OptionWord {
  struct Named {
    const Argument* option;
    std::optional<std::string> value{};  ///< the part of the word that is its value
  };
  std::vector<Named> named;  ///< empty if not all options in the word are declared

  /// The option whose value is the next word, or null.
  const Argument* awaiting() const;
};
/// Matches names as declared, or with one dash instead of two (-server) or two instead of one
/// (--add).
OptionWord option_word(const std::vector<Argument>& arguments, const std::string& word);

/// The classified words of a command line, without its name. The line may be incomplete.
struct GivenWords {
  struct Option {
    const Argument* option;
    std::optional<std::string> value;
    std::string word;    ///< the word that named it
    bool apart = false;  ///< the value is the next word, which is not quoted
  };
  std::vector<Option> options;  ///< in order
  std::vector<std::string> positionals;
  std::vector<bool> quoted{};          ///< of each of them
  std::vector<bool> bare{};            ///< of each: whether it is neither quoted nor after `--`
  const Argument* awaiting = nullptr;  ///< the option whose value is the next word
  std::vector<std::string> unknown{};  ///< words with an undeclared option, in their order
  std::size_t before_unknown = 0;      ///< how many positionals precede the first of them
  bool marked = false;                 ///< there was a `--`
  bool options_ended = false;          ///< by `--`, the program or the line's command
  std::size_t program_words = 0;       ///< number of words of the program to run
  const Argument* program = nullptr;   ///< set if the command runs a program

  /// Whether the next word may begin the program without a `--`.
  bool may_begin_program() const { return program && !program->marked; }
};
/// `quoted` has a flag for each word; missing ones are false. A quoted word is data: never an
/// option or `--`.
GivenWords given_words(const std::vector<Argument>& arguments, std::span<const std::string> words,
                       const std::vector<bool>& quoted = {});

/// The argument for the positional word with this index, or null.
const Argument* positional_at(const std::vector<Argument>& arguments, std::size_t index);

}  // namespace zksh
