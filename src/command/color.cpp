// Color: whether and how results are coloured.
#include "command/color.h"

#include "command/command.h"
#include "command/live_picture.h"
#include "config/settings.h"

#include <cstdlib>

namespace zksh {

bool use_color(std::string_view choice, bool on_terminal) {
  if (choice != "auto") return choice == "always";
  const char* const refused = std::getenv("NO_COLOR");
  return on_terminal && terminal_can_redraw() && (!refused || !*refused);
}

bool use_color(const Context& cx) {
  return use_color(cx.services.settings.value("color"), cx.out.style().out_is_terminal);
}

std::string_view color::of_marked_name(std::string_view name) {
  return name.ends_with('/') ? parent : name.ends_with('*') ? ephemeral : std::string_view();
}

}  // namespace zksh
