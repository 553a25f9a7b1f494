// Sandbox: servers serve, fail on command, and are gone however their owner ends.
#include "sandbox/sandbox.h"

#include "base/error.h"
#include "base/fd.h"
#include "client/four_letter_word.h"
#include "failures.h"
#include "listener.h"
#include "processes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stop_token>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using State = Sandbox::State;

bool process_names(const std::string& text) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", none)) {
    std::ifstream file(entry.path() / "cmdline");
    // The words are separated by NULs. getline, since the process may go while it is read.
    std::string words;
    std::getline(file, words);
    if (words.find(text) != std::string::npos) return true;
  }
  return false;
}

/// Each test has a $TMPDIR of its own, in which nothing may be left.
class SandboxTest : public testing::Test {
 protected:
  SandboxTest() {
    for (const char* name : {"TMPDIR", "PATH", "JAVA_HOME", "ZOOKEEPER_HOME"}) {
      const char* const value = std::getenv(name);
      saved_.emplace_back(name,
                          value != nullptr ? std::optional<std::string>(value) : std::nullopt);
    }
    setenv("TMPDIR", mkdtemp(directory.data()), 1);
  }
  ~SandboxTest() override {
    for (const auto& [name, value] : saved_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
    fs::remove_all(directory);
  }

  /// No file, and no process whose command line names a place there: no server, no janitor.
  bool nothing_left() const { return fs::is_empty(directory) && !process_names(directory); }
  std::string failure(int servers, const std::vector<std::string>& config = {}) {
    return refusal_of([&] { const Sandbox sandbox(monitor, servers, config); });
  }

  Monitor monitor;
  std::string directory = "/tmp/sandbox_test.XXXXXX";

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
};

std::vector<State> states(const Sandbox& sandbox) {
  std::vector<State> all;
  for (const auto& server : sandbox.status()) all.push_back(server.state);
  return all;
}

// A server of a busy machine may be late with its answer, and seems to start then.

/// Whether a server comes into this state.
bool becomes(const Sandbox& sandbox, int number, State state) {
  return within_a_minute(
      [&] { return states(sandbox)[static_cast<std::size_t>(number - 1)] == state; });
}

/// Its number, as soon as there is one; else 0.
int leader(const Sandbox& sandbox) {
  int number = 0;
  within_a_minute([&] {
    for (const auto& server : sandbox.status())
      if (server.role == "leader") number = server.number;
    return number != 0;
  });
  return number;
}

TEST_F(SandboxTest, OneServer) {
  pid_t pid = 0;
  {
    const Sandbox sandbox(monitor, 1);
    EXPECT_TRUE(becomes(sandbox, 1, State::Serving));
    const auto servers = sandbox.status();
    ASSERT_EQ(servers.size(), 1U);
    EXPECT_EQ(servers[0].state, State::Serving);
    EXPECT_EQ(servers[0].role, "standalone");
    EXPECT_EQ(servers[0].address, sandbox.connect_string());
    pid = sandbox.pid(1);
    // Neither Ctrl-C nor a hang-up at our terminal reaches it.
    EXPECT_EQ(getsid(pid), pid);
    EXPECT_FALSE(nothing_left());
  }
  EXPECT_TRUE(gone(pid));
  EXPECT_TRUE(nothing_left());
}

TEST_F(SandboxTest, EnsembleFailsAsItIsTold) {
  Sandbox sandbox(monitor, 3);
  EXPECT_EQ(std::ranges::count(sandbox.connect_string(), ','), 2);
  for (const int number : {1, 2, 3}) EXPECT_TRUE(becomes(sandbox, number, State::Serving));
  const int first_leader = leader(sandbox);
  ASSERT_NE(first_leader, 0);

  sandbox.stop(first_leader);
  EXPECT_EQ(states(sandbox)[static_cast<std::size_t>(first_leader - 1)], State::Stopped);
  EXPECT_THROW(sandbox.stop(first_leader), Error);
  EXPECT_THROW(sandbox.freeze(first_leader), Error);
  const int second_leader = leader(sandbox);
  ASSERT_NE(second_leader, 0);

  const int frozen =
      second_leader % 3 + 1 == first_leader ? first_leader % 3 + 1 : second_leader % 3 + 1;
  sandbox.freeze(frozen);
  EXPECT_EQ(states(sandbox)[static_cast<std::size_t>(frozen - 1)], State::Frozen);
  EXPECT_THROW(sandbox.start(frozen), Error);
  sandbox.thaw(frozen);
  EXPECT_NE(states(sandbox)[static_cast<std::size_t>(frozen - 1)], State::Frozen);

  sandbox.start(first_leader);
  EXPECT_THROW(sandbox.start(first_leader), Error);
  EXPECT_TRUE(becomes(sandbox, first_leader, State::Serving));
}

TEST_F(SandboxTest, DataOutlivesAStopAndNoQuorumIsSeen) {
  Sandbox sandbox(monitor, 3);
  const auto epoch = [&] {
    std::ifstream file(sandbox.directory() / "server-1/data/version-2/currentEpoch");
    int number = 0;
    file >> number;
    return number;
  };
  const int before = epoch();
  EXPECT_GT(before, 0);
  for (const int number : {1, 2, 3}) sandbox.stop(number);
  EXPECT_EQ(states(sandbox), (std::vector{State::Stopped, State::Stopped, State::Stopped}));

  sandbox.start(1);  // returns, although it cannot serve alone
  EXPECT_TRUE(becomes(sandbox, 1, State::NoQuorum));
  sandbox.start(2);
  EXPECT_TRUE(becomes(sandbox, 2, State::Serving));
  EXPECT_TRUE(becomes(sandbox, 1, State::Serving));
  EXPECT_GT(epoch(), before);
}

TEST_F(SandboxTest, ServerThatEndsByItselfIsStopped) {
  Sandbox sandbox(monitor, 1);
  kill(sandbox.pid(1), SIGKILL);
  EXPECT_TRUE(becomes(sandbox, 1, State::Stopped));
  sandbox.start(1);
  EXPECT_TRUE(becomes(sandbox, 1, State::Serving));
}

TEST_F(SandboxTest, NumbersAreChecked) {
  EXPECT_NE(failure(2).find("1, 3 or 5"), std::string::npos);
  EXPECT_NE(failure(0).find("1, 3 or 5"), std::string::npos);
  Sandbox sandbox(monitor, 1);
  EXPECT_THROW(sandbox.stop(0), UsageError);
  EXPECT_THROW(sandbox.start(2), UsageError);
  EXPECT_THROW(sandbox.freeze(-1), UsageError);
}

TEST_F(SandboxTest, FailedStartShowsTheLogAndLeavesNothing) {
  const std::string text = failure(1, {"tickTime=soon"});
  EXPECT_NE(text.find("server 1"), std::string::npos) << text;
  EXPECT_NE(text.find("\"soon\""), std::string::npos) << text;
  EXPECT_TRUE(nothing_left());
}

TEST_F(SandboxTest, StartCanBeStopped) {
  std::stop_source source;
  const std::jthread stopper([&] {
    within_a_minute([&] { return process_names(directory); });
    source.request_stop();
  });
  EXPECT_THROW(Sandbox(monitor, 3, {}, source.get_token()), Cancelled);
  EXPECT_TRUE(nothing_left());
}

TEST_F(SandboxTest, ConfigReachesTheServer) {
  const Sandbox sandbox(monitor, 1, {"tickTime=321"});
  const std::string& address = sandbox.connect_string();
  const int port = std::stoi(address.substr(address.find(':') + 1));
  const auto answers = ask_servers({port}, "conf", Clock::now() + 60s);
  EXPECT_EQ(answer_field(answers.at(0), "tickTime"), "321");
}

TEST_F(SandboxTest, MissingJavaIsExplained) {
  setenv("PATH", "/no/such/directory", 1);
  unsetenv("JAVA_HOME");
  const std::string text = failure(1);
  EXPECT_NE(text.find("apt-get install default-jre-headless"), std::string::npos) << text;
  EXPECT_TRUE(nothing_left());
}

TEST_F(SandboxTest, DirectoryThatCannotBeMade) {
  setenv("TMPDIR", "/no/such/directory", 1);
  const std::string text = failure(1);
  EXPECT_NE(text.find("/no/such/directory"), std::string::npos) << text;
}

TEST_F(SandboxTest, ArchiveInZookeeperHome) {
  const fs::path home = fs::path(directory) / "apache";
  fs::create_directories(home / "lib");
  fs::create_symlink("/usr/share/java/zookeeper.jar", home / "lib/zookeeper-3.8.0.jar");
  setenv("ZOOKEEPER_HOME", home.c_str(), 1);
  EXPECT_EQ(find_server_program().class_path, home.string() + "/conf:" + home.string() + "/lib/*");
  const Sandbox sandbox(monitor, 1);
  EXPECT_TRUE(becomes(sandbox, 1, State::Serving));
}

/// A process that owns a sandbox, and says its directory and its servers' pids.
class Owner {
 public:
  /// `then`: what it does once its servers serve, before it waits for its end.
  explicit Owner(int servers, const std::function<void(Sandbox&)>& then = {}) {
    Pipe report = make_pipe();
    pid_ = fork();
    if (pid_ == 0) own(servers, then, report.write_end.get());
    report.write_end.close();
    std::string text;
    std::array<char, 256> buffer{};
    while (text.find('\n') == std::string::npos) {
      const ssize_t count = read(report.read_end.get(), buffer.data(), buffer.size());
      if (count <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    std::istringstream words(text);
    words >> directory_;
    for (pid_t pid = 0; words >> pid;) servers_.push_back(pid);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { end(SIGKILL); }

  bool started() const { return !servers_.empty() && fs::exists(directory_); }
  void end(int signal) { end(pid_, signal); }
  void end_group() { end(-pid_, SIGKILL); }
  bool nothing_left() const {
    return !fs::exists(directory_) && std::ranges::all_of(servers_, gone);
  }

 private:
  void end(pid_t whom, int signal) {
    if (pid_ <= 0) return;
    kill(whom, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[noreturn]] static void own(int servers, const std::function<void(Sandbox&)>& then, int report) {
    try {
      Monitor monitor;
      Sandbox sandbox(monitor, servers);
      std::string text = sandbox.directory();
      for (int number = 1; number <= servers; ++number)
        text += ' ' + std::to_string(sandbox.pid(number));
      if (then) then(sandbox);
      text += '\n';
      if (write(report, text.data(), text.size()) < 0) _exit(1);
      for (;;) pause();
    } catch (...) {
      _exit(1);
    }
  }

  pid_t pid_ = -1;
  fs::path directory_;
  std::vector<pid_t> servers_;
};

class SandboxOwner : public SandboxTest, public testing::WithParamInterface<int> {};

TEST_P(SandboxOwner, EndBySignalLeavesNothing) {
  Owner owner(1);
  ASSERT_TRUE(owner.started());
  owner.end(GetParam());
  EXPECT_TRUE(within_a_minute([&] { return owner.nothing_left(); }));
}

INSTANTIATE_TEST_SUITE_P(Signals, SandboxOwner, testing::Values(SIGKILL, SIGTERM, SIGHUP, SIGABRT),
                         [](const auto& signal) { return std::to_string(signal.param); });

TEST_F(SandboxTest, KillOfTheOwnerEndsAFrozenServerToo) {
  Owner owner(3, [](Sandbox& sandbox) {
    sandbox.freeze(2);
    sandbox.stop(3);
  });
  ASSERT_TRUE(owner.started());
  owner.end(SIGKILL);
  EXPECT_TRUE(within_a_minute([&] { return owner.nothing_left(); }));
}

TEST_F(SandboxTest, KillOfTheOwnersGroupLeavesNothing) {
  Owner owner(1, [](Sandbox&) { setpgid(0, 0); });
  ASSERT_TRUE(owner.started());
  owner.end_group();
  EXPECT_TRUE(within_a_minute([&] { return owner.nothing_left(); }));
}

TEST_F(SandboxTest, KillOfTheOwnerAtAnyMomentOfTheStart) {
  const auto has = [this](const std::string& name) {
    return [this, name] {
      return std::ranges::any_of(fs::directory_iterator(directory), [&](const auto& sandbox) {
        return fs::exists(sandbox.path() / name);
      });
    };
  };
  const auto janitor_starts = [this] { return process_names(directory); };
  std::vector<std::function<bool()>> moments(20, janitor_starts);
  moments.insert(moments.end(),
                 {[] { return true; }, has(""), has("server-1"), has("server-1/log"),
                  has("server-2/log"), has("server-3/log"), has("server-3/data/version-2")});
  for (const auto& moment : moments) {
    const pid_t pid = fork();
    if (pid == 0) {
      Monitor own;
      const Sandbox sandbox(own, 3);
      for (;;) pause();
    }
    EXPECT_TRUE(within_a_minute(moment));
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    EXPECT_TRUE(within_a_minute([&] { return nothing_left(); }));
  }
}

TEST(FreePorts, AreFreeDifferentAndNotTakenByClients) {
  const std::vector<int> ports = free_ports(50);
  EXPECT_EQ(std::set<int>(ports.begin(), ports.end()).size(), 50U);
  int first_outgoing = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first_outgoing;
  EXPECT_LT(*std::ranges::max_element(ports), first_outgoing);
}

TEST(FourLetterWord, SilentServerIsNotWaitedForForEver) {
  const Listener silent;
  const int nobody = free_ports(1).front();
  const auto answers = ask_servers({silent.port(), nobody}, "srvr", Clock::now() + 50ms);
  EXPECT_EQ(answers, (std::vector<std::string>{"", ""}));
}

TEST(FourLetterWord, Fields) {
  const std::string answer =
      "Zookeeper version: 3.8.0, built\nMode: leader\ndataDir=/a=b\nModel: x";
  EXPECT_EQ(answer_field(answer, "Mode"), "leader");
  EXPECT_EQ(answer_field(answer, "dataDir"), "/a=b");
  EXPECT_EQ(answer_field(answer, "Model"), "x");
  EXPECT_EQ(answer_field(answer, "None"), "");
}

}  // namespace
}  // namespace zksh
