// zkCli style: whether results look like today's zkCli or like 3.4's.
#include "command/zkcli_style.h"

#include "config/settings.h"

namespace zksh {

bool prints_as_34(const Context& cx) {
  return !cx.out.plain() && !cx.out.json() && cx.services.settings.value("zkcli") == "3.4";
}

}  // namespace zksh
