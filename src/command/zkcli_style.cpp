// zkCli style: which zkCli's results, usage texts and errors zksh mimics.
#include "command/zkcli_style.h"

#include "config/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

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

/// What 3.9 changed.
constexpr std::array<Syntax, 2> changed_in_39{
    {{"get", "[-s] [-w] [-b] [-x] path"}, {"set", "path data [-s] [-v version] [-b]"}}};
/// 3.9 lists the options of these two below the syntax.
constexpr std::array<Syntax, 2> explained_in_39{{{"get",
                                                  " -b   Output data in base64 format\n"
                                                  " -s   Print znode stats additionally\n"
                                                  " -w   Watch for changes on the znode\n"
                                                  " -x   Output data in hexdump format\n\n"},
                                                 {"set",
                                                  " -b         Supply data in base64 format\n"
                                                  " -s         Print znode stats additionally\n"
                                                  " -v <arg>   Set with an expected version\n\n"}}};

std::optional<std::string_view> find_in(std::span<const Syntax> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Syntax::name);
  return found == table.end() ? std::nullopt : std::optional(found->arguments);
}

std::string_view syntax_of(const Command& command, ZkCliVersion version) {
  const auto changed =
      version == ZkCliVersion::V39 ? find_in(changed_in_39, command.name) : std::nullopt;
  return changed ? *changed : *command.zkcli_syntax;
}

/// Reads words as commons-cli's DefaultParser does, up to its first error.
class CommonsCliParser {
 public:
  explicit CommonsCliParser(const std::vector<Argument>& arguments) : arguments_(arguments) {}

  /// The class and message of the exception; nullopt if there is none.
  std::optional<std::string> error(std::span<const std::string> words) {
    for (const auto& word : words) {
      if (word == "--") break;
      if (awaiting_ && (!begins_option(word) || is_negative(word)))
        awaiting_ = nullptr;
      else if (word.size() > 1 && word.front() == '-')
        take(word);
      if (error_) return error_;
    }
    require_value();
    return error_;
  }

  /// Whether an exclusive option was among the words.
  bool chose_exclusive() const { return exclusive_ != nullptr; }

 private:
  const Argument* option(const std::string& name) const {
    const auto found = std::ranges::find_if(arguments_, [&](const Argument& argument) {
      return std::ranges::find(argument.names, name) != argument.names.end();
    });
    return found == arguments_.end() ? nullptr : &*found;
  }

  bool begins_option(const std::string& word) const {
    return word.size() > 1 && word.front() == '-' &&
           (option(word.substr(0, word.find('='))) || option(word.substr(0, 2)));
  }

  static bool is_negative(const std::string& word) {
    return word.size() > 1 && word.front() == '-' &&
           std::isdigit(static_cast<unsigned char>(word[1])) != 0;
  }

  static bool takes_value(const Argument& argument) {
    return argument.kind != Argument::Kind::Flag;
  }

  static std::string key_of(const Argument& argument) {
    return argument.names.front().substr(argument.names.front().find_first_not_of('-'));
  }

  void require_value() {
    if (awaiting_)
      error_ = "MissingArgumentException: Missing argument for option: " + key_of(*awaiting_);
  }

  void refuse(const std::string& word) {
    error_ = "UnrecognizedOptionException: Unrecognized option: " + word;
  }

  void choose(const Argument& argument) {
    require_value();
    if (error_) return;
    if (argument.exclusive) {
      if (exclusive_ && exclusive_ != &argument)
        error_ = fmt::format(
            "AlreadySelectedException: The option '{}' was specified but an option from this group "
            "has already been selected: '{}'",
            key_of(argument), key_of(*exclusive_));
      exclusive_ = &argument;
    }
    awaiting_ = takes_value(argument) ? &argument : nullptr;
  }

  void take(const std::string& word) {
    const auto end = word.find('=');
    if (const auto* whole = option(word.substr(0, end))) {
      if (end != std::string::npos && !takes_value(*whole)) return refuse(word);
      choose(*whole);
      if (end != std::string::npos) awaiting_ = nullptr;
      return;
    }
    if (end != std::string::npos || word[1] == '-') return refuse(word);
    for (std::size_t i = 1; i < word.size() && !error_; ++i) {
      const auto* letter = option({'-', word[i]});
      if (!letter) return refuse(word);
      choose(*letter);
      if (awaiting_ && i + 1 < word.size()) {  // the rest is its value
        awaiting_ = nullptr;
        return;
      }
    }
  }

  const std::vector<Argument>& arguments_;
  const Argument* awaiting_ = nullptr;   ///< the option whose value is the next word
  const Argument* exclusive_ = nullptr;  ///< the last exclusive option
  std::optional<std::string> error_;
};

}  // namespace

ZkCliVersion mimicked_zkcli(const Settings& settings) {
  const auto value = settings.value("zkcli");
  return value == "3.4"   ? ZkCliVersion::V34
         : value == "3.9" ? ZkCliVersion::V39
                          : ZkCliVersion::V38;
}

bool prints_as_34(const Context& cx) {
  return !cx.out.plain() && !cx.out.json() &&
         mimicked_zkcli(cx.services.settings) == ZkCliVersion::V34;
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
      text += fmt::format("\t{} {}\n", command->name, syntax_of(*command, version));
  return text;
}

std::string zkcli_usage_of(const Command& command, ZkCliVersion version) {
  if (version == ZkCliVersion::V34) return {};
  auto text = fmt::format("{} {}\n", command.name, syntax_of(command, version));
  if (version == ZkCliVersion::V39) text += find_in(explained_in_39, command.name).value_or("");
  return text;
}

std::optional<std::string> commons_cli_error(const Command& command,
                                             std::span<const std::string> words) {
  if (!command.zkcli_syntax || command.optionless) return std::nullopt;
  std::optional<std::string> error;
  command.describe([&](const Options& options) {
    CommonsCliParser parser(options.arguments());
    error = parser.error(words);
    if (!error && command.name == "setquota" && !parser.chose_exclusive())
      error =
          "MissingOptionException: Missing required option: [-n num soft quota, -b bytes soft "
          "quota, -N num hard quota, -B bytes hard quota]";
  });
  if (error) error->insert(0, "org.apache.commons.cli.");
  return error;
}

}  // namespace zksh
