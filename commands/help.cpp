// help: show help.
#include "command/help.h"

#include "command/command.h"
#include "command/zkcli_style.h"
#include "node/node_json.h"

#include <fmt/ranges.h>

namespace zksh::command_help {
namespace {

struct Args {
  std::optional<std::string> name;
};

void declare(Options& o, Args& a) {
  std::vector<std::string> names;
  for (const Command* command : all_commands()) names.emplace_back(command->name);
  names.insert(names.end(), {"keys", "statuses", "codes"});
  o.word_of(
      "name", a.name, std::move(names),
      "A command, a word that describes what you want to do, keys, or statuses (exit codes); by "
      "default all commands are listed.");
}

/// The help for a command, or the commands that a word describes.
std::string help_for(Context& cx, const std::string& name) {
  if (const Command* const command = command_named(name))
    return help_of(*command, help_width(cx.out));
  const auto width = help_width(cx.out);
  if (name == "keys") return help_keys(width);
  if (name == "statuses" || name.find("code") != std::string::npos) return help_statuses(width);
  if (auto found = help_search(name, width); !found.empty()) return found;
  const auto similar = suggested_commands(name);
  throw ValueError(fmt::format(
      "there is no command {}{}", name,
      similar.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(similar, ", "))));
}

int run(Context& cx, const Args& a) {
  if (!a.name && cx.input == Input::Pipe) {
    // On piped input zksh answers as zkCli does, which has no other help.
    cx.out.err(zkcli_usage(mimicked_zkcli(cx.services.settings)));
    if (!prints_as_34(cx)) cx.out.err_line("Command not found: Command not found help");
    return status::ok;
  }
  const auto text = a.name ? help_for(cx, *a.name) : help_overview(help_width(cx.out));
  if (cx.out.json())
    print_json(cx, Json::object().set("text", text));
  else
    cx.out.out(text);
  return status::ok;
}

}  // namespace

extern const Command help_command =
    make_command<Args>({.name = "help",
                        .group = "Shell",
                        .summary = "Explain a command, or find commands by subject",
                        .keywords = {"usage", "manual", "search", "keys", "shortcuts", "keyboard",
                                     "?", "\\?", "\\h", "man", "codes", "statuses"},
                        .examples = {{"help", "List all commands."},
                                     {"help create", "Explain one command."},
                                     {"help backup", "Find commands by subject."},
                                     {"help keys", "The keys at the prompt."},
                                     {"help statuses", "What exit statuses mean."}},
                        .json = "text",
                        .needs = Needs::Nothing,
                        .strict = false,
                        .pages = true,
                        .allowed_in_transaction = true},
                       declare, run);
}  // namespace zksh::command_help
