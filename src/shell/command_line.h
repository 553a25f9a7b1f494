// CommandLine: splits a line into the command's words and the redirection of its results.
#pragma once

#include "base/words.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Where results go instead of standard output.
struct RedirectTo {
  enum class Kind { Nowhere, Program, File, Append };
  Kind kind = Kind::Nowhere;
  std::string target{};  ///< a program's command line for /bin/sh, as typed; or a file name

  explicit operator bool() const { return kind != Kind::Nowhere; }
  bool operator==(const RedirectTo&) const = default;
};

struct CommandLine {
  std::vector<Word> words;
  RedirectTo to{};
};

/// Splits a line (split_words). With `redirects`, the first unquoted `|`, `>` or `>>` ends the
/// command, with or without blanks around it. After `|`, the rest is the program's; after `>` and
/// `>>` there is one word, in which an unquoted `~/` at the beginning is the home directory. Throws
/// UsageError as split_words, and if there is no command before the operator, nothing or more than
/// one file after it; with `redirects` also for `&&`, `||` and `<`, with the remedy. `arguments`
/// are substituted in the command's words and the file name (with_arguments).
CommandLine parse_command_line(std::string_view line, bool redirects,
                               const std::vector<std::string>* arguments = nullptr);

/// The commands of a typed line, separated by unquoted `;`. What follows the first `|` belongs to
/// the program. Blank commands are left out.
std::vector<std::string> typed_commands(std::string_view line);

}  // namespace zksh
