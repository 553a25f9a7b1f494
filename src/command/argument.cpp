// Argument: how a usage line shows arguments.
#include "command/argument.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace zksh {

std::string Argument::syntax() const {
  const auto& name = names.front();
  if (kind == Kind::Program) return (marked ? "[-- " : "[") + name + " [argument…]]";
  const auto shown = name + (takes_rest() ? "…" : "");
  if (positional()) return required || demanded ? shown : "[" + shown + "]";
  return "[" + name + (value.empty() ? "" : " " + value) + "]";
}

std::vector<std::string> Argument::names_in(std::string_view syntax) const {
  const auto is_letter = [&](std::size_t at) {
    return at < syntax.size() && std::isalnum(static_cast<unsigned char>(syntax[at])) != 0;
  };
  const auto is_known = [&](const std::string& name) {
    auto at = syntax.find(name);
    while (at != std::string_view::npos && is_letter(at + name.size()))
      at = syntax.find(name, at + 1);
    return at != std::string_view::npos;
  };
  std::vector<std::string> known;
  std::ranges::copy_if(names, std::back_inserter(known), is_known);
  return known;
}

std::string syntax_of(std::span<const Argument> arguments) {
  std::string text;
  for (const bool positional : {false, true})
    for (const auto& argument : arguments) {
      if (argument.legacy || argument.common || argument.positional() != positional) continue;
      if (!text.empty()) text += ' ';
      text += argument.syntax();
    }
  return text;
}

}  // namespace zksh
