// The properties file of -client-configuration: Java's format, and what this build refuses.
#include "config/security_settings.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace zksh {
namespace {

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
