// Newer requests: what is sent, and what is read from valid answers.
#include "session/marshalling.h"

#include "session/reply_validator.h"
#include "txnlog_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zksh {
namespace {

using What = ReadOp::What;

std::string number(std::int64_t value, std::size_t size = 4) {
  std::string bytes(size, '\0');
  put_number(bytes.data(), value, size);
  return bytes;
}
std::string part(std::int32_t type, const std::string& rest) {
  return number(type) + '\0' + number(type == -1 ? -1 : 0) + rest;
}
std::string refused(std::int32_t code) { return part(-1, number(code)); }
const std::string end = number(-1) + '\1' + number(-1);
std::string stat(std::int32_t data_length, std::int32_t children) {
  return number(1, 8) + number(2, 8) + number(3, 8) + number(4, 8) + number(5) + number(6) +
         number(7) + number(8, 8) + number(data_length) + number(children) + number(9, 8);
}

/// What is wrong with an answer to these reads; empty: nothing.
std::string flaw(const std::vector<ReadOp>& ops, const std::string& answer) {
  WireConversation conversation;
  conversation.note_request(request_frame(8, operation::multi_read, multi_read::request("", ops)));
  const auto* const found = conversation.flaw_of(number(8) + number(7, 8) + number(0) + answer);
  return found == nullptr ? "" : found;
}

const std::vector<ReadOp> three{{What::Value, "/a"}, {What::Names, "/b"}, {What::Listing, "/c"}};

TEST(NewerRequests, AMultiReadNamesItsReadsBelowTheChroot) {
  const auto read = [](std::int32_t type, const std::string& path) {
    return number(type) + '\0' + number(-1) + jute_text(path) + '\0';
  };
  EXPECT_EQ(multi_read::request("", three),
            read(4, "/a") + read(8, "/b") + read(4, "/c") + read(8, "/c") + end);
  EXPECT_EQ(multi_read::request("/top", {{What::Value, "/a"}, {What::Stat, "/"}}),
            read(4, "/top/a") + read(4, "/top") + end);
}

TEST(NewerRequests, AWatchIsAskedForBelowTheChroot) {
  EXPECT_EQ(add_watch_request("", "/a", WatchMode::Persistent), jute_text("/a") + number(0));
  EXPECT_EQ(add_watch_request("/top", "/", WatchMode::Recursive), jute_text("/top") + number(1));
  EXPECT_EQ(remove_watches_request("/top", "/a"), jute_text("/top/a") + number(3));
  EXPECT_EQ(watching_request("", "/a"), jute_text("/a") + '\1');
}

TEST(NewerRequests, EachReadHasItsResult) {
  const auto answer = part(4, jute_text("one") + stat(3, 0)) +
                      part(8, number(2) + jute_text("x") + jute_text("y")) +
                      part(4, number(-1) + stat(0, 1)) + part(8, number(1) + jute_text("z")) + end;
  ASSERT_EQ(flaw(three, answer), "");
  const auto results = multi_read::results(answer, three);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].data, "one");
  EXPECT_EQ(results[0].stat.czxid, 1);
  EXPECT_EQ(results[0].stat.data_length, 3);
  EXPECT_EQ(results[0].stat.pzxid, 9);
  ASSERT_EQ(results[1].names.size(), 2U);
  EXPECT_EQ(results[1].names[1], "y");
  EXPECT_EQ(results[2].data, std::nullopt) << "only for its Stat";
  EXPECT_EQ(results[2].stat.num_children, 1);
  EXPECT_EQ(results[2].names[0], "z");
}

TEST(NewerRequests, OneThatFailsLeavesTheOthers) {
  const auto answer = refused(code::no_node) + part(8, number(0)) + refused(code::no_auth) +
                      refused(code::no_auth) + end;
  ASSERT_EQ(flaw(three, answer), "");
  const auto results = multi_read::results(answer, three);
  EXPECT_EQ(results[0].code, code::no_node);
  EXPECT_EQ(results[1].code, code::ok);
  EXPECT_EQ(results[2].code, code::no_auth);
}

TEST(NewerRequests, AnswersHaveTheFormOfTheReads) {
  const auto good = part(4, jute_text("one") + stat(3, 0));
  const std::vector<ReadOp> one{{What::Value, "/a"}};
  constexpr auto refusal = "an answer that does not match its reads";
  EXPECT_EQ(flaw(one, good + end), "");
  EXPECT_EQ(flaw(one, good), refusal) << "no end";
  EXPECT_EQ(flaw(one, end), refusal) << "too few";
  EXPECT_EQ(flaw(one, good + good + end), refusal) << "too many";
  EXPECT_EQ(flaw(one, part(8, number(0)) + end), refusal) << "another operation";
  EXPECT_EQ(flaw(one, refused(0) + end), refusal) << "a failure without a reason";
  EXPECT_EQ(flaw(one, refused(5) + end), refusal) << "zksh's own codes are no server's";
  EXPECT_EQ(flaw(one, good.substr(0, good.size() - 1)), refusal);
  EXPECT_EQ(flaw({{What::Names, "/a"}}, part(8, number(1) + jute_text("x/y")) + end), refusal);
}

TEST(NewerRequests, AnswersToOwnRequestsComeInTurn) {
  WireConversation conversation;
  conversation.note_request(request_frame(5, operation::exists));
  conversation.note_request(request_frame(7, operation::who_am_i));
  EXPECT_STREQ(conversation.flaw_of(number(7) + number(7, 8) + number(0) + number(0)),
               "an answer out of order");
}

TEST(NewerRequests, EphemeralsAreThoseBelowTheChroot) {
  const auto answer =
      number(3) + jute_text("/top/a") + jute_text("/topmost") + jute_text("/top/b/c");
  EXPECT_EQ(ephemerals_in(answer, "/top"), (std::vector<std::string>{"/a", "/b/c"}));
  EXPECT_EQ(ephemerals_in(answer, "").size(), 3U);
}

TEST(NewerRequests, IdentitiesAndNumbers) {
  const auto found = identities_in(number(2) + jute_text("ip") + jute_text("::1") +
                                   jute_text("super") + jute_text(""));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (Identity{.scheme = "ip", .id = "::1"}));
  EXPECT_EQ(found[1].scheme, "super");
  EXPECT_EQ(number_in(number(77)), 77);
}

TEST(Marshalling, NumbersOfRequestsArePositive) {
  std::atomic<std::uint32_t> count{INT32_MAX - 2};
  EXPECT_EQ(next_xid(count), INT32_MAX - 1);
  EXPECT_EQ(next_xid(count), INT32_MAX);
  EXPECT_EQ(next_xid(count), 1);
  count = UINT32_MAX - 1;
  EXPECT_EQ(next_xid(count), INT32_MAX);
  EXPECT_EQ(next_xid(count), 1);
}

}  // namespace
}  // namespace zksh
