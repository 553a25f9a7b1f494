// Text: UTF-8, its width on a terminal, escapes for terminals, and the words closest to a
// misspelled one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A decoded code point, or one invalid byte.
struct Utf8Step {
  char32_t code_point = 0;  ///< U+FFFD if invalid
  std::size_t length = 1;   ///< in bytes; 1 if invalid
  bool valid = false;
};

/// Decodes the code point at `position`, which must lie within `text`. Overlong forms, surrogates,
/// values above U+10FFFF and truncated sequences are invalid.
Utf8Step decode_utf8(std::string_view text, std::size_t position);

/// Whether the whole text is valid UTF-8.
bool is_utf8(std::string_view text);

/// Appends a code point, which must be a Unicode scalar value.
void append_utf8(std::string& text, char32_t code_point);

/// The lower case of an ASCII letter; any other byte is returned unchanged.
char lower_case(char c);
bool equal_ignoring_case(std::string_view a, std::string_view b);

bool is_printable_ascii(std::string_view text);

/// The columns that a text without control characters takes on a terminal, in UTF-8 whatever the
/// locale. An invalid byte takes one. From any thread.
std::size_t text_width(std::string_view text);

/// The text if it fits, else as much of its beginning as fits before `mark`. Never wider than
/// `columns`, never cut within a character.
std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view mark = "…");

/// The text with newlines in place of blanks where its lines are wider than `columns`; a word that
/// is wider than that stays whole.
std::string wrapped(std::string_view text, std::size_t columns);

/// The text if it fits, else as many of its first words as do before `mark`.
std::string cut_after_word(std::string_view text, std::size_t columns, std::string_view mark = "…");

/// The beginning of the character that the byte at `at` is part of.
std::size_t character_begin(std::string_view text, std::size_t at);

/// The parts of a text between separators; at least one, which may be empty. They point into it.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of a text, without their newlines; they point into it. A final newline begins no
/// further line.
std::vector<std::string_view> lines_of(std::string_view text);

/// The text without these characters at its beginning.
std::string_view without_leading(std::string_view text, std::string_view characters);

/// Escapes what could move the cursor, set the title or fake a prompt: control bytes (C0, C1, DEL),
/// bidi marks and invalid UTF-8 become \n, \t, \xHH or \uHHHH. Backslashes are not escaped.
/// `keep_lines`: for values, whose newlines and tabs are kept.
std::string escape_for_terminal(std::string_view bytes, bool keep_lines = false);

/// The text if it fits, else with short guids if it then fits, else its beginning and its end with
/// `mark` between them: the end of a path or of a sequential node's name says more than its middle.
/// Never wider than `columns`, never cut within a character. The text must already be escaped for a
/// terminal.
std::string cut_middle(std::string_view text, std::size_t columns, std::string_view mark = "…");

/// The text with the first eight digits and `mark` for each guid in it, as 8-4-4-4-12 or as 32
/// hexadecimal digits: "/l/_c_8fedd093…-lock-0000000004".
std::string with_short_guids(std::string_view text, std::string_view mark = "…");

/// At most three candidates: the nearest of those that `word` is a prefix of, and those within a
/// small edit distance (Damerau-Levenshtein, optimal string alignment): one edit, two from seven
/// letters, three from thirteen. A letter in the wrong case counts half an edit, as does a word
/// that differs in nothing else.
std::vector<std::string> suggestions(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace zksh
