// complete: what could stand in a word's place.
#include "complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace zksh {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::vector<std::string> tree(const std::string& parent, const std::string& prefix) {
  std::vector<std::string> names;
  if (parent == "/") names = {"app/", "apple", "zookeeper/"};
  if (parent == "/app") names = {"config", "jobs/"};
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  return names;
}

std::vector<std::string> at_the_end_of(const std::string& line) {
  return complete_line(line, line.find_last_of(" \t") + 1, line.size(), tree);
}

TEST(Complete, NamesOfCommands) {
  EXPECT_THAT(at_the_end_of("cre"), ElementsAre("create"));
  EXPECT_THAT(at_the_end_of("  cre"), ElementsAre("create"));
  EXPECT_THAT(at_the_end_of("nonesuch"), IsEmpty());
  EXPECT_THAT(at_the_end_of("nonesuch -"), IsEmpty());
}

TEST(Complete, Options) {
  EXPECT_THAT(at_the_end_of("ls -"), UnorderedElementsAre("-s", "-w", "-R", "--help"));
  EXPECT_THAT(at_the_end_of("ls / -R"), ElementsAre("-R"));
  EXPECT_THAT(at_the_end_of("ls -- -"), IsEmpty());
  EXPECT_THAT(at_the_end_of("removewatches / --l"), ElementsAre("--local"));
}

TEST(Complete, Choices) {
  EXPECT_THAT(at_the_end_of("printwatches o"), UnorderedElementsAre("on", "off"));
  EXPECT_THAT(at_the_end_of("addWatch -m PERSISTENT_"), ElementsAre("PERSISTENT_RECURSIVE"));
  EXPECT_THAT(at_the_end_of("help cre"), ElementsAre("create"));
}

TEST(Complete, NodePathsWhereOneBelongs) {
  EXPECT_THAT(at_the_end_of("get "), ElementsAre("/"));
  EXPECT_THAT(at_the_end_of("get /app"), ElementsAre("/app/", "/apple"));
  EXPECT_THAT(at_the_end_of("get -s /app/"), ElementsAre("/app/config", "/app/jobs/"));
  EXPECT_THAT(at_the_end_of("set -v 3 /app/c"), ElementsAre("/app/config"));
  EXPECT_THAT(at_the_end_of("set -v /a"), IsEmpty()) << "the value of an option";
  EXPECT_THAT(at_the_end_of("set /app/config /a"), IsEmpty()) << "the data";
  EXPECT_THAT(at_the_end_of("multilock /apple /app"), ElementsAre("/app/", "/apple"))
      << "one of several";
}

TEST(Complete, ProgramsAndTheirFilesBehindTwoDashes) {
  EXPECT_THAT(at_the_end_of("lock /app/jobs -- tru"), Contains("true"));
  EXPECT_THAT(at_the_end_of("lock /app/jobs -- /bin/tru"), Contains("/bin/true"));
  EXPECT_THAT(at_the_end_of("lock /app/jobs -- nonesuch-"), IsEmpty());
  EXPECT_THAT(at_the_end_of("lock /app/jobs -- cat /etc/passw"), Contains("/etc/passwd"));
  EXPECT_THAT(at_the_end_of("lock -- /app"), Not(Contains("/app/"))) << "a program, not a node";
  EXPECT_THAT(at_the_end_of("ls -- /app"), Contains("/app/")) << "ls runs none";
}

TEST(Complete, NothingWithinQuotesOrAComment) {
  EXPECT_THAT(at_the_end_of("get \"/app"), IsEmpty());
  EXPECT_THAT(at_the_end_of("set /a 'x /app"), IsEmpty());
  EXPECT_THAT(at_the_end_of("# cre"), IsEmpty());
}

TEST(Complete, OnlyTheWordBeforeTheCursorCounts) {
  EXPECT_THAT(complete_line("get /apple", 4, 7, tree), ElementsAre("/app/", "/apple"));
  EXPECT_THAT(complete_line("cre /a", 0, 3, tree), ElementsAre("create"));
}

TEST(Complete, WithoutASourceThereAreNoPaths) {
  EXPECT_THAT(complete_line("get /a", 4, 6, {}), IsEmpty());
}

TEST(Complete, AnInvocationNamesItsServer) {
  Argument server;
  server.names = {"-s", "--server"};
  server.value = "HOSTS";
  Argument flag;
  flag.kind = Argument::Kind::Flag;
  flag.names = {"-r"};
  std::string asked;
  const auto paths_of = [&](const std::string& name) {
    asked = name;
    return PathSource(tree);
  };
  const auto candidates = [&](const std::vector<std::string>& words) {
    asked = "none";
    return complete_invocation(words, {server, flag}, paths_of);
  };
  EXPECT_THAT(candidates({"-rs", "h:1", "get", "/apple"}), ElementsAre("/apple"));
  EXPECT_EQ(asked, "h:1");
  EXPECT_THAT(candidates({"-sh:2", "get", "/apple"}), ElementsAre("/apple"));
  EXPECT_EQ(asked, "h:2");
  EXPECT_THAT(candidates({"get", "-s", "/apple"}), ElementsAre("/apple"));
  EXPECT_EQ(asked, "") << "an option of the command";
  EXPECT_THAT(candidates({"-s", "l"}), IsEmpty());
  EXPECT_THAT(candidates({"-"}), Contains("--server"));
  EXPECT_THAT(candidates({"--", "l"}), Contains("ls"));
  EXPECT_THAT(candidates({"l"}), Not(Contains("--server")));
}

}  // namespace
}  // namespace zksh
