// Given words: what each word of a command line is to its command: an option, a value, an argument.
#pragma once

#include "command/argument.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Whether a word begins with a dash and is not a number. "-" alone counts too.
bool looks_like_option(std::string_view word);

/// The options that one word names: "--stat", "-v5", "-v=5", "-sw".
struct OptionWord {
  struct Named {
    const Argument* option;
    std::optional<std::string> value{};  ///< the part of the word that is its value
  };
  std::vector<Named> named;
  bool known = true;  ///< no part of the word names an option that is not declared

  /// The option whose value is the next word, or null.
  const Argument* awaiting() const;
};
/// A name is matched as declared, or with one dash for two (-server) or two for one (--add).
OptionWord option_word(const std::vector<Argument>& arguments, const std::string& word);

/// The words of a command line, its name left out, sorted by what they are to the command. The line
/// may still be incomplete.
struct GivenWords {
  struct Option {
    const Argument* option;
    std::optional<std::string> value;
    std::string word;    ///< in which it was named
    bool apart = false;  ///< the value is the next word
  };
  std::vector<Option> options;  ///< in their order
  std::vector<std::string> positionals;
  const Argument* awaiting = nullptr;    ///< the option whose value the next word is
  std::optional<std::string> unknown{};  ///< the first word that names an option not declared
  bool marked = false;                   ///< there was a `--`
  bool options_ended = false;            ///< by `--`, or by the program
  std::size_t program_words = 0;         ///< at the end, of the program that the command is to run
  const Argument* program = nullptr;     ///< declared: the command runs a program

  /// Whether the next word may begin the program without a `--` before it.
  bool may_begin_program() const { return program && !program->marked; }
};
GivenWords given_words(const std::vector<Argument>& arguments, std::span<const std::string> words);

/// The positional argument that takes the word with this index, or null.
const Argument* positional_at(const std::vector<Argument>& arguments, std::size_t index);

/// "unknown option -x", with the nearest of the declared names where there is one.
std::string unknown_option_text(const std::vector<Argument>& arguments, const std::string& word);

}  // namespace zksh
