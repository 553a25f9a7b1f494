// Process: what child programs inherit, how their end is reported, and that they end with us.
#include "base/process.h"

#include "base/fd.h"
#include "processes.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <pty.h>
#include <stop_token>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// All that programs write to a pipe, once nobody else can.
std::string rest_of(Pipe& pipe) {
  pipe.write_end.close();
  std::string all;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(pipe.read_end.get(), buffer.data(), buffer.size())) > 0;)
    all.append(buffer.data(), static_cast<std::size_t>(n));
  return all;
}

Program shell(const std::string& script) { return {.words = {"sh", "-c", script}}; }

std::string output_of(Program program) {
  Monitor monitor;
  Pipe pipe = make_pipe();
  program.redirections.push_back({STDOUT_FILENO, pipe.write_end.get()});
  const Process process(monitor, program);
  std::string text = rest_of(pipe);
  process.wait();
  return text;
}

int status_of(const Program& program) {
  Monitor monitor;
  return Process(monitor, program).wait();
}

int status_of_failure(const std::string& name) {
  try {
    return status_of({.words = {name}});
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    return -error.exit_status();
  }
}

class Directory {
 public:
  Directory() {
    std::string name = "/tmp/process_test.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name, const std::string& text, bool executable) const {
    const auto path = path_ / name;
    std::ofstream(path) << text;
    if (executable) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Process, StatusIsTheOneAShellGives) {
  EXPECT_EQ(status_of(shell("exit 0")), 0);
  EXPECT_EQ(status_of(shell("exit 7")), 7);
  EXPECT_EQ(status_of(shell("kill -TERM $$")), 128 + SIGTERM);
  EXPECT_EQ(status_of(shell("kill -KILL $$")), 128 + SIGKILL);
}

TEST(Process, CannotBeRun) {
  const Directory directory;
  EXPECT_EQ(status_of_failure("no-such-program-anywhere"), -127);
  EXPECT_EQ(status_of_failure("/no/such/program"), -127);
  EXPECT_EQ(status_of_failure(""), -127);
  EXPECT_EQ(status_of_failure("/tmp"), -126);
  EXPECT_EQ(status_of_failure(directory.file("plain", "exit 3\n", false)), -126);
  EXPECT_EQ(status_of_failure(directory.file("lost", "#!/no/such/interpreter\n", true)), -126);
  EXPECT_EQ(status_of_failure(directory.file("script", "exit 3\n", true)), 3);
  Program lost_directory = shell("exit 0");
  lost_directory.directory = "/no/such/directory";
  EXPECT_THROW(status_of(lost_directory), Error);
}

TEST(Process, WordsDirectoryAndEnvironmentReachTheProgram) {
  EXPECT_EQ(output_of({.words = {"printf", "%s|", "a b", "", "$x"}}), "a b||$x|");
  setenv("PROCESS_TEST_OLD", "old", 1);
  setenv("PROCESS_TEST_KEPT", "kept", 1);
  Program program = shell("echo $PROCESS_TEST_OLD $PROCESS_TEST_KEPT $PROCESS_TEST_NEW; pwd");
  program.environment = {{"PROCESS_TEST_OLD", "replaced"}, {"PROCESS_TEST_NEW", "new"}};
  program.directory = "/usr";
  EXPECT_EQ(output_of(program), "replaced kept new\n/usr\n");
}

TEST(Process, RedirectionsMayExchangeDescriptors) {
  Monitor monitor;
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  // The child's 1 and 2 come from descriptors that are each other's targets.
  const int one = out.write_end.get();
  const int two = err.write_end.get();
  const auto to = [](int fd) { return ">/proc/self/fd/" + std::to_string(fd); };
  Program program = shell("echo to-one " + to(one) + "; echo to-two " + to(two));
  program.redirections = {{one, two}, {two, one}};
  const Process process(monitor, program);
  EXPECT_EQ(rest_of(out), "to-two\n");
  EXPECT_EQ(rest_of(err), "to-one\n");
  EXPECT_EQ(process.wait(), 0);
}

TEST(Process, OtherDescriptorsAreClosedInTheProgram) {
  const Fd leaky(open("/dev/null", O_RDONLY));  // NOLINT: without O_CLOEXEC on purpose
  EXPECT_EQ(output_of(shell("ls /proc/$$/fd | tr '\\n' ' '")).substr(0, 6), "0 1 2 ");
  const std::string number = std::to_string(leaky.get());
  EXPECT_EQ(output_of(shell("test -e /proc/$$/fd/" + number + " || echo closed")), "closed\n");
}

TEST(Process, SignalsAreUnblockedAndNotIgnored) {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto old_pipe = std::signal(SIGPIPE, SIG_IGN);
  const auto old_hangup = std::signal(SIGHUP, SIG_IGN);
  const std::string text = output_of({.words = {"grep", "^Sig", "/proc/self/status"}});
  std::signal(SIGPIPE, old_pipe);
  std::signal(SIGHUP, old_hangup);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_NE(text.find("SigBlk:\t0000000000000000"), std::string::npos) << text;
  // nohup's, and no other.
  EXPECT_NE(text.find("SigIgn:\t0000000000000001"), std::string::npos) << text;
}

TEST(Process, WaitEndsWhenItIsToStop) {
  Monitor monitor;
  const Process process(monitor, {.words = {"sleep", "1000"}});
  std::stop_source source;
  std::jthread stopper([&source] { source.request_stop(); });
  EXPECT_THROW(process.wait(source.get_token()), Cancelled);
  EXPECT_EQ(process.status(), std::nullopt);
}

TEST(Process, EndWakesAWaiterOfTheMonitor) {
  Monitor monitor;
  Guarded<bool> lost(false);
  const Process process(monitor, {.words = {"sleep", "1000"}});
  process.signal(SIGTERM);
  const bool ended = monitor.wait_until({}, Clock::now() + 60s, [&](const Monitor::Held& held) {
    return lost(held) || process.status(held).has_value();
  });
  EXPECT_TRUE(ended);
  EXPECT_EQ(process.status(), 128 + SIGTERM);
}

TEST(Process, StoppedAndContinued) {
  Monitor monitor;
  const Process process(monitor, {.words = {"sleep", "1000"}, .group = Program::Group::Own});
  const auto stopped = [&] {
    return monitor.with_lock([&](const Monitor::Held& held) { return process.stopped(held); });
  };
  for (int round = 0; round < 3; ++round) {
    process.signal(SIGSTOP);
    EXPECT_TRUE(within_a_minute(stopped));
    EXPECT_EQ(process.status(), std::nullopt);
    process.signal(SIGCONT);
    EXPECT_TRUE(within_a_minute([&] { return !stopped(); }));
  }
  process.signal(SIGSTOP);
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait(), 128 + SIGKILL);
  EXPECT_FALSE(stopped());
}

