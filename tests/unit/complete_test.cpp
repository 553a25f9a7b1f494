// complete: the candidates for a word.
#include "shell/complete.h"

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

Candidate parent(const std::string& name) { return {.text = name + '/', .open = true}; }

Candidates tree(const std::string& node, const std::string& prefix) {
  std::vector<Candidate> all;
  if (node == "/")
    all = {parent("app"),
           {.text = "apple"},
           {.text = "session", .mark = '*'},
           {.text = "unknown", .open = true},
           parent("zookeeper")};
  if (node == "/app") all = {{.text = "config"}, parent("jobs")};
  if (node == "/odd")
    all = {{.text = "it's \"x\""}, {.text = "my node 1"}, {.text = "my node 2"}, {.text = "q\"1"},
           {.text = "tab\there"},  {.text = "übel"},      {.text = "ýbel"}};
  std::erase_if(all, [&](const Candidate& child) { return !child.text.starts_with(prefix); });
  Candidates nodes;
  nodes.count = all.size();
  const auto name = [](const std::string& text) { return text.substr(0, text.find('/')); };
  if (!all.empty()) nodes.common = common_beginning(name(all.front().text), name(all.back().text));
  nodes.first = std::move(all);
  return nodes;
}

std::vector<std::string> texts_of(const Candidates& candidates) {
  std::vector<std::string> texts;
  for (const auto& candidate : candidates.first) texts.push_back(candidate.text);
  return texts;
}

Invocation invocation(const std::vector<std::string>& words) { return {Input::Terminal, words}; }

/// The candidates for the last word; words are split at blanks.
std::vector<std::string> at_the_end_of(const std::string& line, const std::string& current = "/") {
  std::vector<std::string> words{""};
  for (const char c : line)
    if (c != ' ')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  return texts_of(complete_command(invocation(words), {.nodes = tree, .current = current}));
}

/// The line after a Tab at its end, or where the ^ is.
std::string completed(std::string line, const std::string& current = "/") {
  const auto cursor = std::min(line.find('^'), line.size());
  if (cursor < line.size()) line.erase(cursor, 1);
  const auto completion = complete_line(line, cursor, {.nodes = tree, .current = current});
  return line.replace(completion.begin, cursor - completion.begin, completion.text);
}

TEST(Complete, NamesOfCommands) {
  EXPECT_THAT(at_the_end_of("cre"), ElementsAre("create"));
  EXPECT_THAT(at_the_end_of("nonesuch"), IsEmpty());
  EXPECT_THAT(at_the_end_of("nonesuch -"), IsEmpty());
}

TEST(Complete, OptionsAreListedWithTheirMeanings) {
  const std::string line = "ls --re";
  EXPECT_THAT(complete_line(line, line.size(), {}).described, IsEmpty()) << "only one";
  const auto found = complete_line("ls -", 4, {});
  const auto option = [&](const std::string& names) {
    const auto at = std::ranges::find(found.described, names, &Completion::Described::names);
    return at == found.described.end() ? "" : at->meaning;
  };
  EXPECT_EQ(option("--recursive, -R"), "List the whole subtree, one path a line");
  EXPECT_EQ(option("--stat, -s"), "Print the node's Stat below the list") << "without \"; not …\"";
  EXPECT_EQ(option("--help"), "Show the command's help");
  EXPECT_THAT(complete_line("printwatches ", 13, {}).described, IsEmpty());
}

TEST(Complete, Options) {
  EXPECT_THAT(at_the_end_of("ls -"),
              UnorderedElementsAre("-s", "--stat", "-h", "--human", "-w", "--watch", "-R",
                                   "--recursive", "-l", "--long", "-t", "--by-time", "-S",
                                   "--by-size", "--window", "--rate", "-o", "--output", "--help"));
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
  EXPECT_THAT(at_the_end_of("lock -- /appl"), IsEmpty()) << "a program, not a node";
  EXPECT_THAT(at_the_end_of("ls -- /app"), Contains("/app/")) << "ls runs none";
}

TEST(Complete, ProgramsAndTheirFilesBehindThePath) {
  EXPECT_THAT(at_the_end_of("lock /app/jobs tru"), Contains("true"));
  EXPECT_THAT(at_the_end_of("lock -w 3 /app/jobs cat /etc/passw"), Contains("/etc/passwd"));
  EXPECT_THAT(at_the_end_of("lock /app/jobs -"), Contains("--wait"));
  EXPECT_THAT(at_the_end_of("lock /app/jobs cat -"), IsEmpty()) << "an option of cat's";
  EXPECT_THAT(at_the_end_of("lock /app/jobs "), Contains("--wait"));
  EXPECT_THAT(at_the_end_of("elect /app/jobs tru"), IsEmpty()) << "a proposal";
  EXPECT_THAT(at_the_end_of("elect /app/jobs me tru"), IsEmpty()) << "-- is missing";
}

