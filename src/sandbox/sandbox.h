// Sandbox: private, temporary ZooKeeper servers.
#pragma once

#include "base/monitor.h"
#include "base/process.h"
#include "base/scratch_directory.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// The server's Java program on this machine.
struct ServerProgram {
  std::string java;
  std::string class_path;
  bool old = false;  ///< 3.4, whose ensembles are configured differently
};

/// Finds Java by $JAVA_HOME or $PATH, and the jars of `zookeeper`, else of $ZOOKEEPER_HOME, else of
/// Debian's package. The first two are directories: Apache's archive unpacked, or a root with
/// Debian's usr/share/java; the first may also be a version fetched by
/// tests/support/fetch_servers.py. Throws Error that says what to install.
ServerProgram find_server_program(const std::string& zookeeper = {});

/// The ports of a server, all on 127.0.0.1.
struct ServerPorts {
  int client = 0;
  int quorum = 0;    ///< only in an ensemble
  int election = 0;  ///< only in an ensemble
};

/// `count` different ports that nothing listens on now. They are below the range of ephemeral
/// ports; otherwise a client trying to reach a stopped server would sooner or later get that
/// server's port itself, and connect to itself.
std::vector<int> free_ports(std::size_t count);

/// A standalone server or an ensemble of 3 or 5, on loopback ports, with all data in a temporary
/// directory. Servers are numbered from 1. Members may be called from any thread.
class Sandbox {
 public:
  enum class State {
    Serving,
    NoQuorum,  ///< runs and answers, but too few others do
    Starting,  ///< runs, but does not answer yet
    Frozen,
    Stopped,
  };
  struct Server {
    int number = 0;
    std::string address;
    State state = State::Stopped;
    std::string role;  ///< leader, follower, standalone; empty unless it serves
    std::string data;  ///< its dataDir
  };

  /// Starts the servers and waits until all serve, at most a minute. Throws Error, with the end of
  /// its log, if a server does not, or if Java or ZooKeeper is missing; Cancelled when `stop` is
  /// requested. Leaves nothing behind then. `config` has additional lines for every server's
  /// zoo.cfg. `zookeeper`: see find_server_program. `fill` gets each server's version-2 directory,
  /// writes the files with which the server starts there, and returns the length of the longest
  /// record or value in them. Java also gets the flags of $SERVER_JVMFLAGS and $JVMFLAGS.
  explicit Sandbox(Monitor& monitor, int servers = 1, std::vector<std::string> config = {},
                   const std::stop_token& stop = {}, const std::string& zookeeper = {},
                   const std::function<std::size_t(const std::filesystem::path&)>& fill = {});
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  /// Kills the servers and removes their data before it returns.
  ~Sandbox();

  /// The jute.maxbuffer that the servers need for what `fill` wrote; 0: their own suffices.
  std::size_t max_buffer() const { return max_buffer_; }
  int size() const { return static_cast<int>(ports_.size()); }
  /// "127.0.0.1:PORT,…".
  const std::string& connect_string() const { return connect_string_; }
  const std::filesystem::path& directory() const { return directory_.path(); }
  pid_t pid(int number) const;  ///< of a server that is not stopped

  /// The present state of each server; takes up to half a second if one does not answer.
  std::vector<Server> status() const;

  // These throw UsageError if there is no such server, Error if it is in the wrong state.
  /// Kills a server, as a power failure would. Its data stays.
  void stop(int number);
  /// Starts a stopped server with its data; returns when it serves, or when it answers if too few
  /// others run for a quorum. Calls `waits` once if that takes long: the others elect a leader.
  void start(int number, const std::stop_token& stop = {}, const std::function<void()>& waits = {});
  /// Suspends a server: its connections stay open, but nothing answers.
  void freeze(int number);
  void thaw(int number);

 private:
  using Processes = std::vector<std::shared_ptr<Process>>;

  std::size_t index(int number) const;
  std::shared_ptr<Process> running(int number) const;
  void set_frozen(int number, bool frozen);
  std::filesystem::path server_directory(std::size_t i) const;
  std::string log_tail(std::size_t i) const;
  bool port_was_taken() const;
  void choose_ports();
  std::shared_ptr<Process> launch(std::size_t i) const;
  std::vector<std::size_t> not_serving(const std::vector<std::size_t>& which) const;
  std::optional<std::string> await_serving(std::vector<std::size_t> which,
                                           const std::stop_token& stop,
                                           const std::function<void()>& waits = {}) const;
  bool quorum_runs() const;
  std::string why_not(std::size_t i, std::optional<int> status) const;

  Monitor& monitor_;
  std::vector<ServerPorts> ports_;
  ServerProgram java_;
  std::vector<std::string> config_;
  bool filled_;  ///< with a tree of any size
  std::size_t max_buffer_ = 0;
  std::string connect_string_;
  ScratchDirectory directory_;    // must outlive the processes, which write there
  Guarded<Processes> processes_;  // null: stopped
};

}  // namespace zksh
