// Arguments: what zksh was started with, on CLI11.
#include "arguments.h"

#include "auth_file.h"
#include "client_configuration.h"
#include "connect_string.h"
#include "duration.h"
#include "home.h"
#include "nearest.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace zksh {
namespace {

/// zkCli's long options have one dash, which CLI11 would read as a cluster of letters.
std::string long_spelling(const std::string& word) {
  constexpr std::array zkcli{"-server", "-timeout", "-waitforconnection", "-client-configuration"};
  return std::ranges::find(zkcli, word) != zkcli.end() ? '-' + word : word;
}

/// The options as text, still unchecked.
struct Raw {
  std::string server;
  std::string timeout;
  std::string connect_timeout;
  std::string format;
  std::string sandbox;
  std::string client_configuration;
  std::string profile;
  std::string color;
  std::string auth_file;
  std::map<std::string_view, std::string> security;  // by the names of security_options
  bool tls = false;
  bool tls_no_verify = false;
  int log_level = 0;
  bool any_server = false;
  bool read_only = false;
  bool show_config = false;
  bool keep_going = false;
  bool pipe = false;
  std::string window;
  std::string rate;
  bool wait_for_connection = false;
  bool help = false;
  bool version = false;
  std::vector<std::string> commands;
  std::vector<std::string> files;
};

/// What is run, and how.
void declare_scripts(CLI::App& app, Raw& raw) {
  app.add_option("-c", raw.commands,
                 "Run these commands, separated by ; or newlines; may be repeated")
      ->type_name("COMMANDS")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_option("-f,--file", raw.files,
                 "Run the commands of a file; - is standard input; may be repeated")
      ->type_name("FILE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_flag("-k,--keep-going", raw.keep_going, "A script runs on after a failure");
  app.add_flag("--pipe", raw.pipe,
               "Send the commands of standard input, or of -f, without waiting for each answer");
  app.add_option("--window", raw.window, "With --pipe: how many answers may be outstanding (256)")
      ->type_name("N");
  app.add_option("--rate", raw.rate, "With --pipe: at most so many commands a second")
      ->type_name("N");
}

/// TLS and SASL.
void declare_security(CLI::App& app, Raw& raw) {
  app.add_flag("--tls", raw.tls, "Connect with TLS");
  for (const auto& [name, value, help] : security_options())
    app.add_option(fmt::format("--{}", name), raw.security[name], std::string(help))
        ->type_name(std::string(value));
  app.add_flag("--tls-no-verify", raw.tls_no_verify,
               "Whatever certificate the server shows will do: no protection from an impostor");
}

void declare(CLI::App& app, Raw& raw) {
  app.set_help_flag();
  app.prefix_command();
  app.option_defaults()->take_last();
  app.add_option("-s,--server", raw.server,
                 "host[:port][,host[:port]…][/chroot]; localhost:2181, or $ZKSH_SERVER")
      ->type_name("HOSTS");
  app.add_option("-p,--profile", raw.profile,
                 "Take the values of this section of the configuration file; or $ZKSH_PROFILE")
      ->type_name("NAME");
  app.add_option("-t,--timeout", raw.timeout,
                 "Session timeout in milliseconds (30000), or with a unit")
      ->type_name("MS");
  app.add_option("--connect-timeout", raw.connect_timeout, "How long to wait for a server (10s)")
      ->type_name("TIME");
  app.add_flag("-r", raw.any_server, "A read-only server will do");
  app.add_flag("--read-only", raw.read_only, "Send no write at all; a read-only server will do");
  app.add_option(
         "--auth-file", raw.auth_file,
         "Add the credentials of this file to every session: lines of scheme and credential")
      ->type_name("FILE");
  declare_security(app, raw);
  declare_scripts(app, raw);
  app.add_option("-o,--output", raw.format,
                 "zkcli (as zkCli.sh prints), plain (one item a line) or json (one value a line)")
      ->type_name("FORMAT");
  app.add_option("--color", raw.color,
                 "auto (on a terminal, unless NO_COLOR is set), always, never")
      ->type_name("WHEN");
  app.add_option("--sandbox", raw.sandbox,
                 "Start N (1, 3 or 5) private throw-away servers and connect to them")
      ->type_name("[=N]")
      ->expected(0, 1)
      ->default_str("1");
  app.add_option("--log-level", raw.log_level,
                 "Log of the ZooKeeper C client on stderr: 0 none to 4 debug")
      ->check(CLI::Range(0, 4))
      ->type_name("LEVEL");
  app.add_flag("--waitforconnection", raw.wait_for_connection, "As in zkCli; zksh always waits");
  app.add_option("--client-configuration", raw.client_configuration, "zkCli's properties file")
      ->type_name("FILE");
  app.add_flag("--show-config", raw.show_config,
               "Print what is configured, and where each value came from, and exit");
  app.add_flag("--help", raw.help, "Print this and exit");
  app.add_flag("--version", raw.version, "Print the version and exit");
}

/// The names of the formats of -o.
constexpr std::array<std::pair<const char*, Format>, 3> formats{
    {{"zkcli", Format::Zkcli}, {"plain", Format::Plain}, {"json", Format::Json}}};

std::vector<Argument> declared(const CLI::App& app) {
  std::vector<Argument> arguments;
  for (const CLI::Option* option : app.get_options()) {
    Argument argument;
    argument.kind = Argument::Kind::Flag;
    argument.help = option->get_description();
    for (const auto& name : option->get_snames()) argument.names.push_back('-' + name);
    for (const auto& name : option->get_lnames()) argument.names.push_back("--" + name);
    const auto value = option->get_type_name();  // perhaps followed by a colon and the range
    if (option->get_items_expected_max() > 0) argument.value = value.substr(0, value.find(':'));
    if (option->get_items_expected_min() > 0)
      argument.kind = argument.value == "FILE" ? Argument::Kind::File : Argument::Kind::Text;
    if (option->check_lname("output"))
      for (const auto& [name, format] : formats) argument.choices.emplace_back(name);
    if (option->check_lname("color")) argument.choices = {"auto", "always", "never"};
    if (option->check_lname("sandbox")) argument.choices = {"1", "3", "5"};
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string help_text(const CLI::App& app) {
  std::string text =
      "zksh [OPTIONS] [COMMAND ARGUMENTS…]\n\n"
      "A shell for Apache ZooKeeper: interactive on a terminal, else the commands on standard\n"
      "input; with COMMAND, -c or -f those alone. `zksh help` lists the commands.\n\nOptions\n";
  for (const auto& argument : declared(app)) {
    const bool apart = !argument.value.empty() && !argument.value.starts_with('[');
    const auto left =
        fmt::format("  {}{}{}", fmt::join(argument.names, ","), apart ? " " : "", argument.value);
    text += fmt::format("{:<34} {}\n", left, argument.help);
  }
  return text +
         "\nExit status: 0 done; 1 a false answer; 2 usage; 3 no connection; 4 no node; 5 node "
         "exists;\n"
         "6 version; 7 not authorised; 8 has children; 9 session expired; 10 outcome unknown;\n"
         "11 read-only; 12 refused by the server; 124 timed out; 128+n signal n.\n";
}

/// -c and -f in the order in which they were given.
std::vector<ScriptSource> script_order(const CLI::App& app, const Raw& raw) {
  std::vector<ScriptSource> scripts;
  std::size_t commands = 0;
  std::size_t files = 0;
  for (const CLI::Option* option : app.parse_order()) {
    if (option->check_sname("c") && commands < raw.commands.size())
      scripts.push_back({ScriptSource::Kind::Text, raw.commands[commands++]});
    else if (option->check_sname("f") && files < raw.files.size()) {
      const auto& name = raw.files[files++];
      scripts.push_back(
          {name == "-" ? ScriptSource::Kind::StandardInput : ScriptSource::Kind::File, name});
    }
  }
  return scripts;
}

/// How messages name a value.
std::string described(const Configuration& config, std::string_view key) {
  const auto& origin = config[key].origin;
  return origin.starts_with('-') ? origin : fmt::format("{} ({})", key, origin);
}

Format parse_format(const Configuration& config) {
  for (const auto& [name, format] : formats)
    if (config.text("output") == name) return format;
  throw UsageError(fmt::format("{} {}: the formats are zkcli, plain and json",
                               config["output"].origin, config.text("output")));
}

int parse_sandbox(const CLI::App& app, const std::string& text) {
  if (app.count("--sandbox") == 0) return 0;
  const auto number = text.empty() ? 1 : parse_number(text, "--sandbox", 1, 5);
  if (number != 1 && number != 3 && number != 5)
    throw UsageError(fmt::format("--sandbox={}: an ensemble has 1, 3 or 5 servers", number));
  return static_cast<int>(number);
}

/// Throws UsageError for what --pipe cannot be given with.
std::optional<PipeSettings> parse_pipe(const Raw& raw, const Arguments& arguments) {
  constexpr std::int64_t most_in_flight = 10'000;
  constexpr std::int64_t most_a_second = 1'000'000;
  if (!raw.pipe) {
    if (!raw.window.empty() || !raw.rate.empty())
      throw UsageError("--window and --rate are options of --pipe");
    return std::nullopt;
  }
  const bool text = std::ranges::any_of(arguments.scripts, [](const ScriptSource& script) {
    return script.kind == ScriptSource::Kind::Text;
  });
  if (text || !arguments.command.empty())
    throw UsageError("--pipe takes its commands from standard input, or a file (-f)");
  PipeSettings settings;
  if (!raw.window.empty())
    settings.window =
        static_cast<std::size_t>(parse_number(raw.window, "--window", 1, most_in_flight));
  if (!raw.rate.empty()) settings.rate = parse_number(raw.rate, "--rate", 1, most_a_second);
  return settings;
}

/// `given`: by the option.
std::optional<Configuration::Value> wanted_profile(const std::optional<std::string>& given) {
  if (given) return Configuration::Value{*given, "--profile"};
  const char* const preset = std::getenv("ZKSH_PROFILE");
  if (preset && *preset) return Configuration::Value{preset, "$ZKSH_PROFILE"};
  return std::nullopt;
}

/// $ZKSH_SERVER goes before the files, but not before a profile that an option asked for: whoever
/// names the profile means its servers.
void overlay_server(Configuration& config) {
  const char* const preset = std::getenv("ZKSH_SERVER");
  const bool of_option = config["profile"].origin == "--profile" &&
                         config["server"].origin.ends_with(" [" + config.profile() + "]");
  if (preset && *preset && !of_option) config.set("server", preset, "$ZKSH_SERVER");
}

/// What the environment and the options say, over what the files say.
void overlay(const CLI::App& app, const Raw& raw, Configuration& config) {
  overlay_server(config);
  const std::array<std::tuple<const char*, const char*, const std::string*>, 6> options{
      {{"server", "--server", &raw.server},
       {"timeout", "--timeout", &raw.timeout},
       {"connect-timeout", "--connect-timeout", &raw.connect_timeout},
       {"output", "-o", &raw.format},
       {"color", "--color", &raw.color},
       {"auth-file", "--auth-file", &raw.auth_file}}};
  for (const auto& [key, option, value] : options)
    if (app.count(option) > 0) config.set(key, *value, option);
  if (raw.read_only) config.set("read-only", "on", "--read-only");
  for (const auto& [name, text] : raw.security)
    if (const auto option = fmt::format("--{}", name); app.count(option) > 0)
      config.set(name, text, option);
  if (raw.tls) config.set("tls", "on", "--tls");
  if (raw.tls_no_verify) config.set("tls-verify", "off", "--tls-no-verify");
}

/// What the configuration says of the session and the output. Throws UsageError.
void take(const Configuration& config, Arguments& arguments) {
  using namespace std::chrono_literals;
  arguments.server = config.text("server");
  if (arguments.server.empty())
    throw UsageError(described(config, "server") + ": the name of the server is empty");
  parse_connect_string(arguments.server);  // says what is wrong with it
  auto& session = arguments.session;
  session.session_timeout_ms = static_cast<int>(std::clamp<std::int64_t>(
      parse_duration(config.text("timeout"), described(config, "timeout"), 1ms).count(), 1,
      INT32_MAX));
  session.connect_timeout =
      parse_duration(config.text("connect-timeout"), described(config, "connect-timeout"));
  arguments.read_only = config.is_on("read-only");
  session.read_only = session.read_only || arguments.read_only;
  arguments.production = config.is_on("production");
  arguments.format = parse_format(config);
  if (const auto& name = config.text("auth-file"); !name.empty()) {
    auto file = read_auth_file(with_home(name));
    session.credentials = std::move(file.credentials);
    session.credentials_file = name;
    arguments.warning = std::move(file.warning);
  }
}

std::optional<Inquiry> parse_inquiry(int count, const char* const* words) {
  constexpr std::array<std::pair<std::string_view, Inquiry::Kind>, 3> kinds{
      {{"--man", Inquiry::Kind::ManPage},
       {"--examples", Inquiry::Kind::Examples},
       {"--complete", Inquiry::Kind::Candidates}}};
  for (const auto& [name, kind] : kinds)
    if (count > 1 && words[1] == name) return Inquiry{kind, {words + 2, words + count}};
  return std::nullopt;
}

void reject_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
    for (const auto& name : option->get_snames()) known.push_back("-" + name);
  }
  // Any letter is near any other: only a longer word says what was meant.
  const auto similar = word.size() > 2 ? nearest(word, known) : std::vector<std::string>{};
  throw UsageError(
      fmt::format("unknown option {}{}; zksh --help lists them", word,
                  similar.empty() ? "" : fmt::format("; did you mean {}?", similar.front())));
}

}  // namespace

Arguments parse_arguments(int count, const char* const* words) {
  if (auto inquiry = parse_inquiry(count, words)) {
    Arguments arguments;
    arguments.inquiry = std::move(inquiry);
    return arguments;
  }
  CLI::App app;
  Raw raw;
  declare(app, raw);
  std::vector<std::string> list;
  bool in_options = true;
  for (int i = 1; i < count; ++i) {
    // Only zksh's own options are respelled, not a command's words.
    in_options = in_options && (i == 1 || words[i][0] == '-' || words[i - 1][0] == '-');
    list.push_back(in_options ? long_spelling(words[i]) : std::string(words[i]));
    if (list.back() == "--sandbox") list.back() = "--sandbox=1";
  }
  try {
    auto reversed = list;
    std::ranges::reverse(reversed);  // CLI11 takes them from the back
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch&) {
    throw UsageError(
        fmt::format("the value of {} is missing", list.empty() ? "an option" : list.back()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  Arguments arguments;
  if (raw.help) arguments.answer = help_text(app);
  if (raw.version) arguments.answer = fmt::format("zksh {}\n", ZKSH_VERSION);
  arguments.command = app.remaining();
  if (!arguments.command.empty() && arguments.command.front() == "--")
    arguments.command.erase(arguments.command.begin());
  else if (!arguments.command.empty() && arguments.command.front().starts_with('-') &&
           arguments.command.front().size() > 1)
    reject_unknown(app, arguments.command.front());
  arguments.session.read_only = raw.any_server;
  arguments.session.log_level = raw.log_level;
  auto& config = arguments.configuration;
  config.read_files(
      wanted_profile(app.count("--profile") > 0 ? std::optional(raw.profile) : std::nullopt));
  overlay(app, raw, config);
  take(config, arguments);
  arguments.sandbox_servers = parse_sandbox(app, raw.sandbox);
  if (arguments.sandbox_servers == 0)
    arguments.session.security =
        take_security(config, with_home(raw.client_configuration), arguments.warning);
  if (raw.show_config) arguments.answer = config.report();
  arguments.keep_going = raw.keep_going;
  arguments.scripts = script_order(app, raw);
  arguments.pipe = parse_pipe(raw, arguments);
  if (!arguments.scripts.empty() && !arguments.command.empty())
    throw UsageError(fmt::format("\"{}\" stands after -c or -f: give either commands or a script",
                                 arguments.command.front()));
  return arguments;
}

std::vector<Argument> process_options() {
  CLI::App app;
  Raw raw;
  declare(app, raw);
  return declared(app);
}

std::string default_server(const std::string& profile) {
  Configuration config;
  config.read_files(wanted_profile(profile.empty() ? std::nullopt : std::optional(profile)));
  overlay_server(config);
  return config.text("server");
}

}  // namespace zksh
