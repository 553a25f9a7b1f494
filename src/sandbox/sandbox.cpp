// Sandbox: private, temporary ZooKeeper servers.
#include "sandbox/sandbox.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/mapped.h"
#include "base/number.h"
#include "base/process_setup.h"
#include "base/time.h"
#include "client/four_letter_word.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <numeric>
#include <random>
#include <sstream>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

namespace fs = std::filesystem;

std::string find_java() {
  const std::string home = environment("JAVA_HOME");
  if (!home.empty()) {
    auto java = home + "/bin/java";
    if (access(java.c_str(), X_OK) == 0) return java;
    throw Error(fmt::format(
        "there is no bin/java in $JAVA_HOME, {} (without JAVA_HOME, zksh looks in $PATH)", home));
  }
  if (is_program("java")) return find_program("java");
  throw Error(
      "--sandbox needs Java, which was not found in $PATH; on Debian:\n  apt-get "
      "install default-jre-headless libzookeeper-java");
}

bool has_file(const fs::path& directory, std::string_view beginning, std::string_view end) {
  std::error_code none;
  return std::ranges::any_of(fs::directory_iterator(directory, none), [&](const auto& entry) {
    const std::string name = entry.path().filename();
    return name.starts_with(beginning) && name.ends_with(end);
  });
}

bool has_zookeeper_jar(const fs::path& directory) {
  return has_file(directory, "zookeeper-", ".jar");
}

/// The class path of an unpacked Apache archive, or empty; 3.4 has its jar at the top. conf/
/// configures its logger. Java itself expands a final *.
std::string jars_below(const std::string& home) {
  if (has_zookeeper_jar(home + "/lib")) return fmt::format("{0}/conf:{0}/lib/*", home);
  if (has_zookeeper_jar(home)) return fmt::format("{0}/conf:{0}/*:{0}/lib/*", home);
  return {};
}

bool has_jar_of_3_4(const fs::path& directory) { return has_file(directory, "zookeeper-3.4.", ""); }

/// The directory that --zookeeper specifies.
std::string named_home(const std::string& zookeeper) {
  const bool is_version = zookeeper.find('/') == std::string::npos && !fs::exists(zookeeper);
  auto home = zookeeper;
  if (is_version)  // where tests/support/fetch_servers.py puts the server of a version
    home = fmt::format("{}/zksh-test-servers/{}",
                       environment("XDG_CACHE_HOME", environment("HOME") + "/.cache"), zookeeper);
  if (!jars_below(home).empty()) return home;
  throw Error(is_version ? fmt::format("there is no ZooKeeper {} in {}; in a source tree, "
                                       "tests/support/fetch_servers.py {} downloads it",
                                       zookeeper, home, zookeeper)
                         : fmt::format("there is no lib/zookeeper-*.jar in {}", home));
}

/// The jars of $ZOOKEEPER_HOME, else of Debian's package.
std::string find_jars() {
  const std::string home = environment("ZOOKEEPER_HOME");
  if (!home.empty()) {
    if (auto jars = jars_below(home); !jars.empty()) return jars;
    throw Error(
        fmt::format("there is no lib/zookeeper-*.jar in $ZOOKEEPER_HOME, {} (without "
                    "ZOOKEEPER_HOME, zksh takes Debian's package)",
                    home));
  }
  // The manifest of Debian's jar lists all others except a logger, without which failures are
  // silent.
  const std::string debian = "/usr/share/java/zookeeper.jar";
  const std::string logger = "/usr/share/java/slf4j-simple.jar";
  if (access(debian.c_str(), R_OK) == 0) return debian + ':' + logger;
  throw Error(
      fmt::format("--sandbox needs the ZooKeeper server, but {} does not exist and $ZOOKEEPER_HOME "
                  "is not set; on Debian:\n  apt-get install default-jre-headless "
                  "libzookeeper-java",
                  debian));
}

/// A socket bound to the port, or none if the port is in use.
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

// Paths are relative to the server's directory, since the file is read as Latin-1 and $TMPDIR may
// be anything. The data does not outlive zksh, so nothing is synced to disk. The superuser,
// super:sandbox, makes it possible to try reconfig and to repair a bad ACL.
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

using namespace std::chrono_literals;
constexpr auto start_limit = 60s;
constexpr auto patience = 3s;  // after that, says what it waits for
constexpr auto answer_limit = 500ms;
/// How often to ask a starting server whether it serves.
constexpr auto question_interval = 10ms;