TEST(Complete, AclsPartByPart) {
  EXPECT_THAT(at_the_end_of("setAcl /a w"), ElementsAre("world:"));
  EXPECT_THAT(at_the_end_of("setAcl /a "), Contains("x509:"));
  EXPECT_THAT(at_the_end_of("setAcl /a world:"), ElementsAre("world:anyone:"));
  EXPECT_THAT(at_the_end_of("setAcl /a auth:"), ElementsAre("auth::"));
  EXPECT_THAT(at_the_end_of("setAcl /a digest:"), IsEmpty()) << "whose, nobody knows";
  EXPECT_THAT(at_the_end_of("setAcl /a world:anyone:"), Contains("world:anyone:cdrwa"));
  EXPECT_THAT(at_the_end_of("create /a x ip:::1:cd,world:anyone:cdr"),
              ElementsAre("ip:::1:cd,world:anyone:cdra", "ip:::1:cd,world:anyone:cdrw"));
}

TEST(Complete, LocksThatThisShellHas) {
  const CompletionSources sources{.nodes = tree, .held_locks = [] {
                                    return std::vector<std::string>{"/locks/b", "/locks/a"};
                                  }};
  EXPECT_THAT(texts_of(complete_command(invocation({"unlock", ""}), sources)),
              ElementsAre("/locks/a", "/locks/b"));
  EXPECT_THAT(texts_of(complete_command(invocation({"unlock", "/locks/b", "/locks/a"}), sources)),
              ElementsAre("/locks/a"));
  EXPECT_THAT(texts_of(complete_command(invocation({"unlock", "/app/c"}), sources)),
              ElementsAre("/app/config"))
      << "a contender's node";
}

TEST(Complete, WhereSeveralNodesAreTaken) {
  EXPECT_THAT(at_the_end_of("multilock /app/config /app/j"), ElementsAre("/app/jobs/"));
}

TEST(Complete, RelativePathsBeginAtTheCurrentNode) {
  EXPECT_THAT(at_the_end_of("get ", "/app"), ElementsAre("config", "jobs/"));
  EXPECT_THAT(at_the_end_of("get c", "/app"), ElementsAre("config"));
  EXPECT_THAT(at_the_end_of("get ../app", "/app"), ElementsAre("../app/", "../apple"));
  EXPECT_THAT(at_the_end_of("get ..", "/app"), ElementsAre("../"));
  EXPECT_THAT(at_the_end_of("get /app//"), IsEmpty()) << "no path";
}

TEST(CompleteLine, TheOnlyOneIsTyped) {
  EXPECT_EQ(completed("creat^"), "create ");
  EXPECT_EQ(completed("get /app/c"), "get /app/config ");
  EXPECT_EQ(completed("get /app/j"), "get /app/jobs/");
  EXPECT_EQ(completed("get /unk"), "get /unknown") << "it may go on";
  EXPECT_EQ(completed("get /app/con^ x"), "get /app/config x");
  EXPECT_EQ(completed("get /app/con^fig"), "get /app/configfig") << "as other shells do";
}

TEST(CompleteLine, WhatTheyHaveInCommonIsTypedThenAListIsGiven) {
  EXPECT_EQ(completed("get /ap"), "get /app");
  const auto completion = complete_line("get /app", 8, {.nodes = tree});
  EXPECT_EQ(completion.text, "/app");
  EXPECT_EQ(completion.count, 2U);
  EXPECT_THAT(completion.list, ElementsAre("app/", "apple"));
  EXPECT_THAT(complete_line("get /", 5, {.nodes = tree}).list, Contains("session*"));
}

TEST(CompleteLine, NoCharacterIsSplit) { EXPECT_EQ(completed("get /odd/"), "get /odd/"); }

TEST(CompleteLine, QuotesWhatTheGrammarWantsQuoted) {
  EXPECT_EQ(completed("get /odd/m"), "get \"/odd/my node ");
  EXPECT_EQ(completed("get \"/odd/my node 1"), "get \"/odd/my node 1\" ");
  EXPECT_EQ(completed("get '/odd/my node 1"), "get '/odd/my node 1' ");
  EXPECT_EQ(completed("get '/odd/m^' x"), "get '/odd/my node ' x");
  EXPECT_EQ(completed("get '/odd/my node 1^' x"), "get '/odd/my node 1' x");
  EXPECT_EQ(completed("get /odd/i"), "get $'/odd/it\\'s \"x\"' ");
  EXPECT_EQ(completed("get \"/odd/q"), "get /odd/q\"1 ");
  EXPECT_EQ(completed("get /odd/t"), "get $'/odd/tab\\there' ");
  EXPECT_EQ(completed("get $'/o\\x64d/t"), "get $'/odd/tab\\there' ");
}

TEST(CompleteLine, HelpIsNotPressedOnWhoAsksForNothing) {
  EXPECT_EQ(completed("quit "), "quit ");
  EXPECT_EQ(completed("fg %1 "), "fg %1 ");
  EXPECT_EQ(completed("quit --h"), "quit --help ");
}

