// Escape: making bytes from znodes harmless to a terminal.
#include "base/escape.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <iterator>

namespace zksh {
namespace {

// Invisible characters, and those that change the order of what is shown, let one name pass for
// another.
bool is_deceptive(char32_t c) {
  return (c >= 0x200B && c <= 0x200F) ||  // zero width, left-to-right and right-to-left marks
         (c >= 0x2028 && c <= 0x202E) ||  // line and paragraph separators, embeddings, overrides
         (c >= 0x2060 && c <= 0x206F) ||  // word joiner, invisible operators, isolates
         c == 0x061C || c == 0xFEFF ||    // Arabic letter mark, byte order mark
         (c >= 0xE0000 && c <= 0xE007F);  // tags
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

void append_escaped(std::string& text, const Utf8Step& step, char byte) {
  const auto out = std::back_inserter(text);
  const auto c = static_cast<unsigned>(step.code_point);
  if (step.length == 1) {
    if (byte == '\n') {
      text += "\\n";
    } else if (byte == '\t') {
      text += "\\t";
    } else {
      fmt::format_to(out, "\\x{:02x}", static_cast<unsigned char>(byte));
    }
  } else if (c < 0x10000) {
    fmt::format_to(out, "\\u{:04x}", c);
  } else {
    fmt::format_to(out, "\\U{:08x}", c);
  }
}

}  // namespace

std::string escape_for_terminal(std::string_view bytes, bool keep_newlines) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const auto step = decode_utf8(bytes, at);
    const bool kept_newline = keep_newlines && bytes[at] == '\n';
    const bool harmful =
        !step.valid || is_control(step.code_point) || is_deceptive(step.code_point);
    if (harmful && !kept_newline) {
      append_escaped(text, step, bytes[at]);
    } else {
      text += bytes.substr(at, step.length);
    }
    at += step.length;
  }
  return text;
}

}  // namespace zksh
