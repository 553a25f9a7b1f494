// HistoryFile: what is saved, what is not, and how failures are handled.
#include "term/history_file.h"

#include "base/secrets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace zksh {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class HistoryFileTest : public testing::Test {
 protected:
  HistoryFileTest() {
    std::string name = (fs::temp_directory_path() / "zksh-history-XXXXXX").string();
    directory = mkdtemp(name.data());
    file = directory / "state/zksh/history";
  }
  ~HistoryFileTest() override { fs::remove_all(directory); }

  HistoryFile history(std::size_t max_lines = 10'000, std::size_t max_bytes = 1U << 20U) {
    return HistoryFile({.path = file,
                        .mask = mask_secrets,
                        .warn = [this](const std::string& text) { warnings.push_back(text); },
                        .max_lines = max_lines,
                        .max_bytes = max_bytes});
  }
  std::string saved() const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  void save(const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  static unsigned mode(const fs::path& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
  }

  fs::path directory;
  fs::path file;
  Lines warnings;
};

TEST_F(HistoryFileTest, SavesEachLineAtOnceForTheOwnerAlone) {
  const mode_t before = umask(0);
  auto shell = history();
  EXPECT_EQ(shell.load(), Lines{});
  EXPECT_EQ(shell.add("ls /"), "ls /");
  EXPECT_EQ(saved(), "ls / \n");
  EXPECT_EQ(shell.add("get /ä"), "get /ä");
  umask(before);
  EXPECT_EQ(history().load(), (Lines{"ls /", "get /ä"}));
  EXPECT_EQ(mode(file), 0600U);
  EXPECT_EQ(mode(file.parent_path()), 0700U);
  EXPECT_EQ(mode(file.parent_path().parent_path()), 0700U);
  EXPECT_EQ(warnings, Lines{});
}

TEST_F(HistoryFileTest, TakesOthersRightsAway) {
  save("ls /\n");
  chmod(file.c_str(), 0644);
  EXPECT_EQ(history().load(), Lines{"ls /"});
  EXPECT_EQ(mode(file), 0600U);
}

