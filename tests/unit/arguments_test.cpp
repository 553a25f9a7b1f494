// Arguments: options, and the place of zkCli.sh: how its words are split, options left out, and
// flags for Java read.
#include "shell/arguments.h"

#include "base/error.h"
#include "base/words.h"
#include "config/security_settings.h"
#include "config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(std::vector<std::string> words) {
  try {
    parse_arguments(std::move(words));
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(ProcessOptions, TheLastOneCountsUnlessAllDo) {
  const auto arguments = parse_arguments({"-c", "a", "-f", "b", "-t", "1s", "-c", "[1,2]", "-t=5",
                                          "--timeout=2s", "--tls", "--tls=off"},
                                         "zkCli.sh");
  ASSERT_EQ(arguments.scripts.size(), 3U);
  EXPECT_EQ(arguments.scripts[1].text, "b");
  EXPECT_EQ(arguments.scripts[2].text, "[1,2]");
  EXPECT_EQ(arguments.session.session_timeout_ms, 2000);
  EXPECT_EQ(arguments.configuration.text("tls"), "off");
  EXPECT_THAT(arguments.session_options, ElementsAre("--timeout", "2s", "--tls=off"));
}

TEST(ProcessOptions, ValuesMayBeEmptyOrBeginWithADash) {
  EXPECT_EQ(parse_arguments({"--tls-ca=", "ls"}).command.front(), "ls");
  EXPECT_EQ(parse_arguments({"-p", "-x", "--show-config", "--help"}).answer_status, status::usage);
  EXPECT_THAT(refusal({"-s", "--tls"}), HasSubstr("-s needs a value"));
}

TEST(ProcessOptions, ValuesAndCompanyAreChecked) {
  EXPECT_EQ(refusal({"--pipe", "--window", "0"}), "--window: Value 0 not in range 1 to 10000");
  EXPECT_EQ(refusal({"--rate", "5"}), "--rate requires --pipe");
  EXPECT_EQ(refusal({"--data", "x"}), "--data requires --sandbox");
  EXPECT_EQ(refusal({"--sandbox=2"}), "--sandbox: 2 not in {1,3,5}");
  EXPECT_EQ(refusal({"--log-level", "5"}), "--log-level: Value 5 not in range 0 to 4");
  EXPECT_EQ(refusal({"--color", "blue"}), "--color: blue not in {auto,always,never}");
  EXPECT_EQ(refusal({"--tls=maybe"}), "Could not convert: --tls = maybe");
  EXPECT_EQ(parse_arguments({"--pipe", "--window", "7"}).pipe->window, 7U);
}

TEST(ZkCliWords, AreSplitAsZkCliDoes) {
  EXPECT_THAT(texts_of(split_as_zkcli("set /a \"two words\" it's")),
              ElementsAre("set", "/a", "two words", "it's"));
  EXPECT_THAT(texts_of(split_as_zkcli("# no comment")), ElementsAre("#", "no", "comment"));
  EXPECT_THAT(texts_of(split_as_zkcli("a 'open b")), ElementsAre("a", "open", "b"));
  EXPECT_THAT(texts_of(split_as_zkcli("$'x\\ty' \"a\"\"b\"")), ElementsAre("$'x\\ty'", "a", "b"));
  EXPECT_THAT(texts_of(split_as_zkcli(" \t")), ElementsAre("\t"));
  EXPECT_TRUE(split_as_zkcli("").empty());
}

TEST(DropIn, IsChosenByNameOptionAndEnvironment) {
  EXPECT_FALSE(parse_arguments({}).drop_in);
  EXPECT_TRUE(parse_arguments({}, "/usr/bin/zkCli.sh").drop_in);
  EXPECT_TRUE(parse_arguments({"--as", "zkcli"}).drop_in);
  EXPECT_FALSE(parse_arguments({"--as", "zksh"}, "zkCli.sh").drop_in);
  setenv("ZKSH_AS", "zkcli", 1);
  EXPECT_TRUE(parse_arguments({}).drop_in);
  unsetenv("ZKSH_AS");
  EXPECT_THROW(parse_arguments({"--as", "psql"}), UsageError);
}

TEST(DropIn, SetsTheSettingsUnlessAnOptionDoes) {
  const auto arguments = parse_arguments({"--as", "zkcli", "--color", "always"});
  EXPECT_EQ(arguments.configuration.text("confirm"), "off");
  EXPECT_EQ(arguments.configuration.text("color"), "always");
}

TEST(DropIn, SkipsUnknownOptionsThatZkshRefuses) {
  const auto arguments =
      parse_arguments({"-cmd", "-server", "a:1", "-foo", "ls", "/", "-x"}, "zkCli.sh");
  EXPECT_EQ(arguments.server, "a:1");
  EXPECT_THAT(arguments.command, ElementsAre("ls", "/", "-x"));
  EXPECT_THAT(arguments.warning, HasSubstr("-cmd"));
  EXPECT_THAT(arguments.warning, HasSubstr("-foo"));
  EXPECT_THROW(parse_arguments({"-cmd", "ls", "/"}), UsageError);
  EXPECT_THROW(parse_arguments({"-kq", "ls", "/"}), UsageError);
  EXPECT_THROW(parse_arguments({"-server"}), UsageError);
  EXPECT_THAT(parse_arguments({"-server"}, "zkCli.sh").warning, HasSubstr("needs a value"));
}

TEST(DropIn, TakesTheFirstWordOfZookeeperShellAsServer) {
  const auto arguments =
      parse_arguments({"zk1:2181/k", "-timeout", "5000", "ls", "/"}, "zookeeper-shell.sh");
  EXPECT_EQ(arguments.server, "zk1:2181/k");
  EXPECT_EQ(arguments.session.session_timeout_ms, 5000);
  EXPECT_THAT(arguments.command, ElementsAre("ls", "/"));
  EXPECT_THROW(parse_arguments({}, "zookeeper-shell"), Error);
}

TEST(JavaLogin, ReadsTheFirstModuleOfItsSection) {
  const auto* const text =
      "// who\nServer { org.x.Other required; };\nClient {\n /* digest */ "
      "org.apache.zookeeper.server.auth.DigestLoginModule required\n  username=\"bob\" "
      "password=\"a\\\"b\";\n};\n";
  const auto login = parse_java_login(text, "Client");
  ASSERT_TRUE(login);
  EXPECT_EQ(login->module, "DigestLoginModule");
  EXPECT_EQ(login->options, (Properties{{"username", "bob"}, {"password", "a\"b"}}));
  EXPECT_FALSE(parse_java_login(text, "Nobody"));
  EXPECT_FALSE(parse_java_login("Client {", "Client"));
}

class JavaFlagsTest : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("CLIENT_JVMFLAGS");
    unsetenv("KAFKA_OPTS");
    std::filesystem::remove(file);
  }
  std::string file = testing::TempDir() + "java-flags-" + std::to_string(getpid());
};

