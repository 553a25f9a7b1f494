// The command line and the configuration of a private ZooKeeper server, made to start fast.
#include "sandbox/zookeeper_server.h"

#include "base/error.h"
#include "base/fd.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <netinet/in.h>
#include <random>
#include <set>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string find_java() {
  const std::string home = environment("JAVA_HOME");
  if (!home.empty() && access((home + "/bin/java").c_str(), X_OK) == 0) return home + "/bin/java";
  try {
    return find_program("java");
  } catch (const Error& error) {
    if (error.exit_status() != status::program_not_found) throw;
  }
  throw Error(
      "a sandbox needs Java, and there is none in $JAVA_HOME or $PATH; on Debian:\n"
      "  apt-get install default-jre-headless libzookeeper-java");
}

bool has_zookeeper_jar(const fs::path& directory) {
  std::error_code none;
  return std::ranges::any_of(fs::directory_iterator(directory, none), [](const auto& entry) {
    const std::string name = entry.path().filename();
    return name.starts_with("zookeeper-") && name.ends_with(".jar");
  });
}

/// The class path of a directory that is laid out as Apache's archive, or empty; 3.4 has its own
/// jar at the top. conf/ has the set-up of the logger that it comes with. Java itself expands a
/// final *.
std::string jars_below(const std::string& home) {
  if (has_zookeeper_jar(home + "/lib")) return fmt::format("{0}/conf:{0}/lib/*", home);
  if (has_zookeeper_jar(home)) return fmt::format("{0}/conf:{0}/*:{0}/lib/*", home);
  return {};
}

bool has_jar_of_3_4(const fs::path& directory) {
  std::error_code none;
  return std::ranges::any_of(fs::directory_iterator(directory, none), [](const auto& entry) {
    return entry.path().filename().string().starts_with("zookeeper-3.4.");
  });
}

/// Where tests/support/fetch_servers.py leaves the server of a version.
std::string fetched_server(const std::string& version) {
  const std::string cache = environment("XDG_CACHE_HOME");
  return fmt::format("{}/zksh-test-servers/{}",
                     cache.empty() ? environment("HOME") + "/.cache" : cache, version);
}

/// The directory that --zookeeper names.
std::string named_home(const std::string& zookeeper) {
  const bool is_version = zookeeper.find('/') == std::string::npos && !fs::exists(zookeeper);
  auto home = is_version ? fetched_server(zookeeper) : zookeeper;
  if (!jars_below(home).empty()) return home;
  throw Error(is_version ? fmt::format("there is no ZooKeeper {} in {}; where the tests' servers "
                                       "are fetched: tests/support/fetch_servers.py {}",
                                       zookeeper, home, zookeeper)
                         : fmt::format("there is no lib/zookeeper-*.jar in {}", home));
}

/// Those of $ZOOKEEPER_HOME, else of Debian's package.
std::string find_jars() {
  const std::string home = environment("ZOOKEEPER_HOME");
  if (!home.empty()) {
    if (auto jars = jars_below(home); !jars.empty()) return jars;
  }
  // The manifest of Debian's jar names all others but a logger, without which failures are silent.
  const std::string debian = "/usr/share/java/zookeeper.jar";
  const std::string logger = "/usr/share/java/slf4j-simple.jar";
  if (access(debian.c_str(), R_OK) == 0) return debian + ':' + logger;
  const std::string found_nothing =
      home.empty() ? "$ZOOKEEPER_HOME is not set"
                   : fmt::format("there is no lib/zookeeper-*.jar in $ZOOKEEPER_HOME, {}", home);
  throw Error(
      fmt::format("a sandbox needs ZooKeeper's server, but {} does not exist and {}; on Debian:\n"
                  "  apt-get install default-jre-headless libzookeeper-java",
                  debian, found_nothing));
}

int first_outgoing_port() {
  int first = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  constexpr int usual = 32768;
  return first > 0 ? first : usual;
}

