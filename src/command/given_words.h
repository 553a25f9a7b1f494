// Given words: what the words of a command line that have been typed are to the command.
#pragma once

#include "command/options.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Begins with a dash, and is not a number.
bool looks_like_option(std::string_view word);

/// The option of that name, or null. One with one dash too few (zkCli's -server) or too many
/// (--add) is meant all the same.
const Argument* find_option(const std::vector<Argument>& arguments, std::string_view word);

/// An option as it stands in a word, perhaps with its value.
struct GivenOption {
  const Argument* option = nullptr;  ///< null: the word is none, or an unknown one
  std::optional<std::string> value{};

  bool awaits_value() const;
};
/// Of a cluster (-sw) the last one.
GivenOption option_in(const std::vector<Argument>& arguments, const std::string& word);

/// What has been given so far.
struct GivenWords {
  std::vector<const Argument*> options;  ///< those that were named
  const Argument* awaiting = nullptr;    ///< the option whose value the next word is
  std::size_t positionals = 0;
  bool options_ended = false;         ///< by `--`, or by the program
  std::size_t program_words = 0;      ///< of the program that the command is to run
  const Argument* program = nullptr;  ///< the command runs one

  /// Without a `--` before it.
  bool may_begin_program() const { return program && !program->marked; }
};
/// `words`: without the command's name.
GivenWords given_words(const std::vector<Argument>& arguments, std::span<const std::string> words);

/// How many of the words are the command's own; behind them stands its program.
std::size_t own_words(const std::vector<Argument>& arguments, std::span<const std::string> words);

/// The positional argument that takes the word with this index, or null.
const Argument* positional_at(const std::vector<Argument>& arguments, std::size_t index);

}  // namespace zksh
