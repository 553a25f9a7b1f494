// WordBinding: the words of a command line handed to the arguments that they are meant for.
#pragma once

#include "command/argument.h"

#include <functional>
#include <string>
#include <vector>

namespace zksh {

/// Takes an option's value (of a flag, an empty one), or a positional's word. May throw UsageError.
using WordTaker = std::function<void(const std::string&)>;

/// Binds the words of one command line, those of a program behind `--` left out.
class WordBinding {
 public:
  /// `takers`: that of each argument, in the order of `arguments`. Both outlive it.
  WordBinding(const std::vector<Argument>& arguments, const std::vector<WordTaker>& takers)
      : arguments_(arguments), takers_(takers) {}

  /// Binds the options and returns the words that are none. Throws UsageError.
  std::vector<std::string> bind_options(std::vector<std::string> words) const;
  /// Binds the positional words and returns those that no argument took. Throws SyntaxError when
  /// there are too few.
  std::vector<std::string> bind_positionals(const std::vector<std::string>& words) const;

 private:
  std::string missing_text() const;
  void spread_values(std::vector<std::string>& words) const;
  void lengthen_dashes(std::vector<std::string>& words) const;
  void check_values(const std::vector<std::string>& words) const;
  void refuse_flag_values(const std::vector<std::string>& words) const;
  const Argument* option(const std::string& name) const;
  [[noreturn]] void reject(const std::string& word, const std::vector<std::string>& words) const;

  const std::vector<Argument>& arguments_;
  const std::vector<WordTaker>& takers_;
};

}  // namespace zksh
