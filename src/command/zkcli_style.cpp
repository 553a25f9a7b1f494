// zkCli style: which zkCli's results, usage texts and errors zksh mimics.
#include "command/zkcli_style.h"

#include "base/number.h"
#include "command/given_words.h"
#include "config/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace zksh {
namespace {

struct Syntax {
  std::string_view name;
  std::string_view arguments;
};

/// In the order of 3.4's HashMap.
constexpr std::array<Syntax, 21> commands_of_34{{{"stat", "path [watch]"},
                                                 {"set", "path data [version]"},
                                                 {"ls", "path [watch]"},
                                                 {"delquota", "[-n|-b] path"},
                                                 {"ls2", "path [watch]"},
                                                 {"setAcl", "path acl"},
                                                 {"setquota", "-n|-b val path"},
                                                 {"history", ""},
                                                 {"redo", "cmdno"},
                                                 {"printwatches", "on|off"},
                                                 {"delete", "path [version]"},
                                                 {"sync", "path"},
                                                 {"listquota", "path"},
                                                 {"rmr", "path"},
                                                 {"get", "path [watch]"},
                                                 {"create", "[-s] [-e] path data acl"},
                                                 {"addauth", "scheme auth"},
                                                 {"quit", ""},
                                                 {"getAcl", "path"},
                                                 {"close", ""},
                                                 {"connect", "host:port"}}};

/// A command that 3.9 changed. It lists the options below the syntax.
struct ChangedIn39 {
  std::string_view name;
  std::string_view arguments;
  std::string_view options;
};
constexpr std::array<ChangedIn39, 2> changed_in_39{
    {{"get", "[-s] [-w] [-b] [-x] path",
      " -b   Output data in base64 format\n"
      " -s   Print znode stats additionally\n"
      " -w   Watch for changes on the znode\n"
      " -x   Output data in hexdump format\n\n"},
     {"set", "path data [-s] [-v version] [-b]",
      " -b         Supply data in base64 format\n"
      " -s         Print znode stats additionally\n"
      " -v <arg>   Set with an expected version\n\n"}}};

/// The syntax as this version prints it: the arguments, and what is below them.
std::pair<std::string_view, std::string_view> syntax_in(ZkCliVersion version,
                                                        const Command& command) {
  const auto* const changed = std::ranges::find(changed_in_39, command.name, &ChangedIn39::name);
  if (version == ZkCliVersion::V39 && changed != changed_in_39.end())
    return {changed->arguments, changed->options};
  return {*command.zkcli_syntax, {}};
}

/// The options that zkCli has too, with the names that it knows.
std::vector<Argument> zkcli_options(const Command& command) {
  auto options = command.arguments();
  for (auto& option : options)
    if (!option.legacy) option.names = option.names_in(*command.zkcli_syntax);
  std::erase_if(options,
                [](const Argument& option) { return option.names.empty() || option.positional(); });
  return options;
}

/// Reads words as commons-cli's DefaultParser does, up to its first error.
class CommonsCliParser {
 public:
  explicit CommonsCliParser(const std::vector<Argument>& options) : options_(options) {}

  /// Throws UsageError with the class and message of its exception.
  void parse(std::span<const std::string> words) {
    for (const auto& word : words) {
      if (word == "--") break;
      const bool dash = word.size() > 1 && word.front() == '-';
      if (awaiting_ && !(dash && begins_option(word) && !begins_as_number(word)))
        awaiting_ = nullptr;
      else if (dash)
        take(word);
    }
    require_value();
  }

  /// Whether an exclusive option was among the words.
  bool chose_exclusive() const { return exclusive_ != nullptr; }

 private:
  const Argument* option(const std::string& name) const { return option_named(options_, name); }

  bool begins_option(const std::string& word) const {
    return option(word.substr(0, word.find('='))) || option(word.substr(0, 2));
  }

  static std::string key_of(const Argument& argument) {
    return argument.names.front().substr(argument.names.front().find_first_not_of('-'));
  }

  void require_value() const {
    if (awaiting_)
      throw UsageError("MissingArgumentException: Missing argument for option: " +
                       key_of(*awaiting_));
  }

  [[noreturn]] static void refuse(const std::string& word) {
    throw UsageError("UnrecognizedOptionException: Unrecognized option: " + word);
  }

  void choose(const Argument& argument) {
    require_value();
    if (argument.exclusive && exclusive_ && exclusive_ != &argument)
      throw UsageError(fmt::format(
          "AlreadySelectedException: The option '{}' was specified but an option from this group "
          "has already been selected: '{}'",
          key_of(argument), key_of(*exclusive_)));
    if (argument.exclusive) exclusive_ = &argument;
    awaiting_ = argument.takes_value() ? &argument : nullptr;
  }

