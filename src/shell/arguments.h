// Arguments: zksh's own options, and its parsed command line, environment and configuration.
#pragma once

#include "command/options.h"
#include "command/output.h"
#include "config/configuration.h"
#include "config/settings.h"
#include "session/session.h"
#include "txnlog/moment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

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
/// The options for the manual page and for completion.
std::vector<Argument> process_options();
/// The text of --help.
std::string process_help();

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

/// A source of lines.
struct ScriptSource {
  enum class Kind { Text, File };
  Kind kind = Kind::Text;
  std::string text;  ///< the commands, or the file's name: "-" is standard input
};

struct PipeSettings {
  std::size_t window = 0;  ///< the most answers that may be outstanding; 0: as in WorkLimits
  std::int64_t rate = 0;   ///< maximum lines per second; 0: no limit
  bool quiet = false;      ///< no tally at the end
};

struct Arguments {
  std::string server = "localhost:2181";
  SessionSettings session;
  Configuration configuration;
  Protection protection;
  std::string warning{};  ///< for the user, or empty
  Format format = Format::Zkcli;
  bool drop_in = false;  ///< runs in the place of zkCli.sh
  bool keep_going = false;
  bool quiet = false;
  std::optional<PipeSettings> pipe{};       ///< --pipe
  int sandbox_servers = 0;                  ///< 0: none
  std::string sandbox_zookeeper{};          ///< --zookeeper, or empty
  std::vector<std::string> sandbox_data{};  ///< --data, without the moment
  Moment sandbox_moment{};
  std::vector<ScriptSource> scripts{};  ///< -c and -f, in order
  /// The words after the options, if there is no script.
  std::vector<std::string> command{};
  /// The words after the options if there is a script: $1, $2, … in its lines. nullopt: such words
  /// are plain text there.
  std::optional<std::vector<std::string>> script_arguments{};
  std::vector<std::string> session_options{};  ///< see Settings
  /// Text to print instead of doing anything else: --help or --version.
  std::optional<std::string> answer{};
  int answer_status = 0;  ///< if not 0, the warning is printed, too
};

/// Parses the argument list, without the program's name, and the environment (ZKSH_SERVER,
/// ZKSH_PROFILE, ZKSH_AS), and reads the configuration files. Also accepts zkCli's spellings
/// -server, -timeout, -r, -waitforconnection and -client-configuration. The program's name may be
/// that of a drop-in. Throws UsageError. Blocks while files are read.
Arguments parse_arguments(std::vector<std::string> words, std::string_view program = "zksh");
/// Whether the words choose JSON, even if they cannot be parsed.
bool choose_json(const std::vector<std::string>& words);

}  // namespace zksh