TEST(Process, AResumedChildIsSeenToRun) {
  Monitor monitor;
  const Process process(monitor, {.words = {"sleep", "1000"}, .group = Program::Group::Own});
  const auto stopped = [&](const Monitor::Held& held) { return process.stopped(held); };
  process.signal(SIGSTOP);
  EXPECT_TRUE(monitor.wait_until({}, Clock::now() + 60s, stopped));
  process.resume();
  EXPECT_TRUE(monitor.wait_until({}, Clock::now() + 60s,
                                 [&](const Monitor::Held& held) { return !stopped(held); }));
}

TEST(Process, EndIsATerminationAndThenAKill) {
  Monitor monitor;
  const Process stopped(monitor, {.words = {"sleep", "1000"}, .group = Program::Group::Own});
  stopped.signal(SIGSTOP);
  stopped.end(60s);
  EXPECT_EQ(stopped.status(), 128 + SIGTERM);
  Pipe pipe = make_pipe();
  Program deaf = shell("trap '' TERM; echo ready; exec tail -f /dev/null");
  deaf.redirections.push_back({STDOUT_FILENO, pipe.write_end.get()});
  const Process stubborn(monitor, deaf);
  char first = 0;
  EXPECT_EQ(read(pipe.read_end.get(), &first, 1), 1);
  stubborn.end(10ms);
  EXPECT_EQ(stubborn.status(), 128 + SIGKILL);
}

TEST(Process, ProgramsAndTheirChildrenEndWithTheirOwner) {
  Monitor monitor;
  Pipe pipe = make_pipe();
  pid_t grandchild = 0;
  {
    Program program = shell("sleep 1000 & echo $!; wait");
    program.group = Program::Group::Own;
    program.redirections = {{STDOUT_FILENO, pipe.write_end.get()}};
    const Process process(monitor, program);
    std::array<char, 32> line{};
    ASSERT_GT(read(pipe.read_end.get(), line.data(), line.size() - 1), 0);
    grandchild = std::stoi(line.data());
    EXPECT_FALSE(gone(grandchild));
    EXPECT_EQ(getpgid(process.pid()), process.pid());
  }
  EXPECT_TRUE(within_a_minute([&] { return gone(grandchild); }));
}

TEST(Process, DeathSignalComesWhenTheStartingThreadEnds) {
  Monitor monitor;
  std::optional<Process> process;
  std::thread([&] {
    process.emplace(monitor, Program{.words = {"sleep", "1000"}, .death_signal = SIGTERM});
  }).join();
  EXPECT_EQ(process->wait(), 128 + SIGTERM);
}

TEST(Process, SessionLeavesTheTerminal) {
  Program program = shell("cut -d' ' -f1,6,7 /proc/$$/stat");
  program.group = Program::Group::Session;
  // pid, session, terminal: its own session, and no terminal.
  const std::string text = output_of(program);
  const auto pid = text.substr(0, text.find(' '));
  EXPECT_EQ(text, pid + ' ' + pid + " 0\n");
}

/// In a forked process with a terminal of its own: a program is given the foreground.
int foreground_program() {
  Monitor monitor;
  // Its group, and its terminal's foreground group.
  Program program = shell("cut -d' ' -f5,8 /proc/$$/stat");
  Pipe pipe = make_pipe();
  program.redirections = {{STDOUT_FILENO, pipe.write_end.get()}};
  program.group = Program::Group::Own;
  program.terminal = STDIN_FILENO;
  const Process process(monitor, program);
  const std::string group = std::to_string(process.pid());
  return process.wait() == 0 && rest_of(pipe) == group + ' ' + group + '\n' ? 42 : 1;
}

TEST(Process, TerminalIsGivenToTheProgramsGroup) {
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(pid, 0);
  if (pid == 0) _exit(foreground_program());
  const Fd close_at_end(terminal);
  int wait_status = 0;
  ASSERT_EQ(waitpid(pid, &wait_status, 0), pid);
  EXPECT_TRUE(WIFEXITED(wait_status));
  EXPECT_EQ(WEXITSTATUS(wait_status), 42);
}

}  // namespace
}  // namespace zksh
