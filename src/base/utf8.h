// Utf8: decoding and writing single code points, strict as RFC 3629.
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

}  // namespace zksh
