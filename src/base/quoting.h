// Quoting: how a text is written as a word of a line, so that split_words reads it back.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

/// A word as it is typed. Without `closing` it is the beginning of one that goes on.
struct WrittenWord {
  std::string text;
  std::string closing{};  ///< the quote that ends it; empty for a bare word
};

/// Writes any bytes but NUL: bare where that is the same word, else within "…", '…' or $'…', the
/// last with escapes for all that a terminal would not show. `quote` is the one that is to be kept
/// where it can be: '"', '\'', '$', or '\0' for none. What would be an operator, a pattern or an
/// order to the history as a bare word is quoted.
WrittenWord write_word(std::string_view text, char quote = '\0');

/// A whole word as it is typed: how a path is named in zksh's own messages, for copying from there.
/// A terminal shows all of it.
std::string as_word(std::string_view text);

}  // namespace zksh
