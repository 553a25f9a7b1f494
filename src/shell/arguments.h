// Arguments: zksh's own options, and its parsed command line, environment and configuration.
#pragma once

#include "command/options.h"
#include "command/output.h"
#include "config/configuration.h"
#include "config/settings.h"
#include "session/session_settings.h"
#include "txnlog/moment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// zksh's own options, for the manual page and for completion.
std::vector<Argument> process_options();
/// The text of --help.
std::string process_help();

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
  bool drop_in = false;            ///< runs in the place of zkCli.sh
  bool awaits_connection = false;  ///< in that place, with -waitforconnection
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
