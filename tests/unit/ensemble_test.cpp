// Ensemble: connect strings and member files, as ConfigUtils and ReconfigCommand of 3.8.0 have
// them.
#include "client/ensemble.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace zksh {
namespace {

TEST(Ensemble, ConnectStringHasVersionAndClientAddresses) {
  EXPECT_EQ(client_connect_string("server.1=a:2888:3888:participant;b:2181\nversion=100000000"),
            "100000000 b:2181");
  EXPECT_EQ(client_connect_string("server.1=a:1:2;2181\nserver.2=b:1:2;[::1]:2182\nversion=a"),
            "a ::1:2182,0.0.0.0:2181");
}

TEST(Ensemble, ConnectStringOfNothingIsABlank) {
  EXPECT_EQ(client_connect_string(""), " ");
  EXPECT_EQ(client_connect_string("null"), " ");
  EXPECT_EQ(client_connect_string("\n\n# server.1=a:1:2;3\n"), " ");
}

TEST(Ensemble, AServerWithoutClientPortLeavesItsComma) {
  EXPECT_EQ(client_connect_string("server.1=a:1:2;3\nserver.2=b:1:2\nversion=1"), "1 ,0.0.0.0:3");
}

class MemberFile : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(path) << text; }
  std::string refusal() const {
    try {
      members_in_file(path);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::string path = testing::TempDir() + "zksh-members";
};

TEST_F(MemberFile, IsReadAsProperties) {
  write("# the members\n\n server.1 = a:1:2;3 \nserver.2:b:1:2;3\nversion=5");
  EXPECT_EQ(members_in_file(path), "server.1=a:1:2;3\nserver.2=b:1:2;3\nversion=5");
}

TEST_F(MemberFile, MayBeEmpty) {
  write("");
  EXPECT_EQ(members_in_file(path), "");
}

TEST_F(MemberFile, HasNothingElse) {
  write("server.1=a:1:2;3\nclientPort=2181\n");
  EXPECT_EQ(refusal(), "Error processing " + path + "Unrecognised parameter: clientPort");
}

TEST_F(MemberFile, MustBeThere) {
  EXPECT_EQ(refusal(), "Error processing " + path + path + " (No such file or directory)");
}

}  // namespace
}  // namespace zksh