/// A socket that holds the port, or nothing when the port is in use.
Fd bind_port(int port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw std::system_error(errno, std::generic_category(), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (bind(fd.get(), generic, sizeof address) != 0) return {};
  return fd;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw Error(fmt::format("cannot write {}: {}", path.string(), strerror(errno)));
}

// Paths are relative to the server's own directory: a configuration file is read as Latin-1, and
// $TMPDIR may be anything. The data does not outlive zksh, so nothing waits for the disk. The
// superuser, super:sandbox, is there to try what only one may do: reconfig, mending a bad ACL.
constexpr const char* common_config = R"(tickTime=2000
initLimit=10
syncLimit=5
dataDir=./data
forceSync=no
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
enforceQuota=true
extendedTypesEnabled=true
DigestAuthenticationProvider.superDigest=super:WCo+aqEZfTf8oYIQkfqdYXKhC3M=
)";

}  // namespace

ServerProgram find_server_program(const std::string& zookeeper) {
  auto java = find_java();
  const auto home = zookeeper.empty() ? environment("ZOOKEEPER_HOME") : named_home(zookeeper);
  return {.java = std::move(java),
          .class_path = zookeeper.empty() ? find_jars() : jars_below(home),
          .old = has_jar_of_3_4(home) || has_jar_of_3_4(home + "/lib")};
}

std::vector<int> free_ports(std::size_t count) {
  constexpr int lowest = 10000;
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> any(lowest,
                                         std::max(first_outgoing_port(), lowest + 2000) - 1);
  std::vector<int> ports;
  std::vector<Fd> held;  // until all are found, so that no port is found twice
  for (int tries = 0; ports.size() < count; ++tries) {
    constexpr int enough = 10000;
    if (tries == enough) throw Error("there are no free ports on 127.0.0.1");
    const int port = any(random);
    if (Fd fd = bind_port(port)) {
      held.push_back(std::move(fd));
      ports.push_back(port);
    }
  }
  return ports;
}

void write_server_files(const fs::path& directory, std::size_t number,
                        const std::vector<ServerPorts>& ensemble,
                        const std::vector<std::string>& config, bool old) {
  fs::remove_all(directory);
  fs::create_directories(directory / "data");
  std::string text = common_config;
  if (ensemble.size() == 1 || old)
    text +=
        fmt::format("clientPortAddress=127.0.0.1\nclientPort={}\n", ensemble[number - 1].client);
  if (ensemble.size() > 1 && old) {
    for (std::size_t i = 0; i < ensemble.size(); ++i)
      text += fmt::format("server.{}=127.0.0.1:{}:{}\n", i + 1, ensemble[i].quorum,
                          ensemble[i].election);
    write_file(directory / "data/myid", fmt::format("{}\n", number));
  } else if (ensemble.size() > 1) {
    text += "standaloneEnabled=false\nreconfigEnabled=true\ndynamicConfigFile=./members.cfg\n";
    std::string members;
    for (std::size_t i = 0; i < ensemble.size(); ++i) {
      members += fmt::format("server.{}=127.0.0.1:{}:{}:participant;127.0.0.1:{}\n", i + 1,
                             ensemble[i].quorum, ensemble[i].election, ensemble[i].client);
    }
    write_file(directory / "members.cfg", members);
    write_file(directory / "data/myid", fmt::format("{}\n", number));
  }
  for (const std::string& line : config) text += line + '\n';
  write_file(directory / "zoo.cfg", text);
}

Program server_program(const ServerProgram& java, const fs::path& directory, int log) {
  return {
      .words = {java.java,
                // A server is up before a better compiler or collector would pay.
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m",
                // What a killed JVM would leave outside of its directory.
                "-XX:-UsePerfData", "-XX:ErrorFile=./crash.log",
                "-Djava.io.tmpdir=" + directory.string(),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-Dzookeeper.jmx.log4j.disable=true", "-cp", java.class_path,
                "org.apache.zookeeper.server.quorum.QuorumPeerMain", "./zoo.cfg"},
      .directory = directory,
      .redirections = {{STDOUT_FILENO, log}, {STDERR_FILENO, log}},
  };
}

}  // namespace zksh
