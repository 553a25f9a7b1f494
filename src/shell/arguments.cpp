// Arguments: zksh's own options, and its parsed command line, environment and configuration.
#include "shell/arguments.h"

#include "base/fd.h"
#include "base/text.h"
#include "base/time.h"
#include "client/connect_string.h"
#include "client/security.h"
#include "command/command.h"
#include "command/given_words.h"
#include "command/help.h"
#include "command/json_fields.h"
#include "config/security_settings.h"
#include "config/settings.h"
#include "shell/command_line.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

/// The declaration of an option.
struct ProcessOption {
  std::string_view names;    ///< "-s,--server"; messages use the last one
  std::string_view value{};  ///< placeholder of the value; empty: none; "[=N]": optional
  std::string_view help;
  std::string_view key{};                       ///< the Configuration key that it sets; empty: none
  std::string_view sets{};                      ///< what an option without a value sets the key to
  std::span<const std::string_view> choices{};  ///< unless the key is a setting, which has its own
  bool repeatable = false;                      ///< otherwise the last one counts

  constexpr std::string_view name() const { return names.substr(names.rfind(',') + 1); }
};

/// The options given, in order; if not repeatable, only the last. At first there are none.
class GivenOptions {
 public:
  struct Given {
    const ProcessOption* option;
    std::string text;  ///< for one without a value: what it sets its key to, if any
  };

  /// Removes options from the front of `words`, up to a command, which stays with its words. Words
  /// that begin with a dash and name no option are left out, as zkCli does; so is a last option
  /// without its value. Throws UsageError for a switch that is neither on nor off.
  void take(std::vector<std::string>& words);

  /// What was left out: a sentence for each, that names it.
  const std::vector<std::string>& left_out() const { return left_out_; }

  const std::vector<Given>& all() const { return given_; }
  /// The value of the option with this name (ProcessOption::name); null if it was not given.
  const std::string* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  void add(const ProcessOption& option, const std::optional<std::string>& value);

  std::vector<Given> given_;
  std::vector<std::string> left_out_;
};

constexpr std::array<std::string_view, 3> sandbox_sizes{"1", "3", "5"};
constexpr std::array<std::string_view, 3> drop_in_names{"zkcli", "zookeeper-shell", "zksh"};

