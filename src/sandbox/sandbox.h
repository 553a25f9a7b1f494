// Sandbox: private, temporary ZooKeeper servers.
#pragma once

#include "base/monitor.h"
#include "base/process.h"
#include "sandbox/scratch_directory.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
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

/// One server (standalone) or an ensemble of 3 or 5, on loopback ports, with all their data in one
/// temporary directory. Servers are numbered from 1. Members may be called from any thread.
class Sandbox {
 public:
  enum class State {
    Serving,
    NoQuorum,  ///< it runs and answers, but too few of the others do
    Starting,  ///< it runs, and does not answer yet
    Frozen,
    Stopped,
  };
  struct Server {
    int number = 0;
    std::string address;
    State state = State::Stopped;
    std::string role;  ///< leader, follower, standalone; empty unless it serves
  };

  /// Starts the servers and waits until all of them serve, at most a minute. Throws Error with the
  /// end of a server's log when one does not, and when Java or ZooKeeper is missing; Cancelled when
  /// `stop` is requested. Either leaves nothing behind.
  /// `config`: further lines for every server's zoo.cfg. `zookeeper`: see find_server_program.
  explicit Sandbox(Monitor& monitor, int servers = 1, std::vector<std::string> config = {},
                   const std::stop_token& stop = {}, const std::string& zookeeper = {});
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  /// Kills the servers and removes their data before it returns.
  ~Sandbox();

  int size() const { return static_cast<int>(ports_.size()); }
  /// "127.0.0.1:PORT", separated by commas.
  const std::string& connect_string() const { return connect_string_; }
  std::chrono::milliseconds start_time() const { return start_time_; }
  const std::filesystem::path& directory() const { return directory_.path(); }
  pid_t pid(int number) const;  ///< of a server that is not stopped

  /// What each server does at this moment; takes up to half a second when one does not answer.
  std::vector<Server> status() const;

  // These throw UsageError when there is no such server, Error when it is in the wrong state.
  /// Kills a server, as a power cut would. Its data stays.
  void stop(int number);
  /// Starts a stopped server on its data; returns when it serves, or, when too few of the others
  /// run for a quorum, when it answers.
  void start(int number, const std::stop_token& stop = {});
  /// Stops a server's clock: connections to it stay open, and nothing answers.
  void freeze(int number);
  void thaw(int number);

 private:
  using Processes = std::vector<std::shared_ptr<Process>>;

  std::size_t index(int number) const;
  std::shared_ptr<Process> running(int number) const;
  std::filesystem::path server_directory(std::size_t i) const;
  std::string log_tail(std::size_t i) const;
  bool port_was_taken() const;
  void choose_ports();
  std::shared_ptr<Process> launch(std::size_t i) const;
  std::vector<std::size_t> not_serving(const std::vector<std::size_t>& which) const;
  std::optional<std::string> await_serving(std::vector<std::size_t> which,
                                           const std::stop_token& stop) const;
  bool quorum_runs() const;
  std::string why_not(std::size_t i, std::optional<int> status) const;

  Monitor& monitor_;
  std::vector<ServerPorts> ports_;
  ServerProgram java_;
  std::vector<std::string> config_;
  std::string connect_string_;
  std::chrono::milliseconds start_time_{};
  ScratchDirectory directory_;    // outlives the processes, which write there
  Guarded<Processes> processes_;  // null: stopped
};

}  // namespace zksh
