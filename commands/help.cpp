// help: show help.
#include "command/help.h"

#include "command/command.h"
#include "command/zkcli_style.h"
#include "node/node_json.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace zksh::command_help {
namespace {

struct Args {
  std::optional<std::string> name;
};

void declare(Options& o, Args& a) {
  std::vector<std::string> names;
  for (const Command* command : all_commands()) names.emplace_back(command->name);
  o.word_of("name", a.name, std::move(names),
            "A command, or a word that describes what you want to do; by default all commands are "
            "listed.");
}

void tell(Context& cx, const std::string& text) {
  if (cx.out.json())
    print_json(cx, Json::object().set("text", text));
  else
    cx.out.out(text);
}

int run(Context& cx, const Args& a) {
  if (!a.name && cx.input == Input::Pipe) {
    // On piped input zksh answers as zkCli does, which has no other help.
    cx.out.err(zkcli_usage(mimicked_zkcli(cx.services.settings)));
    if (!prints_as_34(cx)) cx.out.err_line("Command not found: Command not found help");
    return status::ok;
  }
  if (!a.name) {
    tell(cx, help_overview());
    return status::ok;
  }
  const Command* command = command_named(*a.name);
  if (!command) {
    if (const auto found = help_search(*a.name); !found.empty()) {
      tell(cx, found);
      return status::ok;
    }
    const auto similar = suggested_commands(*a.name);
    throw ValueError(fmt::format(
        "there is no command {}{}", *a.name,
        similar.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(similar, ", "))));
  }
  tell(cx, help_of(*command, help_width(cx.out)));
  return status::ok;
}

}  // namespace

extern const Command help_command =
    make_command<Args>({.name = "help",
                        .group = "Shell",
                        .summary = "Explain a command, or find commands by subject",
                        .keywords = {"usage", "manual", "search"},
                        .examples = {{"help", "List all commands."},
                                     {"help create", "Explain one command."},
                                     {"help backup", "Find commands by subject."}},
                        .json = "text",
                        .needs = Needs::Nothing,
                        .pages = true,
                        .allowed_in_transaction = true},
                       declare, run);
}  // namespace zksh::command_help
