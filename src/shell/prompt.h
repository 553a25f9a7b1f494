// Prompt: formats the prompt.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

/// What a prompt can show.
struct PromptFacts {
  std::string server;
  std::string state;  ///< the session's
  std::size_t number = 0;
  std::string node;        ///< the current node; "/" is not shown
  std::string profile{};   ///< in use, or empty
  bool dangerous = false;  ///< a read-only or production profile: shown in red
  std::string locks{};     ///< held, or empty
  int status = 0;          ///< of the last command; 0 is not shown
  bool ascii = false;      ///< the terminal shows nothing else
};

/// Expands a format (its letters are described in Settings, "prompt"). Escapes what comes from
/// znodes, and the format itself, against control codes. Long paths are cut in the middle, so that
/// there is room to type. With `colors`, includes SGR sequences.
std::string prompt_text(std::string_view format, const PromptFacts& facts, bool colors);

}  // namespace zksh
