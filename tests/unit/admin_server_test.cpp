// AdminServer: converting its JSON to a word's answer, and the addresses of AdminServers.
#include "ensemble/admin_server.h"

#include "base/error.h"
#include "ensemble/membership.h"
#include "ensemble/server_poller.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

/// `fields`: of the JSON, besides those in every answer.
std::string body_of(const std::string& fields, const std::string& error = "null") {
  return fmt::format("{{{}{}\"command\" : \"x\", \"error\" : {}}}", fields,
                     fields.empty() ? "" : ", ", error);
}

ServerAnswer answer_to(std::string_view word, const std::string& fields) {
  const std::vector<std::string> bodies{body_of(fields)};
  return admin_answer(word, bodies);
}

TEST(AdminAnswer, Cons) {
  const auto answer = answer_to(
      "cons", R"("connections" : [ {"remote_socket_address" : "10.0.0.7:37866", "interest_ops" : 1,
      "outstanding_requests" : 0, "packets_received" : 4, "packets_sent" : 5,
      "session_id" : 72058474836393984, "last_operation" : "EXIS", "established" : 1795384425270,
      "session_timeout" : 10000, "last_cxid" : 3, "last_zxid" : 2, "last_response_time" : 13,
      "last_latency" : 1, "min_latency" : 0, "avg_latency" : 4, "max_latency" : 9},
      {"remote_socket_address" : "10.0.0.8:1", "interest_ops" : 0, "outstanding_requests" : 0,
      "packets_received" : 1, "packets_sent" : 0, "session_id" : 0} ],
      "secure_connections" : [ {"remote_socket_address" : "[::1]:2", "session_id" : -1} ])");
  EXPECT_EQ(answer.problem, "");
  EXPECT_THAT(answer.text,
              StartsWith(" /10.0.0.7:37866[1](queued=0,recved=4,sent=5,sid=0x10000cd13ae0000,"
                         "lop=EXIS,est=1795384425270,to=10000,lcxid=0x3,lzxid=0x2,lresp=13,llat=1,"
                         "minlat=0,avglat=4,maxlat=9)\n"
                         " /10.0.0.8:1[0](queued=0,recved=1,sent=0)\n"
                         " /[::1]:2[0]("));
  const auto connections = parse_connections(answer.text);
  ASSERT_EQ(connections.size(), 2U);
  EXPECT_EQ(connections[0].timeout, 10000);
  EXPECT_EQ(connections[1].session, -1);
}

TEST(AdminAnswer, Dump) {
  const auto answer = answer_to("dump", R"("expiry_time_to_session_ids" : {"13452000" : [1, 17],
      "13454000" : [-2]}, "session_id_to_ephemeral_paths" : {"17" : ["/e", "/f"], "x" : ["/g"]})");
  EXPECT_THAT(answer.text, StartsWith("SessionTracker dump:\nSession Sets (2)/(3):\n2 expire at "));
  EXPECT_THAT(parse_dump(answer.text), ElementsAre(-2, 1, 17));
  EXPECT_THAT(parse_ephemerals(answer.text), ElementsAre(Pair(17, ElementsAre("/e", "/f"))));
}

TEST(AdminAnswer, ADumpWithoutSessionsDoesNotSayThatThereAreNone) {
  const auto answer = answer_to("dump", R"("expiry_time_to_session_ids" : {},
      "session_id_to_ephemeral_paths" : {})");
  EXPECT_EQ(answer.text, "ephemeral nodes dump:\nSessions with Ephemerals (0):\n");
}

TEST(AdminAnswer, Watches) {
  const auto by_session =
      answer_to("wchc", R"("session_id_to_watched_paths" : {"-1" : ["/x é", "/e"], "3" : []})");
  EXPECT_EQ(by_session.text, "0xffffffffffffffff\n\t/x é\n\t/e\n\n");
  const auto by_path =
      answer_to("wchp", R"("path_to_session_ids" : {"/a" : [1, 2], "/b" : [1, "0x9", 1.5]})");
  EXPECT_THAT(parse_wchp(by_path.text),
              ElementsAre(Pair("/a", ElementsAre(1, 2)), Pair("/b", ElementsAre(1))));
  EXPECT_EQ(
      answer_to("wchs", R"("num_connections" : 1, "num_paths" : 2, "num_total_watches" : 3)").text,
      "1 connections watching 2 paths\nTotal watches:3\n");
}

TEST(AdminAnswer, Mntr) {
  EXPECT_EQ(answer_to("mntr", R"("version" : "3.8.0", "avg_latency" : 4.0, "b" : {"c" : 1},
      "a_ratio" : 0.123456789012345678901)")
                .text,
            "zk_version\t3.8.0\nzk_avg_latency\t4.0\nzk_a_ratio\t0.123456789012345678901\n")
      << "in the server's order, and numbers as it writes them";
}

