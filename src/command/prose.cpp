// Prose: prints results that are sentences.
#include "command/prose.h"

#include "base/text.h"
#include "command/screen.h"

#include <algorithm>
#include <string_view>

namespace zksh {

void print_prose(Output& out, const std::string& text) {
  if (!out.style().out_is_terminal) return out.out(text + '\n');
  const auto columns = terminal_size().columns;
  const auto indent = std::min(text.find_first_not_of(" -"), columns / 2);
  auto broken = text.substr(0, indent);
  for (const char c : wrapped(std::string_view(text).substr(indent), columns - indent)) {
    broken += c;
    if (c == '\n') broken.append(indent, ' ');
  }
  out.out(broken + '\n');
}

}  // namespace zksh