TEST_F(JavaFlagsTest, TurnTlsOnInThePlaceOfZkCliOnly) {
  setenv("CLIENT_JVMFLAGS", "-Xmx1g -Dzookeeper.client.secure=true", 1);
  EXPECT_TRUE(parse_arguments({}, "zkCli.sh").session.security.tls.on);
  const auto elsewhere = parse_arguments({});
  EXPECT_FALSE(elsewhere.session.security.tls.on);
  EXPECT_THAT(elsewhere.warning, HasSubstr("$CLIENT_JVMFLAGS"));
}

TEST_F(JavaFlagsTest, NameTheLogin) {
  setenv("KAFKA_OPTS", ("-Djava.security.auth.login.config=" + file).c_str(), 1);
  std::ofstream(file) << "Client { x.DigestLoginModule required username=\"u\" password=\"p\"; };";
  std::filesystem::permissions(file, std::filesystem::perms{0640});
  const auto arguments = parse_arguments({"a:1"}, "zookeeper-shell");
  EXPECT_EQ(arguments.session.security.sasl.user, "u");
  EXPECT_EQ(arguments.session.security.sasl.password, "p");
  EXPECT_THAT(arguments.warning, HasSubstr("other users can read or write the credentials"));
  std::ofstream(file) << "Client { x.Krb5LoginModule required keyTab=\"/k\" principal=\"me\"; };";
  try {
    parse_arguments({"a:1"}, "zookeeper-shell");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kinit -k -t /k me"));
  }
}

TEST_F(JavaFlagsTest, KafkasFileHasNamesOfItsOwn) {
  std::ofstream(file) << "zookeeper.ssl.client.enable=true\n"
                         "zookeeper.ssl.truststore.location=/ca.pem\n"
                         "zookeeper.ssl.endpoint.identification.algorithm=\n";
  const auto arguments =
      parse_arguments({"a:1", "-zk-tls-config-file", file, "ls", "/"}, "zookeeper-shell");
  EXPECT_EQ(arguments.session.security.tls.ca, "/ca.pem");
  EXPECT_FALSE(arguments.session.security.tls.verify_name);
  EXPECT_THAT(arguments.command, ElementsAre("ls", "/"));
}

}  // namespace
}  // namespace zksh