std::size_t checked_count(int servers) {
  if (servers == 1 || servers == 3 || servers == 5) return static_cast<std::size_t>(servers);
  throw UsageError(fmt::format("a sandbox has 1, 3 or 5 servers, not {}", servers));
}

/// Writes all that server `number` (from 1) needs into its directory, which is created. `config`
/// has additional lines for zoo.cfg. `old`: see ServerProgram.
void write_server_files(const fs::path& directory, std::size_t number,
                        const std::vector<ServerPorts>& ensemble,
                        const std::vector<std::string>& config, bool old) {
  fs::remove_all(directory);
  fs::create_directories(directory / "data");
  std::string text = common_config;
  if (ensemble.size() == 1 || old)
    text +=
        fmt::format("clientPortAddress=127.0.0.1\nclientPort={}\n", ensemble[number - 1].client);
  if (ensemble.size() > 1) {
    std::string members;
    for (std::size_t i = 0; i < ensemble.size(); ++i) {
      const auto& [client, quorum, election] = ensemble[i];
      members += fmt::format("server.{}=127.0.0.1:{}:{}{}\n", i + 1, quorum, election,
                             old ? "" : fmt::format(":participant;127.0.0.1:{}", client));
    }
    if (!old) {
      text += "standaloneEnabled=false\nreconfigEnabled=true\ndynamicConfigFile=./members.cfg\n";
      write_file(directory / "members.cfg", std::exchange(members, {}));
    }
    text += members;
    write_file(directory / "data/myid", fmt::format("{}\n", number));
  }
  for (const std::string& line : config) text += line + '\n';
  write_file(directory / "zoo.cfg", text);
}

constexpr std::string_view buffer_flag = "-Djute.maxbuffer=";

/// The flags for Java, as zkServer.sh takes them.
std::vector<std::string> java_flags() {
  std::vector<std::string> flags;
  for (const auto* const name : {"SERVER_JVMFLAGS", "JVMFLAGS"}) {
    std::istringstream words(environment(name));
    flags.insert(flags.end(), std::istream_iterator<std::string>(words), {});
  }
  return flags;
}

/// The jute.maxbuffer needed for a record of this length; 0 if the servers' own suffices.
std::size_t needed_buffer(std::size_t length) {
  std::size_t buffer = 0xfffff;
  for (const auto& flag : java_flags())
    if (flag.starts_with(buffer_flag))
      buffer = number_in<std::size_t>(std::string_view(flag).substr(buffer_flag.size()))
                   .value_or(buffer);
  constexpr std::size_t more = 1024;  // BinaryInputArchive up to 3.5.5; later ones add more
  return length > buffer + more ? length : 0;
}

/// Whether a server's process has not ended; it may be frozen.
bool lives(const std::shared_ptr<Process>& process, const Monitor::Held& held) {
  return process && !process->status(held);
}

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
  int first_outgoing = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first_outgoing;
  if (first_outgoing <= 0) first_outgoing = 32768;  // as usual
  std::uniform_int_distribution<int> any(lowest, std::max(first_outgoing, lowest + 2000) - 1);
  std::vector<int> ports;
  std::vector<Fd> held;  // held until all are found, so that none is found twice
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

Sandbox::Sandbox(Monitor& monitor, int servers, std::vector<std::string> config,
                 const std::stop_token& stop, const std::string& zookeeper,
                 const std::function<std::size_t(const fs::path&)>& fill)
    : monitor_(monitor),
      ports_(checked_count(servers)),
      java_(find_server_program(zookeeper)),
      config_(std::move(config)),
      filled_(fill != nullptr),
      directory_(monitor, "zksh-sandbox") {
  std::vector<std::size_t> all(ports_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});

  // A port may be taken between its choice and its use.
  for (int tries = 3;; --tries) {
    choose_ports();
    Processes processes;
    for (const std::size_t i : all) {
      write_server_files(server_directory(i), i + 1, ports_, config_, java_.old);
      if (fill) {
        const auto data = server_directory(i) / "data/version-2";
        fs::create_directories(data);
        max_buffer_ = needed_buffer(fill(data));
      }
      processes.push_back(launch(i));
    }
    monitor_.change([&](const Monitor::Held& held) { processes_(held).swap(processes); });
    processes.clear();  // those of the previous try, not under the Monitor
    const auto failure = await_serving(all, stop);
    if (!failure) break;
    if (tries == 1 || !port_was_taken()) throw Error(*failure);
  }
}

Sandbox::~Sandbox() {
  // Kills all at once; destroying a Process waits for it.
  monitor_.with_lock([this](const Monitor::Held& held) {
    for (const auto& process : processes_(held))
      if (lives(process, held)) process->signal(SIGKILL);
  });
}