  void take(const std::string& word) {
    const auto end = word.find('=');
    if (const auto* whole = option(word.substr(0, end))) {
      // A short option with a long name, such as -add, takes no = there.
      const bool has_letter = whole->names.front().size() == 2;
      if (end != std::string::npos && !(whole->takes_value() && has_letter)) refuse(word);
      choose(*whole);
      if (end != std::string::npos) awaiting_ = nullptr;
      return;
    }
    if (end != std::string::npos || word[1] == '-') refuse(word);
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto* letter = option({'-', word[i]});
      if (!letter) refuse(word);
      choose(*letter);
      if (awaiting_ && i + 1 < word.size()) {  // the rest is its value
        awaiting_ = nullptr;
        return;
      }
    }
  }

  const std::vector<Argument>& options_;
  const Argument* awaiting_ = nullptr;   ///< the option whose value is the next word
  const Argument* exclusive_ = nullptr;  ///< the last exclusive option
};

}  // namespace

ZkCliVersion mimicked_zkcli(const Settings& settings) {
  const auto value = settings.value("zkcli");
  return value == "3.4"   ? ZkCliVersion::V34
         : value == "3.9" ? ZkCliVersion::V39
                          : ZkCliVersion::V38;
}

bool prints_for_prompt(const Context& cx) {
  const auto& style = cx.out.style();
  return cx.input == Input::Terminal && style.for_people && style.out_is_terminal &&
         cx.services.settings.value("zkcli-output") == "off" && !prints_as_34(cx);
}

bool prints_as_34(const Context& cx) {
  return !cx.out.plain() && !cx.out.json() &&
         mimicked_zkcli(cx.services.settings) == ZkCliVersion::V34;
}

bool zkcli_has(std::string_view name) {
  const auto* const command = command_named(name);
  const bool has_now = command && command->name == name && command->zkcli_syntax;
  return has_now || name == "exit" ||  // since 3.9
         std::ranges::any_of(commands_of_34, [&](const auto& old) { return old.name == name; });
}

bool old_version_counts(const Context& cx) {
  const auto& settings = cx.services.settings;
  return !settings.drop_in || mimicked_zkcli(settings) == ZkCliVersion::V34;
}

std::int32_t expected_version(const Context& cx, const std::optional<std::string>& version,
                              const std::optional<std::int32_t>& old_form) {
  if (version) return static_cast<std::int32_t>(parse_number(*version, "-v", INT32_MIN, INT32_MAX));
  return old_version_counts(cx) ? old_form.value_or(-1) : -1;
}

std::string zkcli_usage(ZkCliVersion version) {
  if (version == ZkCliVersion::V34) {
    std::string text = "ZooKeeper -server host:port cmd args\n";
    for (const auto& [name, arguments] : commands_of_34)
      text += fmt::format("\t{} {}\n", name, arguments);
    return text;
  }
  std::string text = "ZooKeeper -server host:port -client-configuration properties-file cmd args\n";
  for (const Command* command : all_commands())
    if (command->zkcli_syntax)
      text += fmt::format("\t{} {}\n", command->name, syntax_in(version, *command).first);
  return text;
}

std::string zkcli_usage_of(const Command& command, ZkCliVersion version) {
  if (version == ZkCliVersion::V34) return {};
  const auto [arguments, options] = syntax_in(version, command);
  return fmt::format("{} {}\n{}", command.name, arguments, options);
}

bool has_other_name_in_zkcli(const Command& command, std::string_view word) {
  if (!command.zkcli_syntax || !word.starts_with("--")) return false;
  const auto name = word.substr(0, word.find('='));
  const auto has_name = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  return std::ranges::any_of(command.arguments(), [&](const Argument& argument) {
    const auto known = argument.names_in(*command.zkcli_syntax);
    return has_name(argument.names) && !known.empty() && !has_name(known);
  });
}

std::optional<std::string> commons_cli_error(const Command& command,
                                             std::span<const std::string> words) {
  if (!command.zkcli_syntax || command.optionless) return std::nullopt;
  const auto options = zkcli_options(command);
  try {
    CommonsCliParser parser(options);
    parser.parse(words);
    if (command.name == "setquota" && !parser.chose_exclusive())
      throw UsageError(
          "MissingOptionException: Missing required option: [-n num soft quota, -b bytes soft "
          "quota, -N num hard quota, -B bytes hard quota]");
  } catch (const UsageError& error) {
    return fmt::format("org.apache.commons.cli.{}", error.what());
  }
  return std::nullopt;
}

}  // namespace zksh
