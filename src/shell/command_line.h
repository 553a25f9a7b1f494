// CommandLine: splits a line into the command's words, with a script's arguments filled in, and the
// operators.
#pragma once

#include "base/words.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct Operator {
  enum class Kind {
    Program,          ///< `|`
    File,             ///< `>`, `1>`
    Append,           ///< `>>`, `1>>`
    ErrorFile,        ///< `2>`
    AppendErrors,     ///< `2>>`
    ErrorsToResults,  ///< `2>&1`
    Foreign           ///< another shell's, which zksh refuses
  };
  Kind kind = Kind::Foreign;
  std::size_t begin = 0;  ///< byte offsets into the line
  std::size_t end = 0;

  bool names_file() const {
    return kind == Kind::File || kind == Kind::Append || kind == Kind::ErrorFile ||
           kind == Kind::AppendErrors;
  }
  std::string_view text_in(std::string_view line) const { return line.substr(begin, end - begin); }
};

/// The unquoted operators of a line up to the first `|`, which is the last of them: what follows is
/// another program's. An operator needs no blanks around it; as in sh, a number belongs to it only
/// if a word begins with the number. Empty for a comment.
std::vector<Operator> operators_in(std::string_view line);

/// Whether a text refers to arguments, in quotes or not.
bool names_arguments(std::string_view text);

/// Substitutes a script's arguments in bare words and "…", but not in '…' and $'…'. $N or ${N}
/// anywhere in a word is the Nth argument: whatever it contains, blanks or quotes, the word remains
/// one, its pattern characters are literal, and it is never an option. $# is their number, and a
/// word $@ becomes all of them, one word each. Throws ValueError naming an argument that was not
/// given. `line` is the text that the words were split from.
std::vector<Word> with_arguments(std::vector<Word> words, std::string_view line,
                                 const std::vector<std::string>& arguments);

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
/// there is none.
std::optional<std::string> background_line(std::string_view line);

}  // namespace zksh
