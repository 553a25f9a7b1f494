// Words: how a line is split into words, as zkCli.sh splits it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A word of a line, and where it stood (byte offsets into the line; `end` is one past the last).
struct Word {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool quoted = false;

  bool operator==(const Word&) const = default;
};

/// Splits a line as zkCli.sh 3.8.0's tokenizer does where that is sane (ARGS_PATTERN in
/// ZooKeeperMain.java): a word is "…", '…', or a run without ASCII white space that begins with
/// neither quote; after a closing quote a new word may start at once; quotes inside a bare word are
/// ordinary, and there are no escapes. Beyond zkCli: $'…' takes C escapes (\n \t \\ \' \" \xHH
/// \uHHHH \UHHHHHHHH …), so that any bytes can be typed. A line whose first word begins with `#` is
/// a comment: no words.
/// Throws UsageError that points at an unclosed quote or a bad escape.
std::vector<Word> split_words(std::string_view line);

/// A line as far as it is typed: the words that have ended, and the one that is being typed.
struct TypedWords {
  std::vector<Word> words;
  Word last;  ///< empty behind a blank; its text is what stands there so far, without quotes
  /// The quote that is open: '"', '\'', '$' (of $'), or '\0'.
  char quote = '\0';
};

/// Splits a line that may be unfinished, up to the cursor. No value where no word can be typed: in
/// a comment, right behind a closing quote, in the middle of an escape, and after a bad one.
std::optional<TypedWords> split_typed(std::string_view line);

/// Where a word of a line stands: byte offsets, the quotes included.
struct WordPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool quoted = false;
};

/// Where the words stand in a line, which may have any mistake: a quote that is not closed runs to
/// its end. None in a comment.
std::vector<WordPlace> word_places(std::string_view line);

/// A part of a text of several commands: byte offsets, the blanks around it included.
struct TextPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool open = false;  ///< a quote is not closed: the part goes on to the end of the text
};
enum class PartBy { Line, Command };

/// Where the lines of a text stand, or its commands (see split_commands): newlines in quotes end
/// none. At least one, perhaps empty; in the order of the text.
std::vector<TextPart> parts_of(std::string_view text, PartBy by);

/// Splits the text of `-c`, or a typed line, into commands at unquoted `;` and newlines, but not at
/// the `;` before a member's port (server.4=host:2888:3888;2181). Blank ones are left out.
/// An unclosed quote runs to the end of the text; split_words will point at it.
std::vector<std::string> split_commands(std::string_view text);

}  // namespace zksh
