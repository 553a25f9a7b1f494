// Confirmation: asks the user to confirm a removal.
#include "command/confirmation.h"

#include "base/error.h"
#include "base/words.h"
#include "config/settings.h"

#include <fmt/core.h>

namespace zksh {

bool needs_confirmation(const Context& cx, bool yes) {
  if (!cx.services.settings.confirm || yes || cx.input == Input::Pipe || cx.rehearsal) return false;
  if (cx.background) throw UsageError("cannot ask for confirmation in the background; use --yes");
  return cx.can_ask();
}

namespace {

/// The question as shown, which mentions production servers.
std::string shown_question(const Context& cx, const std::string& question) {
  return (cx.services.protection.production ? "PRODUCTION: " : "") + question;
}

}  // namespace

std::optional<std::string> removal_refusal(const Context& cx, const PlannedRemoval& removal) {
  constexpr std::size_t many = 1000;
  constexpr const char* nothing = "nothing was deleted";
  const auto& [what, word, path, nodes] = removal;
  const auto* const them = nodes == 1 ? "it" : "them";
  if (nodes >= many || cx.services.protection.production) {
    const auto question = fmt::format("{} Type {} to delete {}: ", what, as_word(word), them);
    const auto answer = cx.ask(shown_question(cx, question), false);
    const bool agreed =
        answer && (answer == word || answer == as_word(word) || (!path.empty() && answer == path));
    return agreed ? std::nullopt
                  : std::optional(fmt::format("{}: the answer was not {}", nothing, as_word(word)));
  }
  if (confirmed_by_user(cx, fmt::format("{} Delete {}?", what, them))) return std::nullopt;
  return nothing;
}

bool confirmed_by_user(const Context& cx, const std::string& question) {
  const auto answer = cx.ask(shown_question(cx, question) + " [y/N] ", false);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace zksh
