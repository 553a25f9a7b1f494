// conf: list or change settings.
#include "base/mapped.h"
#include "base/text.h"
#include "command/command.h"
#include "command/prose.h"
#include "command/screen.h"
#include "config/settings.h"
#include "node/node_json.h"

namespace zksh::command_conf {
namespace {

struct Args {
  std::optional<std::string> name;
  std::optional<std::string> value;
};

void declare(Options& o, Args& a) {
  o.word_of("name", a.name,
            mapped<std::string>(Settings::descriptions(), &Settings::Description::name),
            "The setting; by default all are listed.");
  o.text("value", a.value, "The new value; by default the current one is shown.");
  std::map<std::string, std::vector<std::string>, std::less<>> choices;
  for (const auto& setting : Settings::descriptions())
    choices[std::string(setting.name)] = {setting.choices.begin(), setting.choices.end()};
  o.suggest_after(choices);
}

/// As many words of the help as fit on the line after `columns` columns; none if too few would fit
/// to say anything.
std::string in_short(const Context& cx, std::string_view help, std::size_t columns) {
  const auto sentence = help.substr(0, help.find_first_of(".:;"));
  if (!cx.out.style().out_is_terminal) return std::string(sentence);
  constexpr std::size_t least = 20;
  const auto room = terminal_size().columns;
  if (room < columns + least) return {};
  return cut_after_word(sentence, room - columns, cut_mark());
}

void print_setting(Context& cx, const Settings::Description& setting, std::size_t widest,
                   bool in_list) {
  const auto value = cx.services.settings.value(setting.name);
  const auto origin = cx.services.settings.origin(setting.name);
  if (cx.out.json())
    return print_json(cx, Json::object()
                              .set("name", setting.name)
                              .set("value", value)
                              .set("origin", origin)
                              .set("help", setting.help));
  if (cx.out.plain()) return cx.out.line("{}={}", setting.name, cx.out.shown(value));
  const auto line = fmt::format("{:{}} = {:<10} {:<10} ", setting.name, widest,
                                value.empty() || value.find(' ') != std::string::npos
                                    ? '"' + cx.out.shown(value) + '"'
                                    : cx.out.shown(value),
                                '(' + origin + ')');
  if (in_list)
    cx.out.line("{}{}", line, in_short(cx, setting.help, text_width(line)));
  else
    print_prose(cx.out, "{}{}", line, setting.help);
}

int run(Context& cx, const Args& a) {
  if (a.value) {
    cx.services.settings.set(*a.name, *a.value, "conf");
    return status::ok;
  }
  if (a.name) {
    cx.services.settings.value(*a.name);  // throws, with a suggestion, if there is no such setting
    print_setting(cx, *Settings::find(*a.name), a.name->size(), false);
    return status::ok;
  }
  std::size_t widest = 0;
  for (const auto& setting : Settings::descriptions())
    widest = std::max(widest, setting.name.size());
  for (const auto& setting : Settings::descriptions()) print_setting(cx, setting, widest, true);
  return status::ok;
}

}  // namespace

extern const Command conf_command = make_command<Args>(
    {.name = "conf",
     .group = "Shell",
     .summary = "Show the settings, or change one",
     .keywords = {"settings", "options", "configuration", "preferences", "profile", "production",
                  "read-only", "tls", "ssl", "sasl", "kerberos", "certificate"},
     .details =
         "Lists each setting with its value, where the value comes from, and what it means. "
         "`conf NAME` explains one; `conf NAME VALUE` changes it until zksh ends. Initial "
         "values come from the configuration file: `zksh --show-config` shows all of it. What "
         "holds for a whole run, such as --profile, --read-only and --tls, is explained by "
         "`zksh --help`, zksh(1) and zksh-security(7).",
     .examples = {{"conf", "All settings."},
                  {"conf hints off", "Turn off the hints."},
                  {"conf prompt", "Explain one setting."}},
     .json = "name value origin help",
     .json_fields = {{"help", "string", "What the setting does."},
                     {"name", "string", "The setting's name."},
                     {"origin", "string", "Where the setting's value comes from."},
                     {"value", "text", "The setting's value."}},
     .needs = Needs::Nothing,
     .pages = true},
    declare, run);
}  // namespace zksh::command_conf