TEST_F(HistoryFileTest, KeepsOutWhatBeginsWithABlank) {
  auto shell = history();
  EXPECT_EQ(shell.add(" ls /"), std::nullopt);
  EXPECT_EQ(shell.add("\tls /"), std::nullopt);
  EXPECT_EQ(shell.add(""), std::nullopt);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(HistoryFileTest, CollapsesRepeatedLinesAcrossRunsToo) {
  auto shell = history();
  EXPECT_EQ(shell.add("ls /"), "ls /");
  EXPECT_EQ(shell.add("ls /"), std::nullopt);
  EXPECT_EQ(shell.add("ls /a"), "ls /a");
  EXPECT_EQ(shell.add("ls /"), "ls /");
  auto next = history();
  next.load();
  EXPECT_EQ(next.add("ls /"), std::nullopt);
  EXPECT_EQ(saved(), "ls / \nls /a \nls / \n");
}

TEST_F(HistoryFileTest, NeverWritesASecret) {
  auto shell = history();
  EXPECT_EQ(shell.add("addauth digest bob:hunter2"), "addauth digest bob:***");
  EXPECT_EQ(shell.add("setAcl /p digest:bob:hunter2:r"), "setAcl /p digest:bob:***:r");
  shell.add("ls /");
  EXPECT_EQ(saved(), "ls / \n");
}

TEST_F(HistoryFileTest, BytesThatWouldBreakTheFileStayOutOfIt) {
  auto shell = history();
  EXPECT_EQ(shell.add("a\x1e"), "a\x1e");
  const std::string nul("a\0b", 3);
  EXPECT_EQ(shell.add(nul), nul);
  EXPECT_EQ(shell.add(std::string(70'000, 'x')), std::string(70'000, 'x'));
  EXPECT_EQ(shell.add("\xff\xfe\r"), "\xff\xfe\r");
  EXPECT_EQ(saved(), "\xff\xfe\r \n");
}

TEST_F(HistoryFileTest, ALineOfSeveralLinesIsOneEntry) {
  auto shell = history();
  shell.add("set /a $'one\ntwo\n'");
  shell.add("ls /");
  EXPECT_EQ(std::ranges::count(saved(), '\n'), 2);
  EXPECT_EQ(history().load(), (Lines{"set /a $'one\ntwo\n'", "ls /"}));
  shell.set_mistake("set /a $'one\ntwo\n'", true);
  auto later = history();
  later.load();
  EXPECT_TRUE(later.is_mistake("set /a $'one\ntwo\n'"));
}

TEST_F(HistoryFileTest, ReadsWhatOthersLeftInTheFile) {
  save(std::string("a\n\n\0b\nc\nhalf", 12));
  auto shell = history();
  EXPECT_EQ(shell.load(), (Lines{"a", "c", "half"}));
  shell.add("d");
  EXPECT_EQ(history().load(), (Lines{"a", "c", "half", "d"}));
}

TEST_F(HistoryFileTest, LoadsTheLastLinesAndShortensTheFile) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "line " + std::to_string(i) + '\n';
  save(text);
  EXPECT_EQ(history(3).load(), (Lines{"line 97", "line 98", "line 99"}));
  EXPECT_EQ(saved(), "line 97\nline 98\nline 99\n");
  save(text);
  EXPECT_EQ(history(1000, 20).load(), (Lines{"line 98", "line 99"}));
  EXPECT_EQ(saved(), "line 98\nline 99\n");
  EXPECT_EQ(mode(file), 0600U);
}

TEST_F(HistoryFileTest, StaysBoundedInALongRun) {
  auto shell = history(1000, 1000);
  for (int i = 0; i < 1000; ++i) shell.add("line " + std::to_string(i));
  EXPECT_LE(saved().size(), 2000U);
  EXPECT_EQ(history().load().back(), "line 999");
}

TEST_F(HistoryFileTest, ALinkStaysALink) {
  fs::create_directories(file.parent_path());
  const fs::path real = directory / "real";
  std::ofstream(real) << "a\nb\nc\nd\ne\n";
  fs::create_symlink(real, file);
  EXPECT_EQ(history(2).load(), (Lines{"d", "e"}));
  EXPECT_TRUE(fs::is_symlink(file));
  EXPECT_EQ(fs::file_size(real), 4U);
}

TEST_F(HistoryFileTest, ReadsWhatOthersHaveSavedSince) {
  auto early = history();
  EXPECT_TRUE(early.load().empty());
  EXPECT_TRUE(early.read_new().empty());
  auto other = history();
  other.load();
  other.add("one");
  early.add("mine");
  other.add("two");
  auto late = history();
  EXPECT_EQ(late.load().size(), 3U);
  EXPECT_EQ(early.read_new(), (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(early.read_new().empty());
  EXPECT_TRUE(late.read_new().empty());
  early.add("three");
  EXPECT_TRUE(early.read_new().empty());
  EXPECT_EQ(late.read_new(), std::vector<std::string>{"three"});
  EXPECT_EQ(other.read_new(), (std::vector<std::string>{"mine", "three"}));
}

TEST_F(HistoryFileTest, ReadsOnBehindTheLastLineItKnowsOfAFileThatWasShortened) {
  auto reader = history();
  auto writer = history();
  for (int i = 0; i < 8; ++i) writer.add("early " + std::to_string(i));
  EXPECT_EQ(reader.load().size(), 8U);
  writer.add("late 1");
  EXPECT_EQ(history(4).load().size(), 4U);  // leaves the last four
  writer.add("late 2");
  EXPECT_EQ(reader.read_new(), (std::vector<std::string>{"late 1", "late 2"}));
}

TEST_F(HistoryFileTest, ShellsThatWriteAtOnceLoseNothing) {
  constexpr int lines_each = 200;
  const auto write_lines = [&](char name) {
    auto shell = history();
    for (int i = 0; i < lines_each; ++i) shell.add(name + std::to_string(i));
  };
  {
    std::vector<std::jthread> shells;
    for (const char name : {'a', 'b', 'c', 'd'}) shells.emplace_back(write_lines, name);
  }
  const Lines lines = history().load();
  EXPECT_EQ(lines.size(), 4U * lines_each);
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), lines.size());
}

TEST_F(HistoryFileTest, ShorteningWhileOthersWriteLeavesWholeLines) {
  const auto write_lines = [&](char name) {
    auto shell = history(20, 500);
    for (int i = 0; i < 200; ++i) shell.add(std::string(10, name) + std::to_string(i % 7));
  };
  {
    std::vector<std::jthread> shells;
    for (const char name : {'a', 'b', 'c'}) shells.emplace_back(write_lines, name);
  }
  const Lines lines = history().load();
  EXPECT_FALSE(lines.empty());
  for (const auto& line : lines) EXPECT_EQ(line.substr(0, 10), std::string(10, line[0])) << line;
  for (const auto& line : lines) EXPECT_EQ(line.size(), 11U) << line;
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
}

TEST_F(HistoryFileTest, AStoppedShellThatHoldsTheLockStopsNobody) {
  save("a\n");
  FILE* other = fopen(file.c_str(), "r");
  ASSERT_NE(other, nullptr);
  flock(fileno(other), LOCK_EX);
  EXPECT_EQ(history().add("b"), "b");
  EXPECT_EQ(saved(), "a\nb \n");
  fclose(other);
}

TEST_F(HistoryFileTest, WarnsOnceAndGoesOnWhereNothingCanBeWritten) {
  std::ofstream(directory / "state") << "a file where the directory should be";
  auto shell = history();
  shell.load();
  EXPECT_EQ(shell.add("ls /"), "ls /");
  EXPECT_EQ(shell.add("ls /a"), "ls /a");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("the history is not saved"), std::string::npos);
  EXPECT_NE(warnings[0].find(file.string()), std::string::npos);
  EXPECT_NE(warnings[0].find("Not a directory"), std::string::npos);
}

