// Words: splits a line into words, as zkCli.sh does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// ASCII white space, which separates words. Java's \s is the same, so a no-break space is part of
/// a word.
inline constexpr std::string_view white_space = " \t\n\v\f\r";
inline bool is_white_space(char c) { return white_space.find(c) != std::string_view::npos; }
/// The text without white space at its ends.
std::string_view trimmed(std::string_view text);
/// Whether a line of a script is blank or a comment.
bool is_blank_or_comment(std::string_view line);

/// A word and its place: byte offsets into the line; `end` is one past the last byte.
struct Word {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool quoted = false;

  bool operator==(const Word&) const = default;
};

std::vector<std::string> texts_of(const std::vector<Word>& words);

/// Splits a line as zkCli.sh 3.8.0 does (ARGS_PATTERN in ZooKeeperMain.java), where that is sane. A
/// word is "…", '…', or a run without ASCII white space that begins with neither quote. A new word
/// may begin right after a closing quote; quotes inside a bare word are ordinary characters; there
/// are no escapes. zksh adds $'…' with C escapes (\n \t \\ \' \" \xHH \uHHHH \UHHHHHHHH …), so that
/// any bytes can be typed. A line whose first word begins with `#` is a comment and has no words.
/// Throws UsageError that points at an unclosed quote or an invalid escape.
std::vector<Word> split_words(std::string_view line);

/// Splits a line exactly as zkCli.sh 3.8.0: comments and $'…' are words like others, and a quote
/// that is not closed is left out. A line of white space has no words.
std::vector<Word> split_as_zkcli(std::string_view line);

/// An unfinished line: its complete words, and the word being typed.
struct TypedWords {
  std::vector<Word> words;
  Word last;  ///< empty after a blank; its text is what has been typed, without quotes
  /// The open quote: '"', '\'', '$' (for $'), or '\0'.
  char quote = '\0';
};

/// Splits a line that may be unfinished, up to the cursor. nullopt where no word can be typed: in a
/// comment, right after a closing quote, within an escape, and after an invalid one.
std::optional<TypedWords> split_typed(std::string_view line);

/// A word's place: byte offsets, quotes included.
struct WordPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t opening = 0;  ///< the length of its opening quote; 0 for a bare word
  bool open = false;        ///< its quote is not closed

  bool quoted() const { return opening > 0; }
  /// Where the text between the quotes begins and ends.
  std::size_t text_begin() const { return begin + opening; }
  std::size_t text_end() const { return end - (quoted() && !open ? 1 : 0); }
};

/// The places of a line's words. The line may have any mistake; an unclosed quote runs to its end.
/// Empty for a comment.
std::vector<WordPlace> word_places(std::string_view line);

/// The place of the first word that begins at or after `at`, in a line that is not a comment;
/// nullopt if there is none.
std::optional<WordPlace> word_place_from(std::string_view line, std::size_t at);

/// A line or command of a longer text: byte offsets, white_space around it included.
struct TextPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool open = false;  ///< has an unclosed quote, and so runs to the end of the text
};
enum class PartBy { Line, Command };

/// The places of a text's lines or commands (see split_commands), in order. A newline in quotes
/// does not end a line. At least one part, which may be empty.
std::vector<TextPart> parts_of(std::string_view text, PartBy by);

/// Splits the text of `-c`, or a typed line, into commands at unquoted `;` and newlines, but not at
/// the `;` before a member's port (server.4=host:2888:3888;2181). Blank commands are left out. An
/// unclosed quote runs to the end of the text, where split_words will report it.
std::vector<std::string> split_commands(std::string_view text);

/// A word as it is typed. Without `closing` it is the beginning of a longer word.
struct WrittenWord {
  std::string text;
  std::string closing{};  ///< the quote that ends it; empty for a bare word
};

/// Writes any bytes except NUL: bare if that reads back the same, else within "…", '…' or $'…', the
/// last with escapes for what a terminal would not show. `quote` ('"', '\'', '$'; '\0' for none) is
/// kept if possible. A bare word that would be or contain an operator, or be a pattern or a
/// history reference, is quoted.
WrittenWord write_word(std::string_view text, char quote = '\0');

/// A complete word as it is typed. zksh's messages name paths this way, ready to be copied; a
/// terminal shows every character.
std::string as_word(std::string_view text);
/// The words as they could be typed again, with blanks between them.
std::string as_words(const std::vector<std::string>& words);

}  // namespace zksh
