// Argument: how a usage line shows arguments.
#include "command/argument.h"

namespace zksh {

std::string Argument::syntax() const {
  const auto& name = names.front();
  if (kind == Kind::Program) return (marked ? "[-- " : "[") + name + " [argument…]]";
  const auto shown = name + (takes_rest() ? "…" : "");
  if (positional()) return required || demanded ? shown : "[" + shown + "]";
  return "[" + name + (value.empty() ? "" : " " + value) + "]";
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
