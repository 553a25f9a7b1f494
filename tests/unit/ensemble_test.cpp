// Ensemble: connect strings and member files, as in ConfigUtils and ReconfigCommand of 3.8.0.
#include "client/ensemble.h"

#include "failures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

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
    return refusal_of<UsageError>([&] { members_in_file(path); });
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::string path = testing::TempDir() + "zksh-members-" + std::to_string(getpid());
};

TEST_F(MemberFile, IsReadAsProperties) {
  write("# the members\n\n server.1 = a:1:2;3\r\nserver.2:b:1:2;3\nversion=5");
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

// What zkCli 3.8.0 printed for each of these files.
TEST_F(MemberFile, IsRefusedWithZkClisWords) {
  const std::string form =
      " does not have the form server_config or server_config;client_config where server_config is "
      "the pipe separated list of host:port:port or host:port:port:type and client_config is port "
      "or host:port";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"server.1=h:1;3", "h:1;3" + form},
      {"server.1=h:1:2:participant:x;3", "h:1:2:participant:x;3" + form},
      {"server.1=h:1:2;;3", "h:1:2;;3" + form},
      {"server.1=h:1:2;h:3:4", "h:1:2;h:3:4" + form},
      {"server.1=[::1];3", "[::1];3" + form},
      {"server.1=", form},
      {"server.1=[::1:1:2;3", "[::1:1:2 starts with '[' but has no matching ']:'"},
      {"server.1=[::1]:;3", "[::1]: doesn't have a port after colon"},
      {"server.1=h:1:2;3 ", "Address unresolved: null:3 "},
      {"server.1=h:1:2;h:", "Address unresolved: null:h"},
      {"server.1=h::2;3", "Address unresolved: h:"},
      {"server.1=h:99999999999:2;3", "Address unresolved: h:99999999999"},
      {"server.1=h:70000:2;3", "port out of range:70000"},
      {"server.1=h:1:2;-1", "port out of range:-1"},
      {"server.1=h:1:2:boss;3", "Unrecognised peertype: boss"},
      {"server.1=h:1:1;2",
       "Client and election port must be different! Please update the configuration file on "
       "server.1"},
      {"server.=h:1:2;3", "For input string: \"\""},
      {"server.x=h:1:2;3", "For input string: \"x\""},
      {"server.1=h:1:2;3\nversion=zz", "For input string: \"zz\" under radix 16"},
      {"server.1=h:1:2;3\nserver.2=h:4:5: Observer ;6",
       "Observers w/o quorum is an invalid configuration"},
      {"server.2=h:4:5:OBSERVER;6", "Observers w/o participants is an invalid configuration"},
      {"group=1:2", "For input string: \"group\""},
      {"group.1=1:2\ngroup.2=2", "Server 2is in multiple groups"},
      {"group.1=1\nserver.1=h:1:2;3\nserver.2=h:4:5;6", "Server 2is not in a group"},
      {"weight.1=x", "For input string: \"x\""},
      {"Server.1=h:1:2;3", "Unrecognised parameter: Server.1"},
  };
  for (const auto& [text, refused] : cases) {
    write(text);
    EXPECT_EQ(refusal(), "Error processing " + path + refused) << text;
  }
}

TEST_F(MemberFile, HasWhatZkCliSends) {
  for (const std::string text :
       {"server.1=h:1:2:;3", "server.1=[::1]:1:2;[::1]:3", "server.+1=h:+1:2;3", "server.1=h:1:2;;",
        "server.1=h:1:2", "group.1=1:2:\nserver.1=h:1:2;3\nserver.2=h:1:2;3\nweight.2=3"}) {
    write(text);
    EXPECT_EQ(refusal(), "") << text;
  }
}

}  // namespace
}  // namespace zksh