/// In the order of --help.
constexpr auto all_options = std::to_array<ProcessOption>(
    {{"-s,--server", "HOSTS",
      "host[:port][,host[:port]…][/chroot]; default: $ZKSH_SERVER, or localhost:2181", "server"},
     {"-p,--profile", "NAME", "Use this section of the configuration file; default: $ZKSH_PROFILE"},
     {"-t,--timeout", "MS", "Session timeout in milliseconds, or with a unit (30000)", "timeout"},
     {"--connect-timeout", "TIME", "How long to wait for a connection (10s)", "connect-timeout"},
     {"-r", "", "Accept a read-only server"},
     {"--read-only", "", "Send no writes; accept a read-only server", "read-only", "on"},
     {"--admin-server", "PORT|HOST:PORT,…",
      "Port or addresses of the AdminServers (8080), which are asked when a server does not allow "
      "a four-letter word; off: do not ask",
      "admin-server"},
     {"--auth-file", "FILE",
      "File of credentials for every session: a scheme and a credential on each line", "auth-file"},
     {"--tls", "", "Use TLS; every other --tls option implies it", "tls", "on"},
     {"--tls-ca", "FILE",
      "Trust only these CA certificates (PEM, perhaps with CRLs, or PKCS#12), not the system's",
      "tls-ca"},
     {"--tls-ca-password-file", "FILE", "A file whose first line is the password of --tls-ca",
      "tls-ca-password-file"},
     {"--tls-cert", "FILE", "Client certificate with its chain (PEM, or PKCS#12 with the key)",
      "tls-cert"},
     {"--tls-key", "FILE", "The client certificate's private key (PEM), if not in the same file",
      "tls-key"},
     {"--tls-key-password-file", "FILE",
      "A file whose first line is the password of the private key, or of the PKCS#12 file",
      "tls-key-password-file"},
     {"--sasl-mechanism", "NAME",
      "Authenticate with SASL: DIGEST-MD5 (the default with a user) or GSSAPI", "sasl-mechanism"},
     {"--sasl-user", "NAME", "The SASL user", "sasl-user"},
     {"--sasl-password-file", "FILE", "A file whose first line is the SASL password",
      "sasl-password-file"},
     {"--tls-no-verify", "", "Do not verify the server's certificate; insecure", "tls-verify",
      "off"},
     {.names = "-c",
      .value = "COMMANDS",
      .help = "Run these commands, separated by ; or newlines; may be repeated",
      .repeatable = true},
     {.names = "-f,--file",
      .value = "FILE",
      .help = "Run the commands of a file (- for standard input); may be repeated; the "
              "arguments after the options are $1, $2, … in it",
      .repeatable = true},
     {"-k,--keep-going", "", "Continue a script after a failure"},
     {"-q,--quiet", "",
      "Print results and errors only: no news of the connection, locks or the sandbox, no tally"},
     {"--pipe", "", "Send the commands of standard input or -f without waiting for each answer"},
     {"--window", "N", "With --pipe: maximum number of outstanding requests"},
     {"--rate", "N", "With --pipe: maximum number of commands per second"},
     {"-o,--output", "FORMAT",
      "Output format: zkcli (as zkCli.sh prints; also: text, table), plain (one item a line) or "
      "json (one value a line)",
      "output"},
     {"--zkcli", "VERSION",
      "zkCli version to mimic: 3.8, 3.9, or 3.4 for scripts that expect a Stat after each command",
      "zkcli"},
     {.names = "--as",
      .value = "NAME",
      .help = "zkcli: run in the place of zkCli.sh, for its users' scripts; zookeeper-shell: of "
              "Kafka's zookeeper-shell.sh, whose first word is the server; default: $ZKSH_AS, or "
              "as the program is called",
      .key = "as",
      .choices = drop_in_names},
     {"--color", "WHEN", "auto (on a terminal, unless NO_COLOR is set), always or never", "color"},
     {.names = "--sandbox",
      .value = "[=N]",
      .help = "Start 1, 3 or 5 temporary private servers, and connect to them",
      .choices = sandbox_sizes},
     {"--zookeeper", "VERSION|DIR",
      "With --sandbox: the ZooKeeper to run: a version that the tests have downloaded, or a "
      "directory with its jars"},
     {.names = "--data",
      .value = "DIR[@T]",
      .help =
          "With --sandbox: start the server with a copy of these files of a server (its dataDir "
          "or dataLogDir, or a backup), as of this time or zxid; read-only unless the "
          "configuration says read-only = off; may be repeated",
      .repeatable = true},
     {"--log-level", "LEVEL",
      "Log level of the ZooKeeper C client, on stderr: 0 (none) to 4 (debug)"},
     {"--waitforconnection", "",
      "Accepted as in zkCli; zksh always waits. In its place: fail if there is no connection "
      "within "
      "--timeout"},
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

std::vector<std::string> names_of(const ProcessOption& option) {
  const auto names = split(option.names, ',');
  return {names.begin(), names.end()};
}

/// What an option without a value sets its key to; empty if it has none. `on` is false for
/// --NAME=off, which matters only if a file could say otherwise.
std::optional<std::string> flag_text(const ProcessOption& option, bool on) {
  if (option.key.empty()) return on ? std::optional<std::string>("") : std::nullopt;
  if (on) return std::string(option.sets);
  return option.sets == "on" ? "off" : "on";
}

std::string unknown_text(const std::string& word) {
  std::vector<std::string> known;
  for (const auto& option : all_options)
    for (auto& name : names_of(option)) known.push_back(std::move(name));
  // Single letters resemble each other; only a longer word tells what was meant.
  const auto similar = word.size() > 2 ? suggestions(word, known) : std::vector<std::string>{};
  return fmt::format("unknown option {}{}", word,
                     similar.empty() ? "" : fmt::format("; did you mean {}?", similar.front()));
}

/// Whether the option's value is the next word, unless it follows a =.
bool takes_next_word(const ProcessOption& option) {
  return !option.value.empty() && !option.value.starts_with('[');
}

/// The option that a word names; null if it names none. Letters after one dash are no cluster:
/// zkCli has options such as -server.
const ProcessOption* option_named_by(const std::string& word) {
  const auto name = word.starts_with("--") ? word.substr(0, word.find('=')) : word;
  for (const auto& option : all_options)
    if (option.names.find(name) != std::string_view::npos &&
        std::ranges::count(names_of(option), name) > 0)
      return &option;
  return nullptr;
}

void GivenOptions::take(std::vector<std::string>& words) {
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-') && words[at].size() > 1; ++at) {
    if (words[at] == "--") break;
    const auto word = long_spelling(words[at]);
    const auto* const option = option_named_by(word);
    if (!option) {
      left_out_.push_back(unknown_text(words[at]));
      continue;
    }
    const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    auto value =
        equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1));
    if (takes_next_word(*option) && !value) {
      if (at + 1 == words.size() || option_named_by(long_spelling(words[at + 1]))) {
        left_out_.push_back(words[at] + " needs a value");
        continue;
      }
      value = words[++at];
    }
    add(*option, value);
  }
  if (at < words.size() && words[at] == "--") ++at;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
}

