// Color: whether a command's results are coloured, and how.
#include "color.h"

#include "command.h"
#include "live_picture.h"
#include "settings.h"

#include <cstdlib>

namespace zksh {

bool wants_color(const Context& cx) {
  const auto choice = cx.settings.value("color");
  if (choice != "auto") return choice == "always";
  const char* const refused = std::getenv("NO_COLOR");
  return cx.out.style().out_is_terminal && terminal_can_redraw() && (!refused || !*refused);
}

}  // namespace zksh
