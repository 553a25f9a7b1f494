// Arguments: what zksh was started with.
#pragma once

#include "command/output.h"
#include "config/configuration.h"
#include "session/session.h"
#include "shell/script.h"

#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// What tools ask of zksh instead of people. These options are hidden: --help does not list them.
struct Inquiry {
  enum class Kind {
    ManPage,     ///< --man FRAME: the manual page, from its hand-written frame
    Examples,    ///< --examples: the examples of all commands, as NAME<TAB>LINE
    Candidates,  ///< --complete WORD…: what could complete the last word behind `zksh`
  };
  Kind kind;
  std::vector<std::string> words{};  ///< those behind the option
};

struct Arguments {
  std::string server = "localhost:2181";
  SessionSettings session;
  Configuration configuration;
  bool read_only = false;   ///< no write may be sent
  bool production = false;  ///< removals ask twice
  std::string warning{};    ///< to be told, or empty
  Format format = Format::Zkcli;
  bool keep_going = false;
  std::optional<PipeSettings> pipe{};   ///< --pipe
  int sandbox_servers = 0;              ///< 0: none
  std::string sandbox_zookeeper{};      ///< --zookeeper, or empty
  std::vector<ScriptSource> scripts{};  ///< -c and -f, in their order
  /// The words after the options, where there is no script.
  std::vector<std::string> command{};
  /// Those where there is one: $1, $2, … in its lines; nothing: such words are plain text there.
  std::optional<std::vector<std::string>> script_arguments{};
  std::vector<std::string> session_options{};  ///< see Settings
  /// Text to print instead of doing anything: --help or --version.
  std::optional<std::string> answer{};
  /// When set, nothing else is.
  std::optional<Inquiry> inquiry{};
};

/// Parses the argument list, without the program's name, and the environment (ZKSH_SERVER,
/// ZKSH_PROFILE), and reads the configuration files. zkCli's spellings -server, -timeout, -r,
/// -waitforconnection and -client-configuration work too. Throws UsageError. Blocks while files are
/// read.
Arguments parse_arguments(std::vector<std::string> words);

}  // namespace zksh
