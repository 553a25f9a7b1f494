// Quoting: writes a text as a word that split_words reads back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

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
