// CommandLine: splits a line into the command's words and the redirection of its results.
#pragma once

#include "base/words.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Where results or errors go instead of their standard stream.
struct RedirectTo {
  enum class Kind { Nowhere, Program, File, Append, Results };
  Kind kind = Kind::Nowhere;
  std::string target{};  ///< a program's command line for /bin/sh, as typed; or a file name

  explicit operator bool() const { return kind != Kind::Nowhere; }
  bool is_file() const { return kind == Kind::File || kind == Kind::Append; }
  bool operator==(const RedirectTo&) const = default;
};

struct CommandLine {
  std::vector<Word> words;
  RedirectTo to{};      ///< the results; never Results
  RedirectTo errors{};  ///< never Program

  bool redirects() const { return to || errors; }
};

/// Splits a line (split_words). With `redirects`, the first unquoted operator (operators_in) ends
/// the command. After `|`, the rest is the program's; `>`, `>>`, `2>` and `2>>` are followed by one
/// word each, in which an unquoted `~/` at the beginning is the home directory; `2>&1` sends errors
/// where the results go. Throws UsageError as split_words, and if there is no command before the
/// operator, nothing or more than one file after it, or two places for one stream; with `redirects`
/// also for operators of other shells, with the remedy. `arguments` are substituted in the
/// command's words and the file names (with_arguments).
CommandLine parse_command_line(std::string_view line, bool redirects,
                               const std::vector<std::string>* arguments = nullptr);

/// The commands of a typed line, separated by unquoted `;`. What follows the first `|` belongs to
/// the program. Blank commands are left out.
std::vector<std::string> typed_commands(std::string_view line);

/// The line without the unquoted `&` after its words, which runs it in the background; nullopt if
/// it does not end so.
std::optional<std::string> background_line(std::string_view line);

}  // namespace zksh
