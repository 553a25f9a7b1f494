// The properties file of -client-configuration: Java's format, and what this build refuses.
#include "config/security_settings.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace zksh {
namespace {

TEST(Properties, SeparatorsAndBlanks) {
  const auto properties = parse_properties("a=1\n b : 2\nc 3\nd\n  e  =  4  \n\n");
  EXPECT_EQ(properties, (Properties{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", ""}, {"e", "4  "}}));
}

TEST(Properties, CommentsAndContinuedLines) {
  const auto properties = parse_properties("# a=1\n! b=2\nc=one, \\\n   two\\\\\nd=3\\\n");
  EXPECT_EQ(properties, (Properties{{"c", "one, two\\"}, {"d", "3"}}));
}

TEST(Properties, Escapes) {
  EXPECT_EQ(parse_properties("a\\=b=\\t\\u00e9\\q"), (Properties{{"a=b", "\t\u00e9q"}}));
  EXPECT_EQ(parse_properties("a=1\r\nb=2\r\n"), (Properties{{"a", "1"}, {"b", "2"}}));
}

class ClientConfiguration : public testing::Test {
 protected:
  std::string refusal(const std::string& text) {
    std::ofstream(file) << text;
    try {
      Configuration configuration;
      warning.clear();
      take_security(configuration, file, false, warning);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  void TearDown() override { std::filesystem::remove(file); }

  std::string warning;
  std::string file = testing::TempDir() + "client-configuration-" + std::to_string(getpid());
};

TEST_F(ClientConfiguration, LetsThroughWhatSteersJavaAlone) {
  EXPECT_EQ(refusal("zookeeper.request.timeout=5000\nzookeeper.client.secure=false\nzookeeper.sasl."
                    "client=false\n"),
            "");
}

TEST_F(ClientConfiguration, SaysThatNoJaasFileIsRead) {
  EXPECT_NE(refusal("zookeeper.sasl.clientconfig=Client\n").find("--sasl-user"), std::string::npos);
}

TEST_F(ClientConfiguration, WarnsOfStoresThatCountForNothing) {
  EXPECT_EQ(refusal("zookeeper.ssl.trustStore.location=/x\n"), "");
  EXPECT_NE(warning.find("zookeeper.ssl.trustStore.location"), std::string::npos);
}

TEST_F(ClientConfiguration, NamesAFileThatCannotBeRead) {
  Configuration configuration;
  EXPECT_THROW(take_security(configuration, "/nonexistent/file", false, warning), UsageError);
  EXPECT_THROW(take_security(configuration, "/", false, warning), UsageError);
}

}  // namespace
}  // namespace zksh