TEST_F(HistoryFileTest, ADirectoryInItsPlaceIsReported) {
  fs::create_directories(file);
  auto shell = history();
  EXPECT_EQ(shell.load(), Lines{});
  EXPECT_EQ(shell.add("ls /"), "ls /");
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(HistoryFileTest, ALinkToDevNullSwitchesItOff) {
  fs::create_directories(file.parent_path());
  fs::create_symlink("/dev/null", file);
  auto shell = history();
  EXPECT_EQ(shell.load(), Lines{});
  EXPECT_EQ(shell.add("ls /"), "ls /");
  EXPECT_EQ(warnings, Lines{});
}

TEST_F(HistoryFileTest, AFullDiskLeavesNoHalfLine) {
  save("a\n");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit five_bytes{5, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &five_bytes);
  auto shell = history();
  EXPECT_EQ(shell.add("a long line"), "a long line");
  EXPECT_EQ(shell.add("another one"), "another one");
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(saved(), "a\n");
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_EQ(shell.add("b"), "b");
  EXPECT_EQ(saved(), "a\nb \n");
}

TEST_F(HistoryFileTest, RemembersWhichLinesWereMistakes) {
  auto shell = history();
  for (const char* line : {"get /a", "get /b", "get /c"}) {
    shell.add(line);
    shell.set_mistake(line, true);
  }
  shell.set_mistake("get /c", false);  // repeated at once, when /c was there
  shell.add("get /a");
  shell.set_mistake("get /a", false);
  shell.set_mistake(" get /secretly", true);
  shell.set_mistake("addauth digest a:b", true);
  EXPECT_TRUE(shell.is_mistake("get /b"));

  auto later = history();
  EXPECT_EQ(later.load(), (Lines{"get /a", "get /b", "get /c", "get /a"}));
  EXPECT_FALSE(later.is_mistake("get /a"));
  EXPECT_TRUE(later.is_mistake("get /b"));
  EXPECT_FALSE(later.is_mistake("get /c"));
  EXPECT_EQ(saved().find("secretly"), std::string::npos);
  EXPECT_EQ(saved().find("addauth"), std::string::npos);
  EXPECT_EQ(later.add("get /a"), std::nullopt) << "it repeats the last line";
}

TEST_F(HistoryFileTest, ReadsTheMistakesOfOthers) {
  auto shell = history();
  auto other = history();
  shell.load();
  other.load();
  shell.add("get /mine");
  shell.set_mistake("get /mine", true);
  other.add("get /theirs");
  other.set_mistake("get /theirs", true);
  EXPECT_EQ(shell.read_new(), Lines{"get /theirs"});
  EXPECT_TRUE(shell.is_mistake("get /theirs"));
  EXPECT_TRUE(shell.is_mistake("get /mine"));
}

TEST_F(HistoryFileTest, AMistakeStandsInTheFileOnce) {
  auto shell = history();
  auto other = history();
  shell.load();
  other.load();
  shell.add("get /none");
  other.add("get /there");
  other.add("stat /none");
  shell.set_mistake("get /none", true);
  other.set_mistake("stat /none", true);
  other.set_mistake("get /there", false);
  EXPECT_EQ(saved(), "get /none\t\nget /there \nstat /none\t\n");
  EXPECT_EQ(shell.read_new(), (Lines{"get /there", "stat /none"}));
  EXPECT_TRUE(shell.is_mistake("stat /none"));
  // Repeated at once, when the node was there.
  other.add("stat /none");
  other.set_mistake("stat /none", false);
  EXPECT_EQ(saved(), "get /none\t\nget /there \nstat /none \n");
  auto later = history();
  EXPECT_EQ(later.load().size(), 3U);
  EXPECT_TRUE(later.is_mistake("get /none"));
  EXPECT_FALSE(later.is_mistake("stat /none"));
}

TEST_F(HistoryFileTest, AMistakeIsFoundInAFileThatAnotherShellHasShortened) {
  auto shell = history();
  for (int i = 0; i < 8; ++i) shell.add("line " + std::to_string(i));
  shell.add("get /none");
  EXPECT_EQ(history(3).load().size(), 3U);
  shell.set_mistake("get /none", true);
  shell.set_mistake("line 0", true);  // no longer there
  EXPECT_EQ(saved(), "line 6 \nline 7 \nget /none\t\n");
}

TEST_F(HistoryFileTest, ReadsTheMistakesOfEarlierReleases) {
  save("get /a\n get /a\nget /b\n get /b\nget /b\nls /\n");
  auto shell = history();
  EXPECT_EQ(shell.load(), (Lines{"get /a", "get /b", "get /b", "ls /"}));
  EXPECT_TRUE(shell.is_mistake("get /a"));
  EXPECT_FALSE(shell.is_mistake("get /b"));
  EXPECT_EQ(shell.add("ls /"), std::nullopt) << "it repeats the last line";
  shell.set_mistake("ls /", true);
  EXPECT_EQ(saved(), "get /a\n get /a\nget /b\n get /b\nget /b\nls /\n") << "no place for it";
}

TEST_F(HistoryFileTest, ABlankThatWasTypedAtTheEndIsKept) {
  auto shell = history();
  shell.add("set /a ");
  shell.set_mistake("set /a ", true);
  auto later = history();
  EXPECT_EQ(later.load(), Lines{"set /a "});
  EXPECT_TRUE(later.is_mistake("set /a "));
}

TEST_F(HistoryFileTest, MarksOfManyShellsSpoilNoLine) {
  constexpr int lines_each = 100;
  const auto run_lines = [&](char name) {
    auto shell = history();
    for (int i = 0; i < lines_each; ++i) {
      shell.add(name + std::to_string(i));
      shell.set_mistake(name + std::to_string(i), i % 2 == 0);
    }
  };
  {
    std::vector<std::jthread> shells;
    for (const char name : {'a', 'b', 'c', 'd'}) shells.emplace_back(run_lines, name);
  }
  auto later = history();
  const Lines lines = later.load();
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 4U * lines_each);
  EXPECT_EQ(lines.size(), 4U * lines_each);
  for (const auto& line : lines)
    EXPECT_EQ(later.is_mistake(line), std::stoi(line.substr(1)) % 2 == 0) << line;
}

