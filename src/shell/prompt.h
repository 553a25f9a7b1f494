// Prompt: what stands before the line that is typed.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

/// What a prompt can tell.
struct PromptFacts {
  std::string server;
  std::string state;  ///< the session's
  std::size_t number = 0;
  std::string node;        ///< the current one; "/" is not worth a word
  std::string profile{};   ///< in use, or empty
  bool dangerous = false;  ///< a read-only or production profile: it is shown in red
  std::string locks{};     ///< held, or empty
  int status = 0;          ///< of the last command; 0 is not worth a word
};

/// Fills a format in (its letters: Settings, "prompt"). What comes from znodes is escaped, as is
/// the format itself: neither may send control codes. With `colors` SGR sequences are in it.
std::string prompt_text(std::string_view format, const PromptFacts& facts, bool colors);

}  // namespace zksh