void Sandbox::choose_ports() {
  constexpr std::size_t kinds = 3;
  const std::vector<int> ports = free_ports(kinds * ports_.size());
  connect_string_.clear();
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    ports_[i] = {ports[kinds * i], ports[kinds * i + 1], ports[kinds * i + 2]};
    connect_string_ += fmt::format("{}127.0.0.1:{}", i == 0 ? "" : ",", ports_[i].client);
  }
}

std::filesystem::path Sandbox::server_directory(std::size_t i) const {
  return directory() / fmt::format("server-{}", i + 1);
}

/// Starts a server whose directory write_server_files has filled.
std::shared_ptr<Process> Sandbox::launch(std::size_t i) const {
  const auto home = server_directory(i);
  const auto log_path = home / "log";
  const Fd log(open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log) throw Error(fmt::format("cannot write {}: {}", log_path.string(), strerror(errno)));
  std::vector<std::string> words{
      java_.java,
      // For a fast start rather than a fast server.
      "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto",
      filled_ ? "-Xmx4g" : "-Xmx512m",
      // Keeps what a killed JVM leaves behind in its directory.
      "-XX:-UsePerfData", "-XX:ErrorFile=./crash.log", "-Djava.io.tmpdir=" + home.string(),
      "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dzookeeper.jmx.log4j.disable=true",
      // A server that has waited long for others asks again soon, not after a minute.
      "-Dzookeeper.fastleader.maxNotificationInterval=1000"};
  // If a flag is repeated, the last one counts.
  std::ranges::move(java_flags(), std::back_inserter(words));
  if (max_buffer_ > 0) words.push_back(fmt::format("{}{}", buffer_flag, max_buffer_));
  words.insert(words.end(), {"-cp", java_.class_path,
                             "org.apache.zookeeper.server.quorum.QuorumPeerMain", "./zoo.cfg"});
  return std::make_shared<Process>(
      monitor_, directory_.guarded({.words = std::move(words),
                                    .directory = home,
                                    .redirections = {{STDIN_FILENO, null.get()},
                                                     {STDOUT_FILENO, log.get()},
                                                     {STDERR_FILENO, log.get()}}}));
}

/// The servers that do not serve yet. Without a quorum, those that do not answer.
std::vector<std::size_t> Sandbox::not_serving(const std::vector<std::size_t>& which) const {
  const auto ports = mapped(which, [&](std::size_t i) { return ports_[i].client; });
  const auto answers = ask_servers(ports, "conf", Clock::now() + answer_limit);
  const bool quorum = quorum_runs();
  std::vector<std::size_t> rest;
  for (std::size_t k = 0; k < which.size(); ++k) {
    // Another server may have taken the port, so check that the answer is from our own.
    const auto own = directory().filename() / server_directory(which[k]).filename() / "";
    const bool serves = answer_field(answers[k], "dataDir").find(own) != std::string::npos;
    if (!serves && (quorum || answers[k].empty())) rest.push_back(which[k]);
  }
  return rest;
}

/// Waits until the servers serve; returns the reason if one does not.
std::optional<std::string> Sandbox::await_serving(std::vector<std::size_t> which,
                                                  const std::stop_token& stop,
                                                  const std::function<void()>& waits) const {
  const auto begun = Clock::now();
  const auto deadline = begun + start_limit;
  bool told = !waits;
  for (;;) {
    which = not_serving(which);
    if (which.empty()) return {};
    if (Clock::now() >= deadline) return why_not(which.front(), {});
    if (!told && Clock::now() >= begun + patience) {
      waits();
      told = true;
    }

    std::size_t ended = 0;
    std::optional<int> status;
    const auto one_ended = [&](const Monitor::Held& held) {
      return std::ranges::any_of(which, [&](std::size_t i) {
        const auto& process = processes_(held)[i];
        ended = i;
        status = process != nullptr ? process->status(held) : status::signal_base + SIGKILL;
        return status.has_value();
      });
    };
    if (monitor_.wait_until(stop, Clock::now() + question_interval, one_ended))
      return why_not(ended, status);
    if (stop.stop_requested()) throw Cancelled();
  }
}

std::string Sandbox::why_not(std::size_t i, std::optional<int> status) const {
  const std::string what = status ? fmt::format("exited with status {} during its start", *status)
                                  : fmt::format("is not serving after {}", short_time(start_limit));
  // The log speaks of the files in Java's terms; `txns --check` says what is wrong, and what to do.
  return fmt::format("server {} of the sandbox {}{}; its last log lines:\n{}", i + 1, what,
                     filled_ ? " (`txns --check` says whether its files are the reason)" : "",
                     log_tail(i));
}