TEST(AdminAnswer, SrvrAndStat) {
  const std::string fields = R"("version" : "3.9.3", "read_only" : false, "server_stats" : {
      "packets_sent" : 9, "packets_received" : 8, "provider_null" : false,
      "server_state" : "leader", "last_processed_zxid" : 4294967298, "outstanding_requests" : 1,
      "avg_latency" : 4.5, "max_latency" : 9, "min_latency" : 1,
      "num_alive_client_connections" : 2}, "node_count" : 6, "proposal_stats" : {
      "last_buffer_size" : 48, "min_buffer_size" : 36, "max_buffer_size" : 50})";
  const std::string srvr =
      "Latency min/avg/max: 1/4.5/9\nReceived: 8\nSent: 9\nConnections: 2\nOutstanding: 1\n"
      "Zxid: 0x100000002\nMode: leader\nNode count: 6\n"
      "Proposal sizes last/min/max: 48/36/50\n";
  EXPECT_EQ(answer_to("srvr", fields).text, "Zookeeper version: 3.9.3\n" + srvr);
  EXPECT_EQ(answer_to("stat", fields + R"(, "connections" : [ {"remote_socket_address" : "a:1",
      "interest_ops" : 1, "outstanding_requests" : 0, "packets_received" : 1,
      "packets_sent" : 2} ])")
                .text,
            "Zookeeper version: 3.9.3\nClients:\n /a:1[1](queued=0,recved=1,sent=2)\n\n" + srvr);
}

TEST(AdminAnswer, ConfNamesTheVotingMembers) {
  const std::vector<std::string> bodies{
      body_of(R"("client_port" : 2181, "server_id" : 2, "max_client_cnxns" : 60)"),
      body_of(R"("current_config" : {
          "1" : {"server_addresses" : ["h1:2888"], "election_addresses" : ["h1:3888"],
                 "client_address" : "h1:2181", "learner_type" : "participant"},
          "2" : {"server_addresses" : ["[::1]:2888", "h2b:2889"],
                 "election_addresses" : ["[::1]:3888", "h2b:3889"],
                 "client_address" : "", "learner_type" : "participant"}})")};
  const auto answer = admin_answer("conf", bodies);
  EXPECT_THAT(answer.text, HasSubstr("\nserver.1=h1:2888:3888:participant;h1:2181\n"));
  EXPECT_THAT(answer.text, HasSubstr("\nserver.2=[::1]:2888:3888|h2b:2889:3889:participant\n"));
  EXPECT_EQ(answer_field(answer.text, "clientPort"), "2181");
  EXPECT_EQ(answer_field(answer.text, "maxClientCnxns"), "60");
  const auto membership = parse_membership(answer.text);
  EXPECT_EQ(membership.members.size(), 2U);
  EXPECT_EQ(membership.voters(), 2U);
}

TEST(AdminAnswer, ConfOfAServerThatDoesNotKnowTheVotingView) {
  const std::vector<std::string> bodies{body_of(R"("client_port" : 2181)"),
                                        body_of("", "\"Unknown command: voting_view\"")};
  EXPECT_EQ(admin_answer("conf", bodies).text, "clientPort=2181\n");
}

TEST(AdminAnswer, TheRest) {
  EXPECT_EQ(answer_to("ruok", "").text, "imok");
  EXPECT_EQ(answer_to("isro", R"("read_only" : true)").text, "ro");
  EXPECT_EQ(answer_to("isro", R"("read_only" : false)").text, "rw");
  EXPECT_EQ(answer_to("gtmk", R"("tracemask" : 306)").text, "306");
  EXPECT_EQ(answer_to("dirs", R"("datadir_size" : 1, "logdir_size" : 2)").text,
            "datadir_size: 1\nlogdir_size: 2\n");
  EXPECT_EQ(answer_to("envi", R"("user.name" : "zk")").text, "Environment:\nuser.name=zk\n");
  EXPECT_EQ(answer_to("hash", R"("digests" : [ {"zxid" : 255, "digest" : -7} ])").text, "ff: -7\n");
  EXPECT_EQ(answer_to("icfg", R"("initial_configuration" : "a=b\nc=d\n")").text, "a=b\nc=d\n");
  EXPECT_EQ(answer_to("crst", "").text, "Connection stats reset.\n");
  EXPECT_EQ(answer_to("srst", "").text, "Server stats reset.\n");
}