TEST_F(HistoryFileTest, WithoutAHomeThereIsMemoryOnly) {
  HistoryFile shell({.path = std::nullopt,
                     .mask = mask_secrets,
                     .warn = [this](const std::string& text) { warnings.push_back(text); }});
  EXPECT_EQ(shell.load(), Lines{});
  EXPECT_EQ(shell.add("ls /"), "ls /");
  EXPECT_EQ(warnings, Lines{"the history is not saved: HOME is not set"});
}

/// Another HOME for the time of a test.
class Home {
 public:
  explicit Home(const char* directory) {
    if (const char* const home = std::getenv("HOME")) before_ = home;
    setenv("HOME", directory, 1);
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  ~Home() {
    if (before_.empty())
      unsetenv("HOME");
    else
      setenv("HOME", before_.c_str(), 1);
  }

 private:
  std::string before_;
};

TEST_F(HistoryFileTest, ARelativeHomeIsCalledSo) {
  const Home home("relative");
  HistoryFile shell({.path = std::nullopt,
                     .mask = mask_secrets,
                     .warn = [this](const std::string& text) { warnings.push_back(text); }});
  shell.load();
  EXPECT_EQ(warnings, Lines{"the history is not saved: HOME is not an absolute path"});
}

TEST_F(HistoryFileTest, TheHomeItselfIsNotCreated) {
  const Home home((directory / "missing/home/").c_str());
  file = directory / "missing/home/.local/state/zksh/history";
  history().add("ls /");
  EXPECT_FALSE(fs::exists(directory / "missing"));
  EXPECT_EQ(warnings, Lines{"the history is not saved: cannot write " + file.string() +
                            ": No such file or directory"});
  fs::create_directories(directory / "missing/home");
  history().add("ls /");
  EXPECT_EQ(saved(), "ls / \n");
}

TEST_F(HistoryFileTest, SaysWhyItsDirectoryCannotBeCreated) {
  constexpr uid_t nobody = 65534;
  chmod(directory.c_str(), 0555);
  const bool is_root = geteuid() == 0 && seteuid(nobody) == 0;  // who may write everywhere
  history().add("ls /");
  ASSERT_EQ(seteuid(is_root ? 0 : geteuid()), 0);
  chmod(directory.c_str(), 0755);
  EXPECT_EQ(warnings, Lines{"the history is not saved: cannot write " + file.string() +
                            ": Permission denied"});
}

TEST(DefaultHistoryPath, FollowsTheEnvironment) {
  const char* home = std::getenv("HOME");
  const std::string saved_home = home == nullptr ? "" : home;
  unsetenv("XDG_STATE_HOME");
  setenv("HOME", "/home/bob", 1);
  EXPECT_EQ(default_history_path(), "/home/bob/.local/state/zksh/history");
  setenv("XDG_STATE_HOME", "/s", 1);
  EXPECT_EQ(default_history_path(), "/s/zksh/history");
  setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(default_history_path(), "/home/bob/.local/state/zksh/history");
  unsetenv("XDG_STATE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(default_history_path(), std::nullopt);
  if (!saved_home.empty()) setenv("HOME", saved_home.c_str(), 1);
}

}  // namespace
}  // namespace zksh
