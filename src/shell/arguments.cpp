// Arguments: zksh's own options, and its parsed command line, environment and configuration.
#include "shell/arguments.h"

#include "base/fd.h"
#include "base/process_setup.h"
#include "base/text.h"
#include "base/time.h"
#include "client/connect_string.h"
#include "command/command.h"
#include "command/given_words.h"
#include "command/help.h"
#include "command/json_fields.h"
#include "config/security_settings.h"
#include "session/session.h"
#include "shell/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

/// What is required of an option's value and of the other options.
struct OptionRules {
  bool negates = false;     ///< it sets its key to off
  bool repeatable = false;  ///< otherwise the last one counts
  std::string_view needs{};
  std::string_view excludes{};
  int least = 1;                                ///< of a number
  int most = 0;                                 ///< likewise; 0: not a number
  std::span<const std::string_view> choices{};  ///< unless the key is a setting, which has its own
};

/// The declaration of an option.
struct ProcessOption {
  std::string_view names;    ///< "-s,--server"; messages use the last one
  std::string_view value{};  ///< placeholder of the value; empty: none; "[=N]": optional
  std::string_view help{};   ///< empty: that of its key
  std::string_view key{};    ///< the Configuration key that it sets; empty: none
  OptionRules rules{};

  constexpr std::string_view name() const { return names.substr(names.rfind(',') + 1); }
  bool takes_next_word() const { return !value.empty() && !value.starts_with('['); }
};

constexpr std::array<std::string_view, 3> sandbox_sizes{"1", "3", "5"};
/// The tools in whose place zksh can run, and zksh itself. Their users' scripts then find what they
/// expect: see zksh(1), "In place of zkCli.sh".
constexpr std::array<std::string_view, 3> drop_in_names{"zkcli", "zookeeper-shell", "zksh"};
/// The names of programs, and what they are. Debian, Bigtop and Cloudera call zkCli.sh
/// zookeeper-client; Kafka's zookeeper-shell is the same with the server as its first word.
constexpr auto drop_in_programs = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"zkCli.sh", "zkcli"},
     {"zookeeper-client", "zkcli"},
     {"zookeeper-shell", "zookeeper-shell"},
     {"zookeeper-shell.sh", "zookeeper-shell"}});