TEST(AdminAnswer, OtherWordsAreNotAsked) {
  EXPECT_THAT(admin_commands("stmk"), IsEmpty());
  EXPECT_THAT(admin_commands("../x"), IsEmpty());
  EXPECT_THAT(admin_commands("conf"), ElementsAre("conf", "voting_view"));
}

TEST(AdminAnswer, Errors) {
  const auto said = [](const std::string& body) {
    const std::vector<std::string> bodies{body};
    return admin_answer("mntr", bodies);
  };
  EXPECT_EQ(said(body_of("", "\"Unknown command: mntr\"")).problem,
            "it says: Unknown command: mntr");
  const auto idle =
      said(body_of("", "\"This ZooKeeper instance is not currently serving requests\""));
  EXPECT_EQ(idle.problem, "");
  EXPECT_TRUE(is_not_serving(idle.text));
  const std::string deep(100000, '[');
  for (const std::string body : {"", "{", "[]", "null", "{}", "<html>", R"({"error" : null})",
                                 R"({"command" : "mntr", "error" : null)", "\xff\xfe"})
    EXPECT_EQ(said(body).problem, "its answer is not that of an AdminServer") << body;
  EXPECT_EQ(said(body_of("\"a\" : " + deep)).problem, "its answer is not that of an AdminServer");
}

TEST(AdminAnswer, MillionsOfWatchesAreReadQuickly) {
  std::string fields = R"("session_id_to_watched_paths" : {)";
  for (int session = 1; session <= 1000; ++session) {
    fields += fmt::format("{}\"{}\" : [", session == 1 ? "" : ",", session);
    for (int i = 0; i < 1000; ++i) fields += fmt::format("{}\"/a/b{}\"", i == 0 ? "" : ",", i);
    fields += ']';
  }
  const auto answer = answer_to("wchc", fields + '}');
  EXPECT_EQ(parse_wchc(answer.text).size(), 1000U);
}

TEST(AdminServers, WhereTheyAre) {
  const ServerAddress one{.host = "zk1", .port = 2181};
  const ServerAddress other{.host = "zk2", .port = 2182};
  const std::string both = "zk1,zk2:2182/app";
  EXPECT_EQ(AdminServers("", both).of(one)->text(), "zk1:8080");
  EXPECT_TRUE(AdminServers("", both).guessed());
  EXPECT_EQ(AdminServers("9000", both).of(other)->text(), "zk2:9000");
  EXPECT_EQ(AdminServers(":9000", both).of(other)->text(), "zk2:9000");
  EXPECT_FALSE(AdminServers("9000", both).guessed());
  EXPECT_EQ(AdminServers("http://", both).of(one)->text(), "zk1:8080");
  EXPECT_EQ(AdminServers("http://:9000/", both).of(one)->text(), "zk1:9000");
  EXPECT_FALSE(AdminServers("off", both).of(one));
  const AdminServers named("[::1]:1,h:2", both);
  EXPECT_EQ(named.of(one)->text(), "[::1]:1");
  EXPECT_EQ(named.of(other)->text(), "h:2");
  EXPECT_FALSE(named.of({.host = "zk3", .port = 2181}));
  for (const char* const wrong :
       {"0", "70000", ":70000", "h", "h:", "a:1", "a:1,b:2,c:3", "a:1,b", "a:1,b:2/x", ",",
        "a:x,b:y", "[::1],b:1", "https://:9000", "http://a"})
    EXPECT_THROW(AdminServers(wrong, both), ValueError) << wrong;
}

TEST(HttpBody, IsWhatFollowsTheHead) {
  std::string flaw;
  EXPECT_EQ(http_body("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}\r\n\r\n", flaw), "{}\r\n\r\n");
  EXPECT_EQ(flaw, "");
  for (const auto& [answer, why] :
       {std::pair{"HTTP/1.0 404 No\r\n\r\n{}", "it answers with HTTP 404"},
        {"HTTP/1.1 302\r\n\r\n",
         "it answers with HTTP 302, a redirect, which zksh does not follow"},
        {"HTTP/1.1 \x1b[2\r\n\r\n", "it answers with HTTP \\x1b[2"},
        {"HTTP/1.1 200 OK\r\nA: b", "it does not speak plain HTTP"},
        {"HTTP/2 200 OK\r\n\r\n", "it does not speak plain HTTP"},
        {"\r\n\r\n", "it does not speak plain HTTP"},
        {"", "it does not speak plain HTTP"}}) {
    flaw.clear();
    EXPECT_EQ(http_body(answer, flaw), "");
    EXPECT_EQ(flaw, why);
  }
}

}  // namespace
}  // namespace zksh
