// Command line: a line parted into the command's words and where its results go.
#pragma once

#include "base/words.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Where results go in place of standard output.
struct RedirectTo {
  enum class Kind { Nowhere, Program, File, Append };
  Kind kind = Kind::Nowhere;
  std::string target{};  ///< a program's line, as it was typed, for /bin/sh; or a file's name

  explicit operator bool() const { return kind != Kind::Nowhere; }
  bool operator==(const RedirectTo&) const = default;
};

struct CommandLine {
  std::vector<Word> words;
  RedirectTo to{};
};

/// Splits a line (split_words). With `redirects`, the first `|`, `>` or `>>` outside quotes ends
/// the command, with blanks around it or not. Behind `|` all the rest belongs to the program;
/// behind `>` and `>>` stands one word, in which an unquoted `~/` at the begin is the home
/// directory. Throws UsageError as split_words, and when no command stands before the sign, or
/// behind it nothing, or more than one file; with `redirects` also for `&&`, `||` and `<`, with the
/// remedy. With `arguments`, the words of the command and the file's name have them
/// (with_arguments).
CommandLine parse_command_line(std::string_view line, bool redirects,
                               const std::vector<std::string>* arguments = nullptr);

/// The commands of a typed line: parted at `;` outside quotes, but what stands behind the first `|`
/// belongs to the program. Blank ones are left out.
std::vector<std::string> typed_commands(std::string_view line);

}  // namespace zksh