constexpr OptionRules negating{.negates = true};
constexpr OptionRules repeatable{.repeatable = true};
constexpr OptionRules repeatable_in_sandbox{.repeatable = true, .needs = "--sandbox"};
constexpr OptionRules in_sandbox{.needs = "--sandbox"};
constexpr OptionRules sandbox{.excludes = "--server", .choices = sandbox_sizes};
constexpr OptionRules window{.needs = "--pipe", .most = 10'000};
constexpr OptionRules rate{.needs = "--pipe", .most = 1'000'000};
constexpr OptionRules drop_in_name{.choices = drop_in_names};
constexpr OptionRules log_level{.least = 0, .most = 4};

/// In the order of --help.
constexpr auto all_options = std::to_array<ProcessOption>(
    {{"-s,--server", "HOSTS",
      "host[:port][,host[:port]…][/chroot]; default: $ZKSH_SERVER, or localhost:2181", "server"},
     {"-p,--profile", "NAME", "Use this section of the configuration file; default: $ZKSH_PROFILE"},
     {"-t,--timeout", "MS", "", "timeout"},
     {"--connect-timeout", "TIME", "", "connect-timeout"},
     {"-r", "", "Accept a read-only server"},
     {"--read-only", "", "", "read-only"},
     {"--admin-server", "PORT|HOST:PORT,…",
      "Port or addresses of the AdminServers (8080), which are asked when a server does not allow "
      "a four-letter word; off: do not ask",
      "admin-server"},
     {"--auth-file", "FILE", "", "auth-file"},
     {"--tls", "", "Use TLS; every other --tls option implies it", "tls"},
     {"--tls-ca", "FILE", "", "tls-ca"},
     {"--tls-ca-password-file", "FILE", "", "tls-ca-password-file"},
     {"--tls-cert", "FILE", "", "tls-cert"},
     {"--tls-key", "FILE", "", "tls-key"},
     {"--tls-key-password-file", "FILE", "", "tls-key-password-file"},
     {"--sasl-mechanism", "NAME", "", "sasl-mechanism"},
     {"--sasl-user", "NAME", "", "sasl-user"},
     {"--sasl-password-file", "FILE", "", "sasl-password-file"},
     {"--tls-no-verify", "", "Do not verify the server's certificate; insecure", "tls-verify",
      negating},
     {"-c", "COMMANDS", "Run these commands, separated by ; or newlines; may be repeated", "",
      repeatable},
     {"-f,--file", "FILE",
      "Run the commands of a file (- for standard input); may be repeated; the arguments after the "
      "options are $1, $2, … in it",
      "", repeatable},
     {"-k,--keep-going", "", "Continue a script after a failure"},
     {"-q,--quiet", "",
      "Print results and errors only: no news of the connection, locks or the sandbox, no tally"},
     {"--pipe", "", "Send the commands of standard input or -f without waiting for each answer"},
     {"--window", "N", "With --pipe: maximum number of outstanding requests", "", window},
     {"--rate", "N", "With --pipe: maximum number of commands per second", "", rate},
     {"-o,--output", "FORMAT", "", "output"},
     {"--zkcli", "VERSION",
      "zkCli version to mimic: 3.8, 3.9, or 3.4 for scripts that expect a Stat after each command",
      "zkcli"},
     {"--as", "NAME",
      "zkcli: run in the place of zkCli.sh, for its users' scripts; zookeeper-shell: of "
      "Kafka's zookeeper-shell.sh, whose first word is the server; default: $ZKSH_AS, or as the "
      "program is called",
      "as", drop_in_name},
     {"--color", "WHEN", "", "color"},
     {"--sandbox", "[=N]", "Start 1, 3 or 5 temporary private servers, and connect to them", "",
      sandbox},
     {"--zookeeper", "VERSION|DIR",
      "With --sandbox: the ZooKeeper to run: a version that the tests have downloaded, or a "
      "directory with its jars",
      "", in_sandbox},
     {"--data", "DIR[@T]",
      "With --sandbox: start the server with a copy of these files of a server (its dataDir "
      "or dataLogDir, or a backup), as of this time or zxid; read-only unless the "
      "configuration says read-only = off; may be repeated",
      "", repeatable_in_sandbox},
     {"--log-level", "LEVEL",
      "Log level of the ZooKeeper C client, on stderr: 0 (none) to 4 (debug)", "", log_level},
     {"--waitforconnection", "",
      "Accepted as in zkCli; zksh always waits. In its place: fail if there is no connection "
      "within --timeout"},
     {"--client-configuration", "FILE", "A properties file, as for zkCli"},
     {"--show-config", "", "Print the configuration and where each value comes from"},
     {"--json-schema", "", "Print the JSON Schema of -o json"},
     {"-h,--help", "", "Print this help"},
     {"--version", "", "Print the version and how it was built"}});

/// The long options of zkCli, and of Kafka's zookeeper-shell.sh, have one dash.
std::string long_spelling(const std::string& word) {
  constexpr std::array zkcli{"-server", "-timeout", "-waitforconnection", "-client-configuration"};
  if (word == "--sandbox") return "--sandbox=1";  // its value must follow a =
  if (word == "-zk-tls-config-file") return "--client-configuration";
  return std::ranges::find(zkcli, word) != zkcli.end() ? '-' + word : word;
}

/// The option that a word names; null if it names none. Letters after one dash are not a cluster:
/// zkCli has options such as -server.
const ProcessOption* option_named_by(std::string_view word) {
  const auto name = word.starts_with("--") ? word.substr(0, word.find('=')) : word;
  for (const auto& option : all_options)
    if (option.names.find(name) != std::string_view::npos &&
        std::ranges::count(split(option.names, ','), name) > 0)
      return &option;
  return nullptr;
}

std::string unknown_text(const std::string& word) {
  std::vector<std::string> known;
  for (const auto& option : all_options)
    for (const auto name : split(option.names, ',')) known.emplace_back(name);
  // Single letters resemble each other; only a longer word tells what was meant.
  const auto similar = word.size() > 2 ? suggestions(word, known) : std::vector<std::string>{};
  return fmt::format("unknown option {}{}", word,
                     similar.empty() ? "" : fmt::format("; did you mean {}?", similar.front()));
}

std::vector<std::string> choices_of(const ProcessOption& option) {
  const auto* const setting = Settings::find(option.key);
  const auto all = setting ? std::span(setting->choices) : option.rules.choices;
  return {all.begin(), all.end()};
}

std::string help_of(const ProcessOption& option) {
  if (!option.help.empty()) return std::string(option.help);
  const auto key = std::ranges::find(Configuration::keys(), option.key, &Configuration::Key::name);
  const std::string sentence(key->help.substr(0, key->help.size() - 1));
  const bool has_default =
      !option.value.empty() && !key->initial.empty() && choices_of(option).empty();
  return has_default ? fmt::format("{} ({})", sentence, key->initial) : sentence;
}

/// Without CLI11's own --help, which would take a third of the time.
struct Parser : CLI::App {
  Parser() : App("", "", nullptr) {}
};

/// The options given, in order; only the last of one that is not repeatable. Initially empty.
class GivenOptions {
 public:
  struct Given {
    const ProcessOption* option;
    std::string text;  ///< without a value: on; or off, only if it has a key
  };
  std::vector<Given> all;
  /// Words that begin with a dash and name no option, which zkCli skips, and a last option without
  /// its value: a sentence for each, that names it.
  std::vector<std::string> left_out;

  /// Removes options from the front of `words`, up to a command, which stays with its words. Throws
  /// UsageError for what CLI11 refuses.
  void take(std::vector<std::string>& words);
  /// The value of the option with this name (ProcessOption::name); null if it was not given.
  const std::string* find(std::string_view name) const {
    const auto found =
        std::ranges::find(all, name, [](const Given& one) { return one.option->name(); });
    return found == all.end() ? nullptr : &found->text;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// 0 if it was not given. CLI11 has checked it.
  int number(std::string_view name) const {
    return has(name) ? static_cast<int>(std::strtol(find(name)->c_str(), nullptr, 0)) : 0;
  }

 private:
  void parse();
  CLI::Option* declare(CLI::App& app, const ProcessOption& option);
  void add(const ProcessOption& option, const std::string& text);

  struct Word {
    const ProcessOption* option;
    std::optional<std::string> value;  ///< for an option without a value: what follows its =
    bool needs_parser() const;
  };
  std::vector<Word> words_;
};

/// Whether there is something to convert or to check.
bool GivenOptions::Word::needs_parser() const {
  const auto& rules = option->rules;
  return (value && option->value.empty()) || rules.most != 0 || !rules.needs.empty() ||
         !rules.excludes.empty() || !choices_of(*option).empty();
}

void GivenOptions::take(std::vector<std::string>& words) {
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-') && words[at].size() > 1; ++at) {
    if (words[at] == "--") break;
    const auto word = long_spelling(words[at]);
    const auto* const option = option_named_by(word);
    if (!option) {
      left_out.push_back(unknown_text(words[at]));
      continue;
    }
    const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const bool apart = option->takes_next_word() && equals == std::string::npos;
    if (apart && (at + 1 == words.size() || option_named_by(long_spelling(words[at + 1])))) {
      left_out.push_back(words[at] + " needs a value");
      continue;
    }
    words_.push_back({option, std::nullopt});
    if (apart)
      words_.back().value = words[++at];
    else if (equals != std::string::npos)
      words_.back().value = word.substr(equals + 1);
  }
  if (at < words.size() && words[at] == "--") ++at;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  all.clear();
  // A one-shot command seldom needs the parser, which would delay its start by 3 %.
  if (std::ranges::any_of(words_, &Word::needs_parser)) return parse();
  for (const auto& [option, value] : words_) add(*option, value.value_or("on"));
}

void GivenOptions::parse() {
  Parser app;
  std::vector<std::string> spelled;
  for (const auto& [option, value] : words_) {
    declare(app, *option);  // alone: CLI11 compares each with all others
    spelled.emplace_back(option->name());
    // The parser would take the next word in place of an empty value after =.
    if (value && option->value.empty()) spelled.back() += '=' + *value;
    if (value && !option->value.empty()) spelled.push_back(*value);
  }
  std::ranges::reverse(spelled);  // the parser takes them from the back
  try {
    app.parse(std::move(spelled));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

/// Declares an option unless that is done; the parser then adds what it finds.
CLI::Option* GivenOptions::declare(CLI::App& app, const ProcessOption& option) {
  if (auto* const known = app.get_option_no_throw(std::string(option.name()))) return known;
  const std::string names(option.names);
  auto* const declared =
      option.value.empty()
          ? app.add_option_function<bool>(names, [&](bool on) { add(option, on ? "on" : "off"); })
                ->expected(0)
          : app.add_option_function<std::string>(
                names, [&](const std::string& text) { add(option, text); });
  declared->trigger_on_parse();
  const auto& rules = option.rules;
  if (rules.most != 0) declared->check(CLI::Range(rules.least, rules.most));
  if (const auto choices = choices_of(option); !choices.empty())
    declared->check(CLI::IsMember(choices));
  if (!rules.needs.empty()) declared->needs(declare(app, *option_named_by(rules.needs)));
  if (!rules.excludes.empty()) declared->excludes(declare(app, *option_named_by(rules.excludes)));
  return declared;
}

void GivenOptions::add(const ProcessOption& option, const std::string& text) {
  if (!option.rules.repeatable)
    std::erase_if(all, [&](const Given& one) { return one.option == &option; });
  const bool nothing = option.value.empty() && option.key.empty() && text == "off";
  if (!nothing) all.push_back({&option, text});
}

struct HelpFormatter : CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const auto& value = option->get_option_text();
    return value.empty() || value.starts_with('[') ? value : ' ' + value;
  }
};

/// -c and -f in the order in which they were given.
std::vector<ScriptSource> scripts_of(const GivenOptions& given) {
  std::vector<ScriptSource> scripts;
  for (const auto& [option, text] : given.all) {
    if (option->name() == "-c")
      scripts.push_back({ScriptSource::Kind::Text, text});
    else if (option->name() == "--file")
      scripts.push_back({ScriptSource::Kind::File, text});
  }
  return scripts;
}

Format parse_format(const Configuration& config) {
  for (const auto& [name, format] : named_formats)
    if (config.text("output") == name) return format;
  throw UsageError(fmt::format("{} {}: unknown format; use zkcli, plain or json",
                               config["output"].origin, config.text("output")));
}

/// What --version prints; scripts parse the first line.
std::string version_text() {
#ifdef __clang__
  constexpr const char* compiler = "clang " __clang_version__;
#else
  constexpr const char* compiler = "gcc " __VERSION__;
#endif
  return fmt::format("zksh {}\nZooKeeper's C client {}; compiled by {}\n", ZKSH_VERSION,
                     client_library_version(), compiler);
}

/// The files for the sandbox, and their moment. The name of a directory may contain an @.
void take_data(const GivenOptions& given, Arguments& arguments) {
  if (given.has("--data") && arguments.sandbox_servers != 1)
    throw UsageError("--data needs a sandbox with one server");
  for (const auto& [option, text] : given.all) {
    if (option->name() != "--data") continue;
    const auto at = text.rfind('@');
    const bool whole = at == std::string::npos || access(with_home(text).c_str(), F_OK) == 0;
    if (!whole) arguments.sandbox_moment = parse_moment(text.substr(at + 1), "--data");
    arguments.sandbox_data.push_back(whole ? text : text.substr(0, at));
  }
}

/// Throws UsageError for what cannot be combined with --pipe.
std::optional<PipeSettings> parse_pipe(const GivenOptions& given, const Arguments& arguments) {
  if (!given.has("--pipe")) return std::nullopt;
  const auto texts =
      std::ranges::count(arguments.scripts, ScriptSource::Kind::Text, &ScriptSource::kind);
  if (texts > 0 || !arguments.command.empty())
    throw UsageError("--pipe reads its commands from standard input or one file (-f)");
  return PipeSettings{.window = static_cast<std::size_t>(given.number("--window")),
                      .rate = given.number("--rate"),
                      .quiet = given.has("--quiet")};
}

/// With a script, the words after the options are its arguments. With only -c, they are accepted
/// only if its text uses arguments; otherwise the user probably forgot to quote it.
void take_script_arguments(Arguments& arguments) {
  if (arguments.scripts.empty()) return;
  const bool expected = std::ranges::any_of(arguments.scripts, [](const ScriptSource& script) {
    return script.kind != ScriptSource::Kind::Text || names_arguments(script.text);
  });
  if (!expected && !arguments.command.empty())
    throw UsageError(
        fmt::format("unexpected \"{}\" after the commands of -c, which use no argument ($1); if it "
                    "belongs to them, quote the whole text",
                    arguments.command.front()));
  const bool texts_alone = std::ranges::all_of(arguments.scripts, [](const ScriptSource& script) {
    return script.kind == ScriptSource::Kind::Text;
  });
  if (texts_alone && arguments.command.empty()) return;
  arguments.script_arguments = std::exchange(arguments.command, {});
}

/// `given` is the option's value, or null.
std::optional<Configuration::Value> requested_profile(const std::string* given) {
  if (given != nullptr) return Configuration::Value{*given, "--profile"};
  if (const auto preset = environment("ZKSH_PROFILE"); !preset.empty())
    return Configuration::Value{preset, "$ZKSH_PROFILE"};
  return std::nullopt;
}

/// $ZKSH_SERVER overrides the files, but not a profile chosen for this run, by option or
/// $ZKSH_PROFILE, which implies its servers.
void overlay_server(Configuration& config) {
  const auto preset = environment("ZKSH_SERVER");
  const auto& chosen_by = config["profile"].origin;
  const bool of_profile = (chosen_by == "--profile" || chosen_by == "$ZKSH_PROFILE") &&
                          config["server"].origin.ends_with(" [" + config.profile() + "]");
  if (!preset.empty() && !of_profile) config.set("server", preset, "$ZKSH_SERVER");
}

/// Finds out in whose place the program runs: from an option, or else from the program's name, the
/// environment or a file. Throws UsageError if that names no tool.
std::string take_drop_in(const GivenOptions& given, std::string_view program,
                         Configuration& config) {
  const auto* const started =
      std::ranges::find(drop_in_programs, program.substr(program.rfind('/') + 1),  // npos + 1 is 0
                        &std::pair<std::string_view, std::string_view>::first);
  if (const auto* const named = given.find("--as"))
    config.set("as", *named, "--as");
  else if (started != drop_in_programs.end())
    config.set("as", std::string(started->second), "the program's name");
  else if (const auto preset = environment("ZKSH_AS"); !preset.empty())
    config.set("as", preset, "$ZKSH_AS");
  const auto& tool = config.text("as");
  if (std::ranges::count(drop_in_names, tool) == 0)
    throw UsageError(fmt::format("{}: \"{}\" is not one of zksh, zkcli, zookeeper-shell",
                                 config.described("as"), tool));
  if (tool != "zksh")
    for (const auto& [key, value] : drop_in_settings())
      config.set(key, std::string(value), "as " + tool);
  return tool;
}

/// zksh refuses what zkCli skips.
void take_left_out(const GivenOptions& given, bool drop_in, std::string& warning) {
  for (const auto& problem : given.left_out) {
    if (!drop_in) throw UsageError(problem + "; see zksh --help");
    add_warning(warning, problem + "; skipped, as zkCli does");
  }
}

/// The server is the first word of zookeeper-shell; its options may follow.
void take_first_word(GivenOptions& given, std::vector<std::string>& words, Configuration& config) {
  if (words.empty()) {
    if (given.has("--server") || given.has("--help")) return;
    throw Error(
        "the server is missing; usage: zookeeper-shell HOST:PORT[/PATH] [-zk-tls-config-file FILE] "
        "[COMMAND ARGUMENTS…]");
  }
  config.set("server", words.front(), "the first word");
  words.erase(words.begin());
  given.take(words);
}

/// Overrides other values by the options.
void overlay(const GivenOptions& given, Configuration& config) {
  config.begin_level();
  for (const auto& [option, text] : given.all)
    if (!option->key.empty())
      config.set(option->key, option->rules.negates ? (text == "on" ? "off" : "on") : text,
                 std::string(option->name()));
}

/// In ms. Servers limit the session timeout anyway, so a longer one, up to what zkCli accepts, is
/// cut to what the C client can handle. Throws UsageError.
int session_timeout_of(const Configuration& config) {
  using namespace std::chrono_literals;
  constexpr std::int64_t shortest = 10;  // it connects in a third of that
  constexpr std::int64_t longest = 1'000'000'000;
  const auto what = config.described("timeout");
  const auto time = parse_duration(config.text("timeout"), what, 1ms).count();
  if (time == 0) throw UsageError(what + ": must be more than 0");
  if (time > INT32_MAX)
    throw UsageError(
        fmt::format("{}: {} ms is too long; the maximum is {}", what, time, INT32_MAX));
  return static_cast<int>(std::clamp(time, shortest, longest));
}

/// Applies the configuration of the session and the output. Throws UsageError.
void take(const Configuration& config, Arguments& arguments) {
  using namespace std::chrono_literals;
  arguments.server = config.text("server");
  if (arguments.server.empty())
    throw UsageError(config.described("server") + ": the server name is empty");
  parse_connect_string(arguments.server);  // throws if it is malformed
  auto& session = arguments.session;
  session.session_timeout_ms = session_timeout_of(config);
  // zkCli's timeout is also the limit for connecting.
  session.connect_timeout =
      arguments.drop_in && config["connect-timeout"].origin == "default"
          ? std::chrono::milliseconds(session.session_timeout_ms)
          : parse_duration(config.text("connect-timeout"), config.described("connect-timeout"));
  arguments.protection = {.read_only = config.is_on("read-only"),
                          .production = config.is_on("production"),
                          .profile = config.profile()};
  session.read_only = session.read_only || arguments.protection.read_only;
  arguments.format = parse_format(config);
  if (const auto& name = config.text("auth-file"); !name.empty()) {
    auto file = read_auth_file(with_home(name));
    session.credentials = std::move(file.credentials);
    session.credentials_file = name;
    add_warning(arguments.warning, file.warning);
  }
}

/// Whether the words are a command with -o json.
bool is_json_command(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const Invocation line(Input::Arguments, words);
  if (!line.command || !line.may_choose_format()) return false;
  const auto arguments = line.command->arguments();
  const auto options = given_words(arguments, line.arguments).options;
  return std::ranges::any_of(options, [](const GivenWords::Option& given) {
    return is_output_option(*given.option) && given.value == "json";
  });
}

/// The options that determine how sessions are opened and secured.
std::vector<std::string> session_options_of(const GivenOptions& given) {
  constexpr std::array others{"--profile", "-r", "--log-level", "--client-configuration"};
  std::vector<std::string> words;
  for (const auto& [option, text] : given.all) {
    const bool wanted = !option->key.empty() || std::ranges::count(others, option->name()) > 0;
    if (!wanted) continue;
    words.push_back(
        fmt::format("{}{}", option->name(), text == "off" && option->value.empty() ? "=off" : ""));
    if (!option->value.empty()) words.push_back(text);
  }
  return words;
}

}  // namespace

