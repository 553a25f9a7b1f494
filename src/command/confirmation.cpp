// Confirmation: asks the user to confirm a removal.
#include "command/confirmation.h"

#include "base/error.h"
#include "config/settings.h"

namespace zksh {

bool needs_confirmation(const Context& cx, bool yes) {
  if (!cx.services.settings.confirm || yes || cx.input == Input::Pipe || cx.rehearsal) return false;
  if (cx.background) throw UsageError("cannot ask for confirmation in the background; use --yes");
  return cx.can_ask();
}

std::string removal_question(const Context& cx, const std::string& question) {
  return (cx.services.protection.production ? "PRODUCTION: " : "") + question;
}

bool confirmed_by_user(const Context& cx, const std::string& question) {
  const auto answer = cx.ask(removal_question(cx, question) + " [y/N] ", false);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace zksh