std::string Sandbox::log_tail(std::size_t i) const {
  constexpr std::size_t lines = 15;
  std::deque<std::string> tail;
  std::ifstream log(server_directory(i) / "log");
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with("\tat ")) continue;  // the first line of a stack trace is enough
    tail.push_back("  " + line);
    if (tail.size() > lines) tail.pop_front();
  }
  return tail.empty() ? "  (empty)" : fmt::format("{}", fmt::join(tail, "\n"));
}

bool Sandbox::port_was_taken() const {
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (read_file(server_directory(i) / "log").find("Address already in use") != std::string::npos)
      return true;
  return false;
}

bool Sandbox::quorum_runs() const {
  return monitor_.with_lock([this](const Monitor::Held& held) {
    const auto runs = std::ranges::count_if(processes_(held), [&](const auto& process) {
      return lives(process, held) && !process->stopped(held);
    });
    return 2 * runs > std::ssize(ports_);
  });
}

std::size_t Sandbox::index(int number) const {
  if (number < 1 || number > size())
    throw UsageError(size() == 1
                         ? fmt::format("there is no server {}, only server 1", number)
                         : fmt::format("there is no server {}, only 1 to {}", number, size()));
  return static_cast<std::size_t>(number - 1);
}

std::shared_ptr<Process> Sandbox::running(int number) const {
  const std::size_t i = index(number);
  auto process = monitor_.with_lock([&](const Monitor::Held& held) {
    const auto& it = processes_(held)[i];
    return lives(it, held) ? it : nullptr;
  });
  if (process == nullptr) throw Error(fmt::format("server {} is stopped", number));
  return process;
}

pid_t Sandbox::pid(int number) const { return running(number)->pid(); }

std::vector<Sandbox::Server> Sandbox::status() const {
  std::vector<Server> servers;
  std::vector<int> ports;
  std::vector<std::size_t> asked;
  monitor_.with_lock([&](const Monitor::Held& held) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const auto& process = processes_(held)[i];
      Server server{.number = static_cast<int>(i + 1),
                    .address = fmt::format("127.0.0.1:{}", ports_[i].client),
                    .state = State::Stopped,
                    .role = {},
                    .data = (server_directory(i) / "data").string()};
      if (lives(process, held))
        server.state = process->stopped(held) ? State::Frozen : State::Starting;
      servers.push_back(server);
      if (server.state != State::Starting) continue;
      ports.push_back(ports_[i].client);
      asked.push_back(i);
    }
  });
  const auto answers = ask_servers(ports, "srvr", Clock::now() + answer_limit);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    Server& server = servers[asked[k]];
    server.role = answer_field(answers[k], "Mode");
    if (!answers[k].empty()) server.state = server.role.empty() ? State::NoQuorum : State::Serving;
  }
  return servers;
}

void Sandbox::stop(int number) {
  auto process = running(number);
  process->signal(SIGKILL);
  process->wait();
  monitor_.change([&](const Monitor::Held& held) {
    auto& slot = processes_(held)[index(number)];
    if (slot == process) slot.reset();
  });
}

void Sandbox::start(int number, const std::stop_token& stop, const std::function<void()>& waits) {
  const std::size_t i = index(number);
  const auto check_stopped = [&](const Monitor::Held& held) {
    const auto& process = processes_(held)[i];
    if (!lives(process, held)) return;
    throw Error(process->stopped(held) ? fmt::format("server {} is frozen, not stopped", number)
                                       : fmt::format("server {} is already running", number));
  };
  monitor_.with_lock(check_stopped);
  auto process = launch(i);
  monitor_.change([&](const Monitor::Held& held) {
    check_stopped(held);  // again: another thread may have been faster
    process.swap(processes_(held)[i]);
  });
  process.reset();
  if (const auto failure = await_serving({i}, stop, waits)) throw Error(*failure);
}

void Sandbox::freeze(int number) { set_frozen(number, true); }
void Sandbox::thaw(int number) { set_frozen(number, false); }

void Sandbox::set_frozen(int number, bool frozen) {
  const auto process = running(number);
  process->signal(frozen ? SIGSTOP : SIGCONT);
  monitor_.wait({}, [&](const Monitor::Held& held) {
    return process->stopped(held) == frozen || process->status(held);
  });
}

}  // namespace zksh
