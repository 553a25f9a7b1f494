// Prose: prints results that are sentences.
#pragma once

#include "command/output.h"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace zksh {

/// Prints a result that is prose: on a terminal broken between words, and with further lines
/// indented like the first, or like the text of an item ("- …").
void print_prose(Output& out, const std::string& text);
template <class... Args>
void print_prose(Output& out, fmt::format_string<Args...> format, Args&&... args) {
  print_prose(out, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zksh
