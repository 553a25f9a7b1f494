// A private ZooKeeper server: finding the Java program, and what it is started with.
#pragma once

#include "base/process.h"

#include <filesystem>
#include <string>
#include <vector>

namespace zksh {

/// Where the server's Java program is on this machine.
struct ServerProgram {
  std::string java;
  std::string class_path;
  bool old = false;  ///< 3.4, whose ensembles are configured in another way
};

/// $JAVA_HOME or $PATH; the jars of `zookeeper`, else of $ZOOKEEPER_HOME, else of Debian's package.
/// The first two are directories: Apache's archive, or a root of Debian's with usr/share/java; the
/// first may also be the version of one that the tests have fetched
/// (tests/support/fetch_servers.py). Throws Error that says what to install.
ServerProgram find_server_program(const std::string& zookeeper = {});

/// The ports of one server, all on 127.0.0.1.
struct ServerPorts {
  int client = 0;
  int quorum = 0;    ///< of an ensemble only
  int election = 0;  ///< of an ensemble only
};

/// `count` different ports that nothing listens on now. They are below the range from which the
/// kernel takes the ports of outgoing connections: a client that tries to reach a stopped server
/// would otherwise sooner or later be given that server's port, and connect to itself.
std::vector<int> free_ports(std::size_t count);

/// Writes all that server `number` (from 1) needs into its directory, which is made anew.
/// `config`: further lines of zoo.cfg. `old`: see ServerProgram.
void write_server_files(const std::filesystem::path& directory, std::size_t number,
                        const std::vector<ServerPorts>& ensemble,
                        const std::vector<std::string>& config, bool old = false);

/// The server of a directory that write_server_files has filled; output goes to `log`.
Program server_program(const ServerProgram& java, const std::filesystem::path& directory, int log);

}  // namespace zksh
