// Settings: what `conf` can change while zksh runs, and how it is set when zksh takes the place of
// zkCli.sh.
#include "config/settings.h"

#include "base/error.h"
#include "base/mapped.h"
#include "base/text.h"
#include "client/acl_text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace zksh {
namespace {

constexpr std::array<std::string_view, 4> yes{"on", "true", "yes", "1"};
constexpr std::array<std::string_view, 4> no{"off", "false", "no", "0"};

const Settings::Description& known(std::string_view name) {
  if (const auto* found = Settings::find(name)) return *found;
  const auto names = mapped<std::string>(Settings::descriptions(), &Settings::Description::name);
  const auto similar = suggestions(std::string(name), names);
  throw ValueError(fmt::format("no such setting: {}{}", name,
                               similar.empty()
                                   ? "; `conf` lists them"
                                   : fmt::format("; did you mean {}?", similar.front())));
}

Settings::Description a_switch(std::string_view name, std::string_view initial,
                               std::string_view help, std::atomic<bool> Settings::*flag) {
  return {.name = name, .initial = initial, .help = help, .choices = {"on", "off"}, .flag = flag};
}

/// What is wrong with an ACL that may contain `creator`. Quotes no entry, as it may hold a
/// password.
std::optional<std::string> lock_acl_flaw(std::string_view value) {
  for (const auto text : split(value, ',')) {
    if (text == "creator") continue;
    const auto parsed = parse_acl(text);
    if (!parsed.complaints.empty() || parsed.acl.empty())
      return "it is not an ACL: an entry is creator, or scheme:id:perms with letters of cdrwa";
    const auto& entry = parsed.acl.front();
    const auto colon = entry.id.find(':');
    const auto from = colon == std::string::npos ? "" : entry.id.substr(colon + 1);
    const bool is_asked = entry.scheme == "digest" && colon != std::string::npos &&
                          (from.empty() || from.starts_with('@'));
    if (auto flaw = acl_flaw(entry); flaw && !is_asked) return flaw;
  }
  return std::nullopt;
}

}  // namespace

bool parse_switch(std::string_view value, std::string_view what) {
  if (std::ranges::find(yes, value) != yes.end()) return true;
  if (std::ranges::find(no, value) != no.end()) return false;
  throw ValueError(fmt::format("{}: \"{}\" is neither on nor off", what, value));
}

std::span<const Settings::Description> Settings::descriptions() {
  static const std::vector<Description> all{
      {.name = "admin-server",
       .initial = "",
       .help = "Where the AdminServers are, which zksh asks when a server does not allow a "
               "four-letter word: a port on each server's host, or HOST:PORT,… in the order of the "
               "servers; empty: port 8080; off: do not ask. If zksh uses TLS, they are asked over "
               "TLS, unless http:// stands before it."},
      {.name = "color",
       .initial = "auto",
       .help = "Use colours: auto (on a terminal, unless NO_COLOR is set), always or never.",
       .choices = {"auto", "always", "never"}},
      a_switch("confirm", "on", "Ask before a subtree is deleted, at a terminal.",
               &Settings::confirm),
      a_switch("highlight", "on", "Colour the typed line.", &Settings::highlight),
      a_switch("hints", "on", "Show hints after the typed text.", &Settings::hints),
      {.name = "lock-acl",
       .initial = "world:anyone:cdrwa",
       .help = "The ACL of the nodes that locks create, as for --acl of `lock`. By default anybody "
               "may end a lock; creator: only who has an identity of this session.",
       .flaw = lock_acl_flaw},
      {.name = "output",
       .initial = "zkcli",
       .help = "The output format: zkcli (as zkCli prints; also: text, table), plain (one item a "
               "line) or json (one value a line).",
       .choices = {"zkcli", "plain", "json", "text", "table"}},
      {.name = "pager",
       .initial = "",
       .help = "The pager for output longer than the screen; empty: $ZKSH_PAGER, $PAGER or less "
               "-FIRX; cat or off: none."},
      a_switch("printwatches", "on", "Print watch events.", &Settings::print_watches),
      {.name = "prompt",
       .initial = "[zk: %s(%S) %n%d%p%l%?] ",
       .help = "The prompt. %s is the server (of several the first, and how many more), %h all "
               "servers, %S the session's state, %n the line's number, %% a percent sign. These "
               "appear with a blank before them, and only if there is something to show: %d the "
               "current node, %p the profile, %l the held locks, %? the last exit status. Long "
               "paths are cut in the middle."},
      a_switch("timing", "off", "Print on stderr how long each command took.", &Settings::timing),
      {.name = "zkcli",
       .initial = "3.8",
       .help = "The zkCli version to mimic. 3.4 prints a Stat on stderr after each get, set and "
               "setAcl, no deprecation notices, children in the server's order, and its own usage "
               "texts and errors. 3.9 has its own usage texts.",
       .choices = {"3.8", "3.4", "3.9"}},
      {.name = "zkcli-output",
       .initial = "off",
       .help = "At the prompt, print ACLs, quotas and watch events as zkCli does, as for scripts; "
               "off: ACLs that can be pasted back, and a line for each quota and event.",
       .choices = {"on", "off"}}};
  return all;
}

const Settings::Description* Settings::find(std::string_view name) {
  const auto found = std::ranges::find(descriptions(), name, &Description::name);
  return found == descriptions().end() ? nullptr : &*found;
}

Settings::Settings(Monitor& monitor) : monitor_(monitor) {
  for (const auto& description : descriptions())
    set(description.name, description.initial, "default");
}

std::string Settings::value(std::string_view name) const {
  return monitor_.with_lock([&](const Monitor::Held& held) { return value(held, name); });
}

std::string Settings::value(const Monitor::Held& held, std::string_view name) const {
  const auto& description = known(name);
  if (description.flag) return this->*description.flag ? "on" : "off";
  return kept_(held).find(name)->second.value;
}

std::string Settings::origin(std::string_view name) const {
  known(name);
  return monitor_.with_lock(
      [&](const Monitor::Held& held) { return kept_(held).find(name)->second.origin; });
}

void Settings::set(std::string_view name, std::string_view value, std::string_view origin) {
  const auto& description = known(name);
  const auto& choices = description.choices;
  // A command with the name of the setting already says what it is about.
  const auto what =
      origin == "conf" || origin == name ? std::string(name) : fmt::format("{} ({})", name, origin);
  if (description.flag)
    this->*description.flag = parse_switch(value, what);
  else if (!choices.empty() && std::ranges::find(choices, value) == choices.end())
    throw ValueError(
        fmt::format("{}: \"{}\" is not one of {}", what, value, fmt::join(choices, ", ")));
  if (description.flaw)
    if (const auto flaw = description.flaw(value))
      throw ValueError(fmt::format("{}: {}", what, *flaw));
  monitor_.with_lock([&](const Monitor::Held& held) {
    kept_(held)[std::string(name)] = {.value = std::string(value), .origin = std::string(origin)};
  });
}

std::span<const std::pair<std::string_view, std::string_view>> drop_in_settings() {
  static constexpr auto settings =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"color", "never"},
                                                                    {"confirm", "off"},
                                                                    {"highlight", "off"},
                                                                    {"hints", "off"},
                                                                    {"output", "zkcli"},
                                                                    {"pager", "off"},
                                                                    {"prompt", "[zk: %h(%S) %n] "},
                                                                    {"timing", "off"}});
  return settings;
}

}  // namespace zksh
