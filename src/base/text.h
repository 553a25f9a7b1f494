// Text: UTF-8, the columns that it takes on a terminal, and bytes shown escaped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zksh {

/// One step through a text: a code point and the bytes it takes, or one byte that fits none.
struct Utf8Step {
  char32_t code_point = 0;  ///< U+FFFD when not valid
  std::size_t length = 1;   ///< in bytes; 1 when not valid
  bool valid = false;
};

/// Decodes the code point that begins at `position` (which must lie within `text`). Overlong forms,
/// surrogates, values above U+10FFFF and cut-off sequences are not valid.
Utf8Step decode_utf8(std::string_view text, std::size_t position);

/// Whether all of a text is valid.
bool is_utf8(std::string_view text);

/// Appends a code point; it must be a Unicode scalar value.
void append_utf8(std::string& text, char32_t code_point);

/// The columns of a text without control characters, in UTF-8 whatever the locale says. Bytes that
/// are no UTF-8 count one each. From any thread.
std::size_t text_width(std::string_view text);

/// The text itself when it fits, else its beginning and the mark that stands for the rest. Never
/// wider than `columns`; never cut within a character.
std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view mark = "…");

/// Escapes what could move the cursor, set the title or fake a prompt: control bytes (C0, C1, DEL),
/// bidi marks and invalid UTF-8 become \n, \t, \xHH or \uHHHH; a backslash stays as it is.
/// `keep_newlines`: for values, whose lines are shown as lines.
std::string escape_for_terminal(std::string_view bytes, bool keep_newlines = false);

}  // namespace zksh