TEST(Complete, TheValuesOfTheSettingBefore) {
  EXPECT_THAT(at_the_end_of("conf color "), UnorderedElementsAre("auto", "always", "never"));
  EXPECT_THAT(at_the_end_of("conf hints "), UnorderedElementsAre("on", "off"));
  EXPECT_THAT(at_the_end_of("conf prompt "), IsEmpty());
}

TEST(Complete, TheCommandThatIsRepeated) {
  EXPECT_THAT(at_the_end_of("repeat 3 getE"), ElementsAre("getEphemerals"));
  EXPECT_THAT(at_the_end_of("repeat --every 2s 3 get /apple"), ElementsAre("/apple"));
  EXPECT_THAT(at_the_end_of("repeat printwatches of"), ElementsAre("off"));
  EXPECT_THAT(at_the_end_of("repeat --ev"), ElementsAre("--every"));
  EXPECT_THAT(at_the_end_of("repeat 3"), IsEmpty());
}

TEST(CompleteLine, BehindASignStandsAProgramOrAFile) {
  EXPECT_EQ(completed("get /app > /etc/hostn"), "get /app > /etc/hostname ");
  for (const std::string sign : {">", ">>", "2>", "2>> ", "1>", ">e 2>"})
    EXPECT_EQ(completed("get /app " + sign + "/etc/hostn"), "get /app " + sign + "/etc/hostname ");
  EXPECT_EQ(completed("get /app >f 2>&1 /etc/hostn"), "get /app >f 2>&1 /etc/hostn");
  EXPECT_EQ(completed("ls / 2>&1|sha512su"), "ls / 2>&1|sha512sum ");
  EXPECT_EQ(completed("get /app | seque"), "get /app | seque") << "no program begins so";
  EXPECT_EQ(completed("ls / | headx"), "ls / | headx");
  EXPECT_EQ(completed("ls / | sha512su"), "ls / | sha512sum ");
  EXPECT_EQ(completed("ls / | head /etc/hostn"), "ls / | head /etc/hostname ");
  EXPECT_EQ(completed("ls '|' /apple"), "ls '|' /apple ") << "quoted, it is a word";
}

TEST(CompleteLine, DoesNothingWhereItCouldBeWrong) {
  EXPECT_EQ(completed("get $'/app\\q"), "get $'/app\\q");
  EXPECT_EQ(completed("get \"/app\""), "get \"/app\"");
  EXPECT_EQ(completed("ls \"--sta"), "ls \"--sta") << "quoted, it is no option";
  EXPECT_EQ(completed("ls --sta"), "ls --stat ");
  EXPECT_EQ(completed("get '--' --dec"), "get '--' --decode ") << "nor ends it the options";
  EXPECT_EQ(completed("# cre"), "# cre");
  EXPECT_EQ(completed("get $'/a\\"), "get $'/a\\");
  EXPECT_EQ(completed("set /a 'x /app"), "set /a 'x /app");
  EXPECT_EQ(completed("get /odd/m^x"), "get /odd/mx") << "the quotes would end before the x";
}

TEST(Complete, WithoutASourceThereAreNoPaths) {
  EXPECT_THAT(texts_of(complete_command(invocation({"get", "/a"}), {})), IsEmpty());
}

TEST(Complete, AnInvocationNamesItsServer) {
  Argument server;
  server.names = {"-s", "--server"};
  server.value = "HOSTS";
  Argument profile;
  profile.names = {"-p", "--profile"};
  profile.value = "NAME";
  profile.choices = {"prod", "test"};
  Argument flag;
  flag.kind = Argument::Kind::Flag;
  flag.names = {"-r"};
  std::string asked;
  const auto nodes_of = [&](const std::vector<std::string>& given) {
    asked.clear();
    for (const auto& word : given) asked += word + ' ';
    return NodeSource(tree);
  };
  const auto candidates = [&](const std::vector<std::string>& words) {
    asked = "none";
    return texts_of(complete_invocation(words, {server, profile, flag}, nodes_of));
  };
  EXPECT_THAT(candidates({"-rs", "h:1", "get", "/apple"}), ElementsAre("/apple"));
  EXPECT_EQ(asked, "-rs h:1 ");
  EXPECT_THAT(candidates({"-sh:2", "get", "/apple"}), ElementsAre("/apple"));
  EXPECT_EQ(asked, "-sh:2 ");
  EXPECT_THAT(candidates({"-p", "pr"}), ElementsAre("prod"));
  EXPECT_THAT(candidates({"-p", "prod", "get", "/apple"}), ElementsAre("/apple"));
  EXPECT_EQ(asked, "-p prod ");
  EXPECT_THAT(candidates({"get", "-s", "/apple"}), ElementsAre("/apple"));
  EXPECT_EQ(asked, "") << "an option of the command";
  EXPECT_THAT(candidates({"-s", "l"}), IsEmpty());
  EXPECT_THAT(candidates({"-"}), Contains("--server"));
  EXPECT_THAT(candidates({"--", "l"}), Contains("ls"));
  EXPECT_THAT(candidates({"l"}), Not(Contains("--server")));
}

}  // namespace
}  // namespace zksh
