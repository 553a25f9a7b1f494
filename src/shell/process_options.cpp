// Process options: declared once, and parsed by CLI11.
#include "shell/process_options.h"

#include "base/suggestions.h"
#include "base/text.h"
#include "command/help.h"
#include "config/settings.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace zksh {
namespace {

constexpr std::array<std::string_view, 3> sandbox_sizes{"1", "3", "5"};

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
     {"--window", "N", "With --pipe: maximum number of outstanding requests (256)"},
     {"--rate", "N", "With --pipe: maximum number of commands per second"},
     {"-o,--output", "FORMAT",
      "Output format: zkcli (as zkCli.sh prints; also: text, table), plain (one item a line) or "
      "json (one value a line)",
      "output"},
     {"--zkcli", "VERSION",
      "zkCli version to mimic: 3.8, 3.9, or 3.4 for scripts that expect a Stat after each command",
      "zkcli"},
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

/// zkCli's long options have one dash, which CLI11 would parse as a cluster.
std::string long_spelling(const std::string& word) {
  constexpr std::array zkcli{"-server", "-timeout", "-waitforconnection", "-client-configuration"};
  if (word == "--sandbox") return "--sandbox=1";  // its value must follow a =
  return std::ranges::find(zkcli, word) != zkcli.end() ? '-' + word : word;
}

std::vector<std::string> names_of(const ProcessOption& option) {
  const auto names = split(option.names, ',');
  return {names.begin(), names.end()};
}

/// Whether a word may be the option, by one of its names; false positives are harmless.
bool could_give(const std::string& word, const std::string& name) {
  if (name.starts_with("--")) return word.starts_with(name);
  return word.starts_with('-') && !word.starts_with("--") &&
         word.find(name[1], 1) != std::string::npos;
}

using Declared = std::map<const CLI::Option*, const ProcessOption*>;

/// Declares only the options that the words may contain: in CLI11 the cost of an option grows with
/// the number of options, and scripts use one or two.
Declared declare(CLI::App& app, const std::vector<std::string>& words) {
  Declared declared;
  app.set_help_flag();
  app.prefix_command();
  for (const auto& option : all_options) {
    const auto names = names_of(option);
    const bool possible = std::ranges::any_of(words, [&](const std::string& word) {
      return std::ranges::any_of(names,
                                 [&](const std::string& name) { return could_give(word, name); });
    });
    if (!possible) continue;
    auto* const added = option.value.empty() ? app.add_flag(std::string(option.names))
                                             : app.add_option(std::string(option.names));
    if (option.repeatable)
      added->take_all()->expected(1)->allow_extra_args(false);
    else
      added->take_last();
    declared.emplace(added, &option);
  }
  return declared;
}

/// What an option without a value sets its key to; empty if it has none. `on` is false for
/// --NAME=off, which matters only if a file could say otherwise.
std::optional<std::string> flag_text(const ProcessOption& option, bool on) {
  if (option.key.empty()) return on ? std::optional<std::string>("") : std::nullopt;
  if (on) return std::string(option.sets);
  return option.sets == "on" ? "off" : "on";
}

/// The options in the order of the words. Throws CLI::ParseError.
std::vector<GivenOptions::Given> given_in(const CLI::App& app, const Declared& declared) {
  std::vector<GivenOptions::Given> all;
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* given : app.parse_order()) {
    const auto& option = *declared.at(given);
    const auto number = seen[given]++;
    if (option.repeatable) {
      all.push_back({&option, given->results().at(number)});
    } else if (number == 0) {
      auto text = option.value.empty() ? flag_text(option, given->as<bool>())
                                       : std::optional(given->as<std::string>());
      if (text) all.push_back({&option, std::move(*text)});
    }
  }
  return all;
}

[[noreturn]] void reject_unknown(const std::string& word) {
  std::vector<std::string> known;
  for (const auto& option : all_options)
    for (auto& name : names_of(option)) known.push_back(std::move(name));
  // Single letters resemble each other; only a longer word tells what was meant.
  const auto similar = word.size() > 2 ? suggestions(word, known) : std::vector<std::string>{};
  throw UsageError(
      fmt::format("unknown option {}{}; see zksh --help", word,
                  similar.empty() ? "" : fmt::format("; did you mean {}?", similar.front())));
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

GivenOptions::GivenOptions(std::vector<std::string>& words) {
  bool in_options = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    // Respells only zksh's own options, not a command's words.
    in_options =
        in_options && (i == 0 || words[i].starts_with('-') || words[i - 1].starts_with('-'));
    if (in_options) words[i] = long_spelling(words[i]);
  }
  CLI::App app;
  const auto declared = declare(app, words);
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // it takes words from the back
    given_ = given_in(app, declared);
  } catch (const CLI::ArgumentMismatch&) {
    throw UsageError(fmt::format("{} needs a value", words.empty() ? "an option" : words.back()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  words = app.remaining();
  if (!words.empty() && words.front() == "--")
    words.erase(words.begin());
  else if (!words.empty() && words.front().starts_with('-') && words.front().size() > 1)
    reject_unknown(words.front());
}

const std::string* GivenOptions::find(std::string_view name) const {
  const auto found =
      std::ranges::find(given_, name, [](const Given& one) { return one.option->name(); });
  return found == given_.end() ? nullptr : &found->text;
}

}  // namespace zksh
