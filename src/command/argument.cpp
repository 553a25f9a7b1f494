// Argument: how a usage line shows an argument.
#include "command/argument.h"

namespace zksh {

std::string Argument::syntax() const {
  const auto& name = names.front();
  if (kind == Kind::Program) return (marked ? "[-- " : "[") + name + " [argument…]]";
  const auto shown = name + (takes_rest() ? "…" : "");
  if (positional()) return required ? shown : "[" + shown + "]";
  return "[" + name + (value.empty() ? "" : " " + value) + "]";
}

}  // namespace zksh
