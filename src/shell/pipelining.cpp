// Interpreter: lines in two halves, so that the request of one is sent before the answer of
// another.
#include "command/report.h"
#include "command/transaction.h"
#include "shell/interpreter.h"

namespace zksh {

bool Interpreter::has_halves(const Command& command, const std::vector<std::string>& words) const {
  const auto arguments = std::span(words).subspan(1);
  return command.start && !asks_for_help(command, arguments) &&
         !wants_dry_run(command, arguments) && !around_.settings.timing &&
         !around_.transaction.get().is_open();
}

std::optional<Interpreter::Begun> Interpreter::begin_line(const std::string& line, bool again) {
  std::optional<Begun> begun;
  begin_command({});
  const int result = reporting(out_, [&] {
    auto typed = parsed(line);
    const auto words = words_of(std::move(typed.words));
    const Command* command = words.texts.empty() ? nullptr : command_named(words.texts.front());
    if (!command || typed.to || !has_halves(*command, words.texts)) return status::ok;
    begun = {.command = command, .name = words.texts.front()};
    if (!again) remember(line);
    return explaining(*command, begun->name, [&] {
      begin_command(command->name);
      const auto state = around_.client.current_state();
      if (state == SessionState::Closed || state == SessionState::AuthFailed)
        return not_connected();
      refuse_writes(*command);
      if (!halved_) halved_.emplace(context_for(words, around_.client, out_, nullptr));
      halved_->words = words.texts;
      halved_->quoted = words.quoted;
      halved_->writes = command->writes;
      begun->sent = command->start(*halved_, {words.texts.begin() + 1, words.texts.end()});
      return status::ok;
    });
  });
  if (result == status::ok) return begun;
  if (!begun) begun.emplace();
  begun->sent = finish(result);
  return begun;
}

int Interpreter::finish_line(const Begun& begun) {
  if (!begun.sent.is_pending()) return begun.sent.finish();
  return finish(reporting(out_, [&] {
    return explaining(*begun.command, begun.name, [&] {
      begin_command(begun.command->name);
      return begun.sent.finish();
    });
  }));
}

}  // namespace zksh