std::vector<Argument> process_options() {
  std::vector<Argument> arguments;
  for (const auto& option : all_options) {
    auto kind = Argument::Kind::Flag;
    if (option.takes_next_word())
      kind = option.value == "FILE" ? Argument::Kind::File : Argument::Kind::Text;
    const auto names = split(option.names, ',');
    arguments.push_back({.kind = kind,
                         .names = {names.begin(), names.end()},
                         .value = std::string(option.value),
                         .help = help_of(option),
                         .choices = choices_of(option)});
  }
  return arguments;
}

std::string process_help() {
  constexpr std::size_t margin = 26;
  Parser app;
  for (const auto& option : all_options)
    app.add_option(std::string(option.names), CLI::callback_t(),
                   wrapped(help_of(option), page_width - margin))
        ->option_text(std::string(option.value));
  HelpFormatter formatter;
  formatter.column_width(margin);
  return "zksh [OPTIONS] [COMMAND ARGUMENTS…]\nzksh [OPTIONS] -f FILE… [ARGUMENTS…]\n\nA shell for "
         "Apache ZooKeeper. It runs COMMAND, or the commands of -c or -f. Without\nthem, it reads "
         "commands from standard input, and is interactive on a terminal.\n`zksh help` lists the "
         "commands.\n" +
         formatter.make_groups(&app, CLI::AppFormatMode::Normal) + '\n' +
         wrapped(statuses_in_a_sentence(), page_width) + '\n';
}

