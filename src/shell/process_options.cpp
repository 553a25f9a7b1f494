// Process options: declared once, and parsed as zkCli parses its own.
#include "shell/process_options.h"

#include "base/suggestions.h"
#include "base/text.h"
#include "command/help.h"
#include "config/settings.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace zksh {
namespace {

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
     {"--tls", "", "Use TLS", "tls", "on"},
     {"--tls-ca", "FILE",
      "Trust only these CA certificates (PEM or PKCS#12), not the system's; implies --tls",
      "tls-ca"},
     {"--tls-ca-password-file", "FILE", "A file whose first line is the password of --tls-ca",
      "tls-ca-password-file"},
     {"--tls-cert", "FILE",
      "Client certificate with its chain (PEM, or PKCS#12 with the key); implies --tls",
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
     {"--waitforconnection", "", "Accepted as in zkCli; zksh always waits"},
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

}  // namespace zksh
