// AuthFile: parsing its lines, and the warning about files that others can read.
#include "config/security_settings.h"
#include "failures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace zksh {
namespace {

std::string auth_file_refusal(const std::string& text) {
  return refusal_of<UsageError>([&] { parse_auth_file(text, "f"); });
}

TEST(AuthFile, ALineIsASchemeAndTheRest) {
  EXPECT_EQ(parse_auth_file("# mine\n\ndigest ann:my secret \r\n  sasl\t x # y", "f"),
            (std::vector<Credential>{{"digest", "ann:my secret"}, {"sasl", "x # y"}}));
}

TEST(AuthFile, NamesTheLineButNothingOfIt) {
  EXPECT_EQ(auth_file_refusal("digest a:b\n\nann:secret\n"),
            "f:3: expected a scheme and a credential (user:password for digest)");
  EXPECT_EQ(auth_file_refusal("# nothing\n"), "f holds no credential");
}

TEST(AuthFile, WarnsOfAFileThatOthersCanRead) {
  const auto name = testing::TempDir() + "auth-file-" + std::to_string(getpid());
  std::ofstream(name) << "digest a:b\n";
  std::filesystem::permissions(name, std::filesystem::perms(0600));
  EXPECT_EQ(read_auth_file(name).warning, "");
  std::filesystem::permissions(name, std::filesystem::perms(0640));
  EXPECT_NE(read_auth_file(name).warning.find("(mode 640)"), std::string::npos);
  std::filesystem::remove(name);
  EXPECT_THROW(read_auth_file(name), UsageError);
}

}  // namespace
}  // namespace zksh