Arguments parse_arguments(std::vector<std::string> words, std::string_view program) {
  Arguments arguments;
  GivenOptions given;
  given.take(words);
  auto& config = arguments.configuration;
  try {
    config.read_files(requested_profile(given.find("--profile")));
  } catch (const UsageError& error) {
    // --show-config lists the keys, so that the file can be mended.
    if (!given.has("--show-config")) throw;
    config = Configuration();
    arguments.warning = error.what() + std::string("; no configuration file was read");
    arguments.answer_status = status::usage;
  }
  const auto tool = take_drop_in(given, program, config);
  arguments.drop_in = tool != "zksh";
  overlay_server(config);
  if (tool == "zookeeper-shell") take_first_word(given, words, config);
  take_left_out(given, arguments.drop_in, arguments.warning);
  arguments.command = std::move(words);
  overlay(given, config);
  if (given.has("--help")) arguments.answer = process_help();
  if (given.has("--json-schema")) arguments.answer = json_schema();
  if (given.has("--version")) arguments.answer = version_text();
  arguments.session_options = session_options_of(given);
  arguments.session.read_only = given.has("-r");
  arguments.awaits_connection = arguments.drop_in && given.has("--waitforconnection");
  arguments.session.one_round = arguments.drop_in && !arguments.awaits_connection;
  arguments.session.as_zkcli = arguments.drop_in;
  arguments.session.log_level = given.number("--log-level");
  // News and warnings then have the format of the only command, too.
  arguments.scripts = scripts_of(given);
  if (arguments.scripts.empty() && !arguments.drop_in && is_json_command(arguments.command))
    config.set("output", "json", "-o");
  // The past is not to be changed by mistake.
  if (given.has("--data") && config["read-only"].origin == "default")
    config.set("read-only", "on", "--data");
  try {
    take(config, arguments);
  } catch (const UsageError& error) {
    if (!arguments.drop_in) throw;
    throw Error(error.what());  // with status 1, as zkCli for a malformed server or timeout
  }
  arguments.sandbox_servers = given.number("--sandbox");
  if (const auto* const zookeeper = given.find("--zookeeper"))
    arguments.sandbox_zookeeper = with_home(*zookeeper);
  take_data(given, arguments);
  if (arguments.sandbox_servers == 0) {
    const auto* const client_file = given.find("--client-configuration");
    arguments.session.security =
        take_security(config, client_file == nullptr ? "" : with_home(*client_file),
                      arguments.drop_in, arguments.warning);
  }
  if (given.has("--show-config")) arguments.answer = config.report();
  arguments.keep_going = given.has("--keep-going");
  arguments.quiet = given.has("--quiet");
  take_script_arguments(arguments);
  arguments.pipe = parse_pipe(given, arguments);
  return arguments;
}

bool choose_json(const std::vector<std::string>& words) {
  const auto known = process_options();
  return std::ranges::any_of(given_words(known, words).options, [](const auto& given) {
    return given.value == "json" && std::ranges::count(given.option->names, "--output") > 0;
  });
}

}  // namespace zksh