/// `value` is what was given with an option that takes one, or --NAME=off.
void GivenOptions::add(const ProcessOption& option, const std::optional<std::string>& value) {
  auto text = !option.value.empty()
                  ? value
                  : flag_text(option, !value || parse_switch(*value, option.name()));
  if (!option.repeatable)
    std::erase_if(given_, [&](const Given& one) { return one.option == &option; });
  if (text) given_.push_back({&option, std::move(*text)});
}

const std::string* GivenOptions::find(std::string_view name) const {
  const auto found =
      std::ranges::find(given_, name, [](const Given& one) { return one.option->name(); });
  return found == given_.end() ? nullptr : &found->text;
}

/// -c and -f in the order in which they were given.
std::vector<ScriptSource> scripts_of(const GivenOptions& given) {
  std::vector<ScriptSource> scripts;
  for (const auto& [option, text] : given.all()) {
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

/// How many servers, and of which ZooKeeper.
void take_sandbox(const GivenOptions& given, Arguments& arguments) {
  const auto* const zookeeper = given.find("--zookeeper");
  const auto* const text = given.find("--sandbox");
  if (text == nullptr) {
    if (zookeeper != nullptr) throw UsageError("--zookeeper needs --sandbox");
    return;
  }
  const auto number = text->empty() ? 1 : parse_number(*text, "--sandbox", 1, 5);
  if (number != 1 && number != 3 && number != 5)
    throw UsageError(fmt::format("--sandbox={}: the number of servers must be 1, 3 or 5", number));
  if (given.has("--server"))
    throw UsageError("--sandbox starts servers of its own; use it without --server");
  arguments.sandbox_servers = static_cast<int>(number);
  if (zookeeper != nullptr) arguments.sandbox_zookeeper = with_home(*zookeeper);
}

/// The files for the sandbox, and their moment. The name of a directory may contain an @.
void take_data(const GivenOptions& given, Arguments& arguments) {
  if (!given.has("--data")) return;
  if (arguments.sandbox_servers != 1) throw UsageError("--data needs --sandbox, with one server");
  for (const auto& [option, text] : given.all()) {
    if (option->name() != "--data") continue;
    const auto at = text.rfind('@');
    const bool whole = at == std::string::npos || access(with_home(text).c_str(), F_OK) == 0;
    if (!whole) arguments.sandbox_moment = parse_moment(text.substr(at + 1), "--data");
    arguments.sandbox_data.push_back(whole ? text : text.substr(0, at));
  }
}

/// Throws UsageError for what cannot be combined with --pipe.
std::optional<PipeSettings> parse_pipe(const GivenOptions& given, const Arguments& arguments) {
  constexpr std::int64_t most_in_flight = 10'000;
  constexpr std::int64_t most_a_second = 1'000'000;
  const auto* const window = given.find("--window");
  const auto* const rate = given.find("--rate");
  if (!given.has("--pipe")) {
    if (window != nullptr || rate != nullptr) throw UsageError("--window and --rate need --pipe");
    return std::nullopt;
  }
  const auto texts =
      std::ranges::count(arguments.scripts, ScriptSource::Kind::Text, &ScriptSource::kind);
  if (texts > 0 || !arguments.command.empty())
    throw UsageError("--pipe reads its commands from standard input or one file (-f)");
  PipeSettings settings;
  settings.quiet = given.has("--quiet");
  if (window != nullptr)
    settings.window =
        static_cast<std::size_t>(parse_number(*window, "--window", 1, most_in_flight));
  if (rate != nullptr) settings.rate = parse_number(*rate, "--rate", 1, most_a_second);
  return settings;
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
  const char* const preset = std::getenv("ZKSH_PROFILE");
  if (preset && *preset) return Configuration::Value{preset, "$ZKSH_PROFILE"};
  return std::nullopt;
}

/// $ZKSH_SERVER overrides the files, but not a profile chosen for this run, by option or
/// $ZKSH_PROFILE, which implies its servers.
void overlay_server(Configuration& config) {
  const char* const preset = std::getenv("ZKSH_SERVER");
  const auto& chosen_by = config["profile"].origin;
  const bool of_profile = (chosen_by == "--profile" || chosen_by == "$ZKSH_PROFILE") &&
                          config["server"].origin.ends_with(" [" + config.profile() + "]");
  if (preset && *preset && !of_profile) config.set("server", preset, "$ZKSH_SERVER");
}

/// Finds out in whose place the program runs: as an option says, or the program's name, the
/// environment, a file.
const DropIn* take_drop_in(const GivenOptions& given, std::string_view program,
                           Configuration& config) {
  const char* const preset = std::getenv("ZKSH_AS");
  if (const auto* const named = given.find("--as"))
    config.set("as", *named, "--as");
  else if (const auto* const started = drop_in_started_as(program))
    config.set("as", std::string(started->name), "the program's name");
  else if (preset && *preset)
    config.set("as", preset, "$ZKSH_AS");
  const auto* const drop_in = drop_in_named(config.text("as"), config.described("as"));
  if (drop_in)
    for (const auto& [key, value] : drop_in_settings())
      config.set(key, std::string(value), fmt::format("as {}", drop_in->name));
  return drop_in;
}

/// zksh refuses what zkCli skips.
void take_left_out(const GivenOptions& given, bool drop_in, std::string& warning) {
  for (const auto& problem : given.left_out()) {
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
  for (const auto& [option, text] : given.all())
    if (!option->key.empty()) config.set(option->key, text, std::string(option->name()));
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
  // zkCli's timeout is that of the connection, too.
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

/// The same; but zkCli ends with status 1 if the server or the timeout is malformed. Throws Error.
void take_as_zkcli(const Configuration& config, Arguments& arguments) {
  try {
    take(config, arguments);
  } catch (const UsageError& error) {
    throw Error(error.what());
  }
}

/// Whether the words are a command with -o json.
bool is_json_command(const std::vector<std::string>& words) {
  const auto* const command = words.empty() ? nullptr : command_named(words.front());
  if (!command || !may_choose_format(words)) return false;
  const auto arguments = command->arguments();
  const auto options = given_words(arguments, std::span(words).subspan(1)).options;
  return std::ranges::any_of(options, [](const GivenWords::Option& given) {
    return is_output_option(*given.option) && given.value == "json";
  });
}

/// The options that determine how sessions are opened and secured.
std::vector<std::string> session_options_of(const GivenOptions& given) {
  constexpr std::array others{"--profile", "-r", "--log-level", "--client-configuration"};
  std::vector<std::string> words;
  for (const auto& [option, text] : given.all()) {
    const bool wanted = !option->key.empty() || std::ranges::count(others, option->name()) > 0;
    if (!wanted) continue;
    words.emplace_back(option->name());
    if (!option->value.empty()) words.push_back(text);
  }
  return words;
}

}  // namespace

std::vector<Argument> process_options() {
  std::vector<Argument> arguments;
  for (const auto& option : all_options) {
    Argument argument;
    argument.kind = Argument::Kind::Flag;
    if (!option.value.empty() && !option.value.starts_with('['))
      argument.kind = option.value == "FILE" ? Argument::Kind::File : Argument::Kind::Text;
    argument.names = names_of(option);
    argument.value = option.value;
    argument.help = option.help;
    const auto* const setting = Settings::find(option.key);
    const auto choices = setting ? std::span(setting->choices) : option.choices;
    argument.choices.assign(choices.begin(), choices.end());
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string process_help() {
  constexpr std::size_t margin = 26;
  std::string text =
      "zksh [OPTIONS] [COMMAND ARGUMENTS…]\nzksh [OPTIONS] -f FILE… [ARGUMENTS…]\n\nA shell for "
      "Apache ZooKeeper. It runs COMMAND, or the commands of -c or -f. Without\nthem, it reads "
      "commands from standard input, and is interactive on a terminal.\n`zksh help` lists the "
      "commands.\n\nOptions\n";
  for (const auto& option : all_options) {
    const bool apart = !option.value.empty() && !option.value.starts_with('[');
    const auto left = fmt::format("  {}{}{}", option.names, apart ? " " : "", option.value);
    text += fmt::format("{:<{}}", left, margin);
    // What is too long for the column gets a line of its own.
    if (left.size() + 1 > margin) text += '\n' + std::string(margin, ' ');
    for (const char c : wrapped(option.help, page_width - margin)) {
      text += c;
      if (c == '\n') text.append(margin, ' ');
    }
    text += '\n';
  }
  return text +
         "\nExit status: 0 success; 1 false or failed; 2 usage; 3 no connection; 4 no node; 5 "
         "node\nexists; 6 version mismatch; 7 not authorised; 8 has children; 9 session "
         "expired;\n10 outcome unknown; 11 read-only; 12 refused by the server; 75 lock busy; 76 "
         "lock lost;\n124 timed out; 126, 127 program cannot be run, not found; 128+n signal n.\n";
}

Arguments parse_arguments(std::vector<std::string> words, std::string_view program) {
  Arguments arguments;
  GivenOptions given;
  given.take(words);
  auto& config = arguments.configuration;
  try {
    config.read_files(requested_profile(given.find("--profile")));
  } catch (const UsageError& error) {
    // It lists the keys, so that the file can be mended.
    if (!given.has("--show-config")) throw;
    config = Configuration();
    arguments.warning = error.what() + std::string("; no configuration file was read");
    arguments.answer_status = status::usage;
  }
  const auto* const drop_in = take_drop_in(given, program, config);
  arguments.drop_in = drop_in != nullptr;
  overlay_server(config);
  if (drop_in && drop_in->server_first) take_first_word(given, words, config);
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
  if (const auto* const level = given.find("--log-level"))
    arguments.session.log_level = static_cast<int>(parse_number(*level, "--log-level", 0, 4));
  // News and warnings then have the format of the only command, too.
  arguments.scripts = scripts_of(given);
  if (arguments.scripts.empty() && !arguments.drop_in && is_json_command(arguments.command))
    config.set("output", "json", "-o");
  // The past is not to be changed by mistake.
  if (given.has("--data") && config["read-only"].origin == "default")
    config.set("read-only", "on", "--data");
  if (arguments.drop_in)
    take_as_zkcli(config, arguments);
  else
    take(config, arguments);
  take_sandbox(given, arguments);
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
